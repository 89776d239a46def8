// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.session;

import java.util.List;
import java.util.function.Consumer;

/** Makes the levels above a path as needed. */
final class Levels {
    private final Session session;

    /** What became of it. */
    sealed interface Outcome {
        /** All of them are there, if the server has not reaped an empty one meanwhile. */
        record Made() implements Outcome {}

        /** Even the topmost level has nothing to stand on. */
        record NoChroot() implements Outcome {}

        /** Refused, or lost. */
        record Failed(Answer<?> answer) implements Outcome {}
    }

    Levels(Session session) {
        this.session = session;
    }

    void makeAbove(String path, Consumer<Outcome> then) {
        make(path, path.indexOf('/', 1), then);
    }

    private void make(String path, int end, Consumer<Outcome> then) {
        int top = path.indexOf('/', 1);
        if (end < 0) {
            // Of a path of one level nothing but the chroot can be missing.
            then.accept(top < 0 ? new Outcome.NoChroot() : new Outcome.Made());
            return;
        }
        session.write(List.of(new ZooPort.Write.CreatePath(path.substring(0, end))), answer -> {
            switch (Session.codeOf(answer)) {
                case OK, NODE_EXISTS -> make(path, path.indexOf('/', end + 1), then);
                case NO_NODE -> {
                    if (end == top) {
                        then.accept(new Outcome.NoChroot());
                    } else {
                        // The server reaped an empty level meanwhile.
                        make(path, top, then);
                    }
                }
                default -> then.accept(new Outcome.Failed(Session.plain(answer)));
            }
        });
    }
}
