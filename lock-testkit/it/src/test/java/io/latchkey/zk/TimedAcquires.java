// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.testkit.Stopwatch;
import java.time.Duration;
import java.util.Optional;

/** Timed acquires that must end on time during any failure. */
final class TimedAcquires {
    /** The allowance for a busy machine. Pauses of the machine are not counted at all. */
    private static final Duration ALLOWANCE = Duration.ofMillis(400);

    private TimedAcquires() {}

    /** {@link Acquirable#tryAcquire(Duration)}, which fails if it gives up before its time is over, or ends later. */
    static Optional<Lease> tryAcquire(Acquirable lock, Duration time) throws InterruptedException {
        Stopwatch watch = Stopwatch.start();
        long start = System.nanoTime();
        Optional<Lease> lease = lock.tryAcquire(time);
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        Duration ran = Duration.ofMillis(watch.stop());
        assertTrue(lease.isPresent() || took.compareTo(time) >= 0, () -> "gave up after " + took + " of " + time);
        assertTrue(
                ran.compareTo(time.plus(ALLOWANCE)) < 0,
                () -> took + " in place of " + time + ", " + ran + " of it ran");
        return lease;
    }
}
