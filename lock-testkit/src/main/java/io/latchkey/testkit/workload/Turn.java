// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import java.util.Objects;

/**
 * One turn of an actor: a pause, then a lock is asked for, held if it is granted, and let go.
 *
 * @param pauseMillis how long before it asks
 * @param lock what it asks for
 * @param form in which way it asks
 * @param patienceMillis how long {@link Form#TRY_WITHIN} waits, and after how long {@link Form#CANCEL} gives up; else without meaning
 * @param holdMillis how long it holds what is granted, unless the lease is lost
 */
public record Turn(int pauseMillis, LockSpec lock, Form form, int patienceMillis, int holdMillis) {
    /** In which way a lock is asked for. */
    public enum Form {
        /** Waits until it is granted. */
        ACQUIRE,
        /** Now or never. */
        TRY_NOW,
        /** Waits for some time. */
        TRY_WITHIN,
        /** Asks asynchronously, and cancels after some time; what is granted before that is held. */
        CANCEL,
        /** Of a write lock: waits until it is granted, holds it, downgrades it and holds on as a reader for as long again. */
        DOWNGRADE
    }

    /**
     * Makes the turn.
     *
     * @param pauseMillis how long before it asks
     * @param lock what it asks for
     * @param form in which way it asks
     * @param patienceMillis how long {@link Form#TRY_WITHIN} waits, and after how long {@link Form#CANCEL} gives up
     * @param holdMillis how long it holds what is granted, unless the lease is lost
     * @throws IllegalArgumentException if a time is negative, or something else than a write lock is to be downgraded
     */
    public Turn {
        Objects.requireNonNull(lock, "lock");
        if (pauseMillis < 0 || patienceMillis < 0 || holdMillis < 0) {
            throw new IllegalArgumentException("negative times");
        }
        if (form == Form.DOWNGRADE && !(lock instanceof LockSpec.Write)) {
            throw new IllegalArgumentException("only a write lock can be downgraded, not " + lock);
        }
    }

    /**
     * {@return a turn that asks at once, waits for the lock and holds it}
     *
     * @param lock what it asks for
     * @param holdMillis how long it holds it, unless the lease is lost
     */
    public static Turn of(LockSpec lock, int holdMillis) {
        return new Turn(0, lock, Form.ACQUIRE, 0, holdMillis);
    }

    @Override
    public String toString() {
        String asks =
                switch (form) {
                    case ACQUIRE -> lock.toString();
                    case TRY_NOW -> lock + " now or never";
                    case TRY_WITHIN -> lock + " within " + patienceMillis;
                    case CANCEL -> lock + " cancelled after " + patienceMillis;
                    case DOWNGRADE -> lock + " downgraded";
                };
        return "pause " + pauseMillis + ", " + asks + ", hold " + holdMillis;
    }
}
