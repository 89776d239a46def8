// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.testkit.time.Slowness;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures durations minus the pauses of the machine: a bound of milliseconds applies to the code under test, not to
 * other load of the machine. A thread that is due every other millisecond detects the pauses. {@link Slowness} allows
 * for pauses that it does not detect, such as those of a server in another process.
 */
public final class Stopwatch {
    private static final long DUE_NANOS = 2_000_000;
    /** Later than this the thread counts as kept from running. */
    private static final long LATE_NANOS = 5_000_000;

    private final long start = System.nanoTime();
    private final Thread looks;
    private volatile boolean stopped;
    private long stoodStill;

    private Stopwatch() {
        looks = new Thread(this::look, "stopwatch");
        looks.setDaemon(true);
        looks.start();
    }

    /** {@return one that runs} */
    public static Stopwatch start() {
        return new Stopwatch();
    }

    private void look() {
        long last = start;
        while (!stopped) {
            LockSupport.parkNanos(DUE_NANOS);
            long now = System.nanoTime();
            if (now - last > LATE_NANOS) {
                stoodStill += now - last - DUE_NANOS;
            }
            last = now;
        }
    }

    /** {@return how many milliseconds it ran while the machine did, or would have if that were idle; it stops} */
    public long stop() throws InterruptedException {
        long took = System.nanoTime() - start;
        stopped = true;
        looks.join();
        return Math.max(0, took - stoodStill) / Slowness.factor() / 1_000_000;
    }
}
