// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The reads of nodes by queries that may have thousands. Few are on the wire at a time, and the queries take turns, so
 * that a short one does not wait for a long one. Confined to the serial executor.
 */
public final class ReadsInTurn {
    /** Heartbeats wait behind the requests on the wire, so thousands of reads are not sent at once. */
    private static final int MOST = 100;

    private final Connection connection;
    /** The reads that are not sent yet, by their query. The first query is next. */
    private final Map<Object, Deque<Runnable>> waiting = new LinkedHashMap<>();

    private int sent;

    ReadsInTurn(Connection connection) {
        this.connection = connection;
    }

    /**
     * Reads a node as {@link Connection#read(BooleanSupplier, String, Consumer)}, once its turn has come; never if it is
     * not wanted then.
     *
     * @param query what the read is for
     */
    public void read(Object query, BooleanSupplier wanted, String path, Consumer<Response<ZnodeStore.NodeData>> then) {
        waiting.computeIfAbsent(query, q -> new ArrayDeque<>()).add(() -> {
            if (wanted.getAsBoolean()) {
                sent++;
                connection.read(wanted, path, answer -> {
                    sent--;
                    then.accept(answer);
                    sendNext();
                });
            }
        });
        sendNext();
    }

    private void sendNext() {
        while (sent < MOST && !waiting.isEmpty()) {
            Object query = waiting.keySet().iterator().next();
            Deque<Runnable> reads = Objects.requireNonNull(waiting.remove(query));
            Runnable next = reads.remove();
            if (!reads.isEmpty()) {
                waiting.put(query, reads); // behind the other queries
            }
            next.run();
        }
    }

    void end() {
        waiting.clear();
    }
}
