// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.session.Connection;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The adoption of a path that an operator created: the kind of the lock is written to it. */
final class PathAdoption {
    private static final Errors.Purpose WRITE = Errors.Purpose.toChange("record the kind of the lock");

    private final Session session;
    private final LockPath path;
    /** Whether the kind is being written; the server may throttle that for long. */
    private boolean pending;

    private final List<ListRequest> waiting = new ArrayList<>(0);

    PathAdoption(Session session, LockPath path) {
        this.session = session;
        this.path = path;
    }

    /** Has the requests wait for the kind if it is being written, and returns whether it is. */
    boolean await(List<ListRequest> requests) {
        if (pending) {
            waiting.addAll(requests);
        }
        return pending;
    }

    /**
     * Writes the kind, unless the path has another version by then.
     *
     * @param then takes the requests that have waited, whatever the server answers
     * @param refused takes the error if the server refuses the write, or fails at it
     */
    void write(PathData kind, int version, Consumer<List<ListRequest>> then, Consumer<LockException> refused) {
        pending = true;
        session.connection()
                .write(List.of(new ZnodeStore.Write.SetData(path.node(), kind.bytes(), version)), answer -> {
                    pending = false;
                    List<ListRequest> waited = List.copyOf(waiting);
                    waiting.clear();
                    then.accept(waited);
                    Response<ZnodeStore.TransactionResult> plain = Connection.plain(answer);
                    if (plain.code().isServerError()) {
                        refused.accept(Errors.of(path.shown(), WRITE, plain));
                    }
                });
    }

    void clear() {
        waiting.clear();
    }
}
