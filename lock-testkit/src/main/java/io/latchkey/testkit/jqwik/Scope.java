// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * How large the scenarios, workloads and schedules of a parameter of a property may be, beside jqwik's {@code @ForAll}.
 * Of scenarios the first tries are the smallest, and from the sixteenth on all of it is used. A parameter without a
 * scope has the defaults.
 */
@Target({ElementType.PARAMETER, ElementType.ANNOTATION_TYPE, ElementType.TYPE_USE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Scope {
    /** {@return which kinds of locks are taken} */
    Recipe[] recipes() default {Recipe.MUTEX, Recipe.READ_WRITE, Recipe.SEMAPHORE, Recipe.MULTI};

    /** {@return how many paths there are of each recipe} */
    int paths() default 1;

    /** {@return the largest number of clients, at least two} */
    int clients() default 3;

    /** {@return the largest number of turns that each actor takes, at least one} */
    int turns() default 4;

    /**
     * {@return the longest pause and the longest hold, in milliseconds} Patience is up to four times that, faults come
     * within four times that of each other, and one that lasts lasts up to eight times that. For a schedule of faults
     * on code of your own let it be about as long as that code holds a lock: with less the faults are over before it
     * holds anything.
     */
    int pace() default 2;

    /** {@return which kinds of faults strike} */
    FaultKind[] faults() default {FaultKind.EXPIRY, FaultKind.LOSS};

    /** {@return the largest number of faults} The first is always the end of a session, if that is among the kinds. */
    int mostFaults() default 2;

    /** The kinds of faults that a schedule may draw. */
    enum FaultKind {
        /** The end of a session, in any order, now or when a request of some kind has been sent. */
        EXPIRY,
        /** The cut of a connection, in place of a request or of an answer or at any time. */
        LOSS,
        /** Frames that come late. */
        DELAY,
        /** A direction in which nothing gets through for a while. */
        BLACK_HOLE,
        /** New connections reset for a while. */
        REFUSAL,
        /** A server that is stopped and started again, or in an ensemble cut off from its leader. */
        SERVER
    }

    /** The kinds of locks that a workload may use. */
    enum Recipe {
        /** Mutexes, at {@code /m0} and so on. */
        MUTEX,
        /** Read-write locks, at {@code /rw0} and so on: two readers to a writer, some writers downgrade. */
        READ_WRITE,
        /** Semaphores of three permits, at {@code /s0} and so on. */
        SEMAPHORE,
        /** Two or three of all of these at once. */
        MULTI
    }
}
