// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.Wire;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Makes the levels above a path that are missing. A server looks for the parent first, then for the right to create there,
 * and only then whether the node exists. So this begins at the bottom: a level is created only after the server has told
 * that it is missing, or has just made the one above it, and no right is asked for at a level that is there.
 */
public final class ParentNodes {
    private final Session session;
    /** The last level that this has made, and no other client: those above it have had a child. */
    private Optional<String> last = Optional.empty();

    /** What became of it. */
    public sealed interface Outcome {
        /** All of them are there, if the server has not reaped an empty one meanwhile. */
        record Made() implements Outcome {}

        /** Even the topmost level has nothing to stand on: the handle's chroot is missing. */
        record NoChroot() implements Outcome {}

        /** Refused, or lost. */
        record Failed(Response<?> answer) implements Outcome {}
    }

    public ParentNodes(Session session) {
        this.session = session;
    }

    public void makeAbove(String path, Consumer<Outcome> then) {
        makeOrAbove(path, path.lastIndexOf('/'), then);
    }

    /** Makes the level that ends there, or that above it if it has nothing to stand on, and then those below. */
    private void makeOrAbove(String path, int end, Consumer<Outcome> then) {
        if (end == 0) {
            // Under a root that is there nothing can be missing but the chroot.
            then.accept(new Outcome.NoChroot());
            return;
        }
        String level = path.substring(0, end);
        session.wire().write(List.of(new ZnodeStore.Write.CreatePath(level)), answer -> {
            Status code = Wire.codeOf(answer);
            switch (code) {
                case OK, NODE_EXISTS -> {
                    last = Optional.of(level).filter(made -> code == Status.OK);
                    makeBelow(path, end, then);
                }
                case NO_NODE -> makeOrAbove(path, path.lastIndexOf('/', end - 1), then);
                default -> then.accept(new Outcome.Failed(Wire.plain(answer)));
            }
        });
    }

    /**
     * Nothing is created below them after all. A server deletes an empty container only if it has had a child, as all levels but the last
     * have. If that is in use by now, the server refuses to delete it; a client that is about to use it makes it again.
     */
    public void leave() {
        last.ifPresent(level -> session.wire().write(List.of(new ZnodeStore.Write.Delete(level)), ignored -> {}));
        last = Optional.empty();
    }

    private void makeBelow(String path, int end, Consumer<Outcome> then) {
        if (end == path.lastIndexOf('/')) {
            then.accept(new Outcome.Made());
        } else {
            makeOrAbove(path, path.indexOf('/', end + 1), then);
        }
    }
}
