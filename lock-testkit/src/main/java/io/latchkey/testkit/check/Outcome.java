// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import java.util.List;

/** The result of a {@link WingGongSearch}. */
sealed interface Outcome {
    /** {@return how many times the search tried an operation} */
    long steps();

    /**
     * The operations may have taken effect in this order.
     *
     * @param order those that did
     * @param steps how many times the search tried an operation
     */
    record Found(List<Operation> order, long steps) implements Outcome {}

    /**
     * There is no such order.
     *
     * @param stuck the operation at whose end the search got no further, when it had got furthest
     * @param last what had taken effect by then, in order; the last dozen
     * @param state what the model's state was then, in words
     * @param steps how many times the search tried an operation
     */
    record Impossible(Operation stuck, List<Operation> last, String state, long steps) implements Outcome {}

    /**
     * The search was not over after so many steps, and nothing is known.
     *
     * @param steps how many times the search tried an operation
     */
    record GaveUp(long steps) implements Outcome {}
}
