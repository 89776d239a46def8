// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import io.latchkey.zk.internal.validity.ClockReading;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The times at which a handle began to make its connections, and the servers that it made them to.
 *
 * <p>ZooKeeper's client reports a connection on another thread than the one that makes connections, and that one may
 * already make the next. So they are queued, one for each connection, and each report takes one.
 */
public final class ConnectAttempts {
    private final Supplier<ClockReading> clock;
    private final Queue<ZnodeStore.Attempt> connections = new ConcurrentLinkedQueue<>();
    private final ClockReading opened;
    private volatile ZnodeStore.@Nullable Attempt latest;

    ConnectAttempts(Supplier<ClockReading> clock) {
        this.clock = clock;
        this.opened = clock.get();
    }

    /** Returns how long ago the handle was opened. */
    Duration age() {
        return clock.get().since(opened);
    }

    /** Notes that an attempt begins. */
    void began(InetSocketAddress server) {
        latest = new ZnodeStore.Attempt(clock.get(), server.toString());
    }

    /** Notes that the latest attempt has made a connection. */
    void succeeded() {
        ZnodeStore.Attempt made = latest;
        if (made != null) {
            connections.add(made);
        }
    }

    /** Returns the attempt that made the next connection that is reported. */
    Optional<ZnodeStore.Attempt> next() {
        return Optional.ofNullable(connections.poll());
    }
}
