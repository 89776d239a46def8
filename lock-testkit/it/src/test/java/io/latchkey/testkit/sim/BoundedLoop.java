// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.function.BooleanSupplier;

/**
 * Loops of a simulation that have a bound. A seeded bug may keep a loop from its end: without a bound it would go on
 * after its test, where nothing can stop it, and fill the heap.
 */
final class BoundedLoop {
    private static final int MOST = 300_000;

    private BoundedLoop() {}

    /** Takes steps for as long as {@code step} returns that there was something to do. */
    static void all(BooleanSupplier step) {
        until(() -> !step.getAsBoolean(), () -> {});
    }

    /** Takes steps until {@code done}. */
    static void until(BooleanSupplier done, Runnable step) {
        for (int taken = 0; !done.getAsBoolean(); taken++) {
            if (taken == MOST) {
                throw new AssertionError("no end after " + MOST + " steps");
            }
            step.run();
        }
    }
}
