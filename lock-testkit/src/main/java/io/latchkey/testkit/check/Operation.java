// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

/**
 * An operation that took effect at one time between its call and its return.
 *
 * @param action its effect
 * @param attempt the attempt of the history that it is part of
 * @param call when it was begun, in nanoseconds since the history began
 * @param end the time of its return; {@link #OPEN} if unknown, and then it may never have taken effect
 */
record Operation(Action action, long attempt, long call, long end) {
    /** The end of an operation whose outcome is unknown. */
    public static final long OPEN = Long.MAX_VALUE;

    Operation {
        if (end < call) {
            throw new IllegalArgumentException("ends before it begins: " + action);
        }
    }

    /** {@return whether its outcome is unknown, so that it may never have taken effect} */
    public boolean isOpen() {
        return end == OPEN;
    }
}
