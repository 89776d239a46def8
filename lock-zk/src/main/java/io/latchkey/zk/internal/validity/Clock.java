// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import java.time.Duration;

/** The clocks and the timer of a client; implemented by the machine's and by simulated time. */
public interface Clock extends AutoCloseable {
    /** Returns monotonic nanoseconds from an arbitrary origin. */
    long nanos();

    /** Returns wall-clock milliseconds since the epoch. */
    long wallMillis();

    /**
     * Returns an upper bound on the longest standstill of this process within the last {@code span}: stopped,
     * suspended, swapped out, or collecting garbage.
     */
    Duration standstill(Duration span);

    /** Runs {@code task} once, after {@code delay}. The task must not block. */
    Timer after(Duration delay, Runnable task);

    /** Ends the timer. Tasks that have not run are dropped. */
    @Override
    void close();

    /** A scheduled task, which can be cancelled. */
    interface Timer {
        void cancel();
    }
}
