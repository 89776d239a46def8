// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import java.util.List;
import java.util.function.LongSupplier;

/** Work that goes step by step by a clock in milliseconds: the turns of an actor, or a schedule of faults. */
abstract class Steps {
    /** The time of a step that depends on others. */
    static final long NEVER = Long.MAX_VALUE;

    /** When the next step is due that does not depend on others. */
    long next = NEVER;

    abstract boolean isOver();

    /** Does the next thing if it can; returns whether it did. */
    abstract boolean step() throws InterruptedException;

    /** Lets time pass while no step can be taken. */
    @FunctionalInterface
    interface Pause {
        /**
         * Waits until a step may be due.
         *
         * @param next when the next step is due; may return before
         * @param idle the milliseconds since the last step
         */
        void until(long next, long idle) throws InterruptedException;
    }

    /** Takes all steps by the calling thread, in turn. */
    static void takeAll(List<? extends Steps> all, LongSupplier clock, Pause pause) throws InterruptedException {
        long moved = clock.getAsLong();
        while (!all.stream().allMatch(Steps::isOver)) {
            boolean moves = false;
            for (Steps each : all) {
                moves |= each.step();
            }
            if (moves) {
                moved = clock.getAsLong();
            } else {
                long next = all.stream().mapToLong(each -> each.next).min().orElse(NEVER);
                pause.until(next, clock.getAsLong() - moved);
            }
        }
    }
}
