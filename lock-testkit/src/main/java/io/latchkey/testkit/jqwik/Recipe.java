// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

/** The kinds of locks that a workload may use. */
public enum Recipe {
    /** Mutexes, at {@code /m0} and so on. */
    MUTEX,
    /** Read-write locks, at {@code /rw0} and so on: two readers to a writer, some writers downgrade. */
    READ_WRITE,
    /** Semaphores of three permits, at {@code /s0} and so on. */
    SEMAPHORE,
    /** Two or three of all of these at once. */
    MULTI
}
