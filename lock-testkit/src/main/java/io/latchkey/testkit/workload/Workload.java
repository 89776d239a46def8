// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * Actors that take their turns concurrently, each on a separate thread. All times are in milliseconds.
 *
 * @param actors at least one
 */
public record Workload(List<Actor> actors) {
    /**
     * One thread of a client.
     *
     * @param client whose session it uses, counted from 0; several actors may share one
     * @param turns what it does, in order
     */
    public record Actor(int client, List<Turn> turns) {
        /**
         * Takes the turns as they are now.
         *
         * @param client whose session it uses, counted from 0
         * @param turns what it does, in order
         * @throws IllegalArgumentException if the client is negative
         */
        public Actor {
            turns = List.copyOf(turns);
            if (client < 0) {
                throw new IllegalArgumentException("clients are counted from 0, not " + client);
            }
        }

        @Override
        public String toString() {
            return "C" + client + ": " + turns.stream().map(Turn::toString).collect(Collectors.joining("; "));
        }
    }

    /**
     * Takes the actors as they are now.
     *
     * @param actors at least one
     * @throws IllegalArgumentException if the list is empty
     */
    public Workload {
        actors = List.copyOf(actors);
        if (actors.isEmpty()) {
            throw new IllegalArgumentException("a workload without actors");
        }
    }

    /** {@return how many clients there are: one more than the highest number} */
    public int clients() {
        return actors.stream().mapToInt(Actor::client).max().orElse(0) + 1;
    }

    /** {@return one line an actor} */
    @Override
    public String toString() {
        return actors.stream().map(Actor::toString).collect(Collectors.joining("\n"));
    }

    /**
     * One turn of an actor: a pause, then a lock is requested, held if it is granted, and released.
     *
     * @param pauseMillis the pause before the request
     * @param lock the lock
     * @param form the form of acquiring
     * @param patienceMillis the timeout of {@link Form#TRY_WITHIN}, and the time before {@link Form#CANCEL} cancels;
     *     otherwise unused
     * @param holdMillis the time for which a granted lease is held, unless it is lost
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
            /** Requests asynchronously, and cancels after some time; a lease that is granted before that is held. */
            CANCEL,
            /**
             * Of a write lock: waits until it is granted, holds it, downgrades it and holds on as a reader for as long
             * again.
             */
            DOWNGRADE
        }

        /**
         * Makes the turn.
         *
         * @param pauseMillis the pause before the request
         * @param lock the lock
         * @param form the form of acquiring
         * @param patienceMillis the timeout of {@link Form#TRY_WITHIN}, and the time before {@link Form#CANCEL} cancels
         * @param holdMillis the time for which a granted lease is held, unless it is lost
         * @throws IllegalArgumentException if a time is negative, or something else than a write lock is to be
         *     downgraded
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
         * @param lock the lock
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
}
