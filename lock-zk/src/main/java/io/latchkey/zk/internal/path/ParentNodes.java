// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.session.Connection;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The creation of missing levels above a path.
 *
 * <p>A server checks first whether the parent exists, then the right to create there, and only then whether the node
 * exists. So this begins at the bottom: it creates a level only after the server has reported it missing or has just
 * created the one above it. No rights are needed at levels that exist.
 */
public final class ParentNodes {
    private final Session session;
    private final BooleanSupplier wanted;
    /** The last level that was created here and not by another client. The levels above it have had a child. */
    private Optional<String> last = Optional.empty();

    /**
     * @param wanted returns whether a creation that the server throttles is sent again
     */
    public ParentNodes(Session session, BooleanSupplier wanted) {
        this.session = session;
        this.wanted = wanted;
    }

    /**
     * Creates the levels above a path. {@code then} gets {@link Status#OK} if all exist, unless the server has deleted
     * an empty one since; {@link Status#NO_NODE} if even the topmost cannot be created, as the chroot of a borrowed
     * handle is missing; otherwise the response that refused one, or that was lost.
     */
    public void makeAbove(LockPath path, Consumer<Response<?>> then) {
        String node = path.node();
        makeOrAbove(node, node.lastIndexOf('/'), then);
    }

    /**
     * Creates the level that ends at {@code end}, or first the one above it if that is missing, and then those below.
     */
    private void makeOrAbove(String node, int end, Consumer<Response<?>> then) {
        if (end == 0) {
            // Below the root only the chroot can be missing.
            session.connection().makeRoot(answer -> {
                if (answer.ok()) {
                    makeBelow(node, end, then);
                } else {
                    then.accept(answer);
                }
            });
            return;
        }
        String level = node.substring(0, end);
        session.connection().write(wanted, List.of(new ZnodeStore.Write.CreatePath(level)), answer -> {
            Response<ZnodeStore.TransactionResult> plain = Connection.plain(answer);
            switch (plain.code()) {
                case OK, NODE_EXISTS -> {
                    last = Optional.of(level).filter(made -> plain.ok());
                    makeBelow(node, end, then);
                }
                case NO_NODE -> makeOrAbove(node, node.lastIndexOf('/', end - 1), then);
                default -> then.accept(plain);
            }
        });
    }

    /**
     * Deletes the last level that was created, as no node follows below it. A server deletes an empty container only if
     * the container has had a child, as all levels but the last have. If that level is in use by now, the server
     * refuses the deletion; a client that is about to use it creates it again.
     */
    public void leave() {
        last.ifPresent(level -> session.connection().write(List.of(new ZnodeStore.Write.Delete(level)), ignored -> {}));
        last = Optional.empty();
    }

    private void makeBelow(String node, int end, Consumer<Response<?>> then) {
        if (end == node.lastIndexOf('/')) {
            then.accept(Response.of(true));
        } else {
            makeOrAbove(node, node.indexOf('/', end + 1), then);
        }
    }
}
