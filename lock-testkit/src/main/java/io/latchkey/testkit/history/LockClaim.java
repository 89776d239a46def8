// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import java.util.Objects;

/**
 * The access that an attempt requests at one path, which determines the conflicting holds. An attempt on a multi-lock
 * has one claim for each member.
 *
 * @see History#recorded(FaultyClient, io.latchkey.lock.Acquirable, Claim...)
 */
public sealed interface LockClaim {
    /** {@return the path, or whatever names what is locked: the same for all clients} */
    String path();

    /**
     * Alone: a mutex, a write lock.
     *
     * @param path the lock's, or whatever names what is locked
     */
    record Exclusive(String path) implements LockClaim {
        @Override
        public String toString() {
            return path;
        }
    }

    /**
     * Beside others that share, but not beside one that is alone: a read lock.
     *
     * @param path the lock's, or whatever names what is locked
     */
    record Shared(String path) implements LockClaim {
        @Override
        public String toString() {
            return path + " shared";
        }
    }

    /**
     * Some of the permits of a semaphore.
     *
     * @param path the lock's, or whatever names what is locked
     * @param permits how many
     * @param of how many there are; if the semaphore is resized while the history lasts, the largest number
     */
    record Permits(String path, int permits, int of) implements LockClaim {
        /**
         * Makes the claim.
         *
         * @param path the lock's, or whatever names what is locked
         * @param permits how many
         * @param of how many there are
         * @throws IllegalArgumentException if a number is below 1
         */
        public Permits {
            Objects.requireNonNull(path, "path");
            if (permits < 1 || of < 1) {
                throw new IllegalArgumentException(permits + " of " + of + " permits");
            }
        }

        @Override
        public String toString() {
            return path + " " + permits + " of " + of;
        }
    }

    /**
     * {@return a claim to be alone on the path, as with a mutex or a write lock}
     *
     * @param path the lock's, or whatever names what is locked
     */
    static LockClaim exclusive(String path) {
        return new Exclusive(path);
    }

    /**
     * {@return a claim to be beside others that share the path, as with a read lock}
     *
     * @param path the lock's, or whatever names what is locked
     */
    static LockClaim shared(String path) {
        return new Shared(path);
    }

    /**
     * {@return a claim to some of the permits of a semaphore}
     *
     * @param path the semaphore's, or whatever names what is locked
     * @param permits how many, at least 1
     * @param of how many there are; if the semaphore is resized while the history lasts, the largest number
     * @throws IllegalArgumentException if a number is below 1
     */
    static LockClaim permits(String path, int permits, int of) {
        return new Permits(path, permits, of);
    }
}
