// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import java.time.Duration;

/** The clocks and the timer; simulated time implements it as well as the machine's. */
public interface Clock extends AutoCloseable {
    /** Monotonic nanoseconds from an arbitrary origin. */
    long nanos();

    /** Wall-clock milliseconds since the epoch. */
    long wallMillis();

    /**
     * For how long at most all of this process may have stood still at one go, and did so within the last {@code span}:
     * stopped, suspended, swapped out, collecting garbage.
     */
    Duration standstill(Duration span);

    /** Runs {@code task} once, after {@code delay}; the task must not block. */
    Timer after(Duration delay, Runnable task);

    /** Ends the timer; what has not run will not. */
    @Override
    void close();

    /** A task that may still be taken back. */
    interface Timer {
        void cancel();
    }
}
