// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.time;

import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Waits for something that can only be looked at, such as the state of a server, where no event tells of it. Where
 * there is an event, await that instead.
 */
public final class Eventually {
    private static final long LOOK_EVERY_NANOS = 500_000;

    private Eventually() {}

    /** A look at something, which may wait. */
    @FunctionalInterface
    public interface Condition {
        /**
         * Looks.
         *
         * @return whether it is so
         * @throws InterruptedException if interrupted while it waits
         */
        boolean holds() throws InterruptedException;
    }

    /**
     * Looks every half millisecond until the condition is true.
     *
     * @param what what is awaited, for the message
     * @param within how long to wait at most, on an idle machine; {@link Slowness} stretches it
     * @param condition what to look at; called by this thread
     * @throws AssertionError if the condition is still false after that time
     * @throws InterruptedException if interrupted while waiting
     */
    public static void holds(String what, Duration within, Condition condition) throws InterruptedException {
        Duration most = Slowness.stretched(within);
        long start = System.nanoTime();
        while (!condition.holds()) {
            if (Thread.interrupted()) {
                throw new InterruptedException("while waiting for: " + what);
            }
            if (System.nanoTime() - start > most.toNanos()) {
                throw new AssertionError("not within " + most.toMillis() + " ms: " + what);
            }
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
        }
    }

    /**
     * Looks every half millisecond until there is a number.
     *
     * @param what what is awaited, for the message
     * @param within how long to wait at most, on an idle machine; {@link Slowness} stretches it
     * @param look where to look; called by this thread
     * @return the number that was seen; to look again might find none
     * @throws AssertionError if there is still none after that time
     * @throws InterruptedException if interrupted while waiting
     */
    public static int present(String what, Duration within, Supplier<OptionalInt> look) throws InterruptedException {
        AtomicInteger found = new AtomicInteger();
        holds(what, within, () -> {
            OptionalInt seen = look.get();
            seen.ifPresent(found::set);
            return seen.isPresent();
        });
        return found.get();
    }
}
