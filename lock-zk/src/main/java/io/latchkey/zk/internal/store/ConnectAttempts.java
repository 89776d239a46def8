// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import io.latchkey.zk.internal.validity.ClockReading;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The times at which a handle began to make its connections.
 *
 * <p>ZooKeeper's client reports a connection on another thread than the one that makes connections, and that one may
 * already make the next. So the times are queued, one for each connection, and each report takes one.
 */
public final class ConnectAttempts {
    private final Supplier<ClockReading> clock;
    private final Queue<ClockReading> connections = new ConcurrentLinkedQueue<>();
    private final ClockReading opened;
    private volatile @Nullable ClockReading latest;

    ConnectAttempts(Supplier<ClockReading> clock) {
        this.clock = clock;
        this.opened = clock.get();
    }

    /** Returns how long ago the handle was opened. */
    Duration age() {
        return clock.get().since(opened);
    }

    /** Notes that an attempt begins. */
    void began() {
        latest = clock.get();
    }

    /** Notes that the latest attempt has made a connection. */
    void succeeded() {
        ClockReading made = latest;
        if (made != null) {
            connections.add(made);
        }
    }

    /** Returns the time for the next connection that is reported. */
    Optional<ClockReading> next() {
        return Optional.ofNullable(connections.poll());
    }
}
