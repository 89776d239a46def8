// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.history.LockClaim;
import java.util.List;
import java.util.stream.Collectors;

/** What an operation does to a lock. */
sealed interface Action {

    /**
     * The acquisition of all claims at once.
     *
     * @param holder the name of the hold, or of the thread where holds are re-entrant
     * @param claims what
     */
    record Acquire(String holder, List<LockClaim> claims) implements Action {
        @Override
        public String toString() {
            return holder + " acquires " + text(claims);
        }
    }

    /**
     * A refusal of an attempt that did not wait.
     *
     * @param claims the requested access
     */
    record Refuse(List<LockClaim> claims) implements Action {
        @Override
        public String toString() {
            return text(claims) + " is refused";
        }
    }

    /**
     * A hold ends: by a release, or with its session.
     *
     * @param holder whose
     * @param claims what it was of
     */
    record Release(String holder, List<LockClaim> claims) implements Action {
        @Override
        public String toString() {
            return holder + " releases";
        }
    }

    /**
     * An exclusive hold becomes a shared one, with nothing between.
     *
     * @param from the hold that ends
     * @param to the hold that begins
     * @param path where
     */
    record Downgrade(String from, String to, String path) implements Action {
        @Override
        public String toString() {
            return from + " becomes the reader " + to;
        }
    }

    /**
     * The number of permits changes.
     *
     * @param path of which semaphore
     * @param capacity the new number
     */
    record Resize(String path, int capacity) implements Action {
        @Override
        public String toString() {
            return path + " gets " + capacity + " permits";
        }
    }

    private static String text(List<LockClaim> claims) {
        return claims.stream().map(LockClaim::toString).collect(Collectors.joining(" + "));
    }
}
