// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring;

/** What a call of a {@link Locked} method does when others hold the lock for longer than it can wait. */
public enum IfBusy {
    /** The call throws a {@link LockBusyException}. The default. */
    THROW,

    /**
     * The call returns without calling the method. Only for methods without a result: {@code void}, {@code Void}, an
     * {@code Optional}, which is empty then, or a stage of {@code Void}, which is complete then. Servers that do not
     * answer are an exception nevertheless.
     */
    SKIP
}
