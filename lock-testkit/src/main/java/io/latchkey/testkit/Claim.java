package io.latchkey.testkit;

import java.util.Objects;

/**
 * What an attempt asks for on one path, and so whom it shuts out there. An attempt on a multi-lock has one for each member.
 *
 * @see History#recorded(FaultyClient, io.latchkey.lock.Acquirable, Claim...)
 */
public sealed interface Claim {
    /** The path, or whatever names what is locked: the same for all clients. */
    String path();

    /**
     * Alone: a mutex, a write lock.
     *
     * @param path the path
     */
    record Exclusive(String path) implements Claim {
        /** Refuses null. */
        public Exclusive {
            Objects.requireNonNull(path, "path");
        }

        @Override
        public String toString() {
            return path;
        }
    }

    /**
     * Beside others that share, but not beside one that is alone: a read lock.
     *
     * @param path the path
     */
    record Shared(String path) implements Claim {
        /** Refuses null. */
        public Shared {
            Objects.requireNonNull(path, "path");
        }

        @Override
        public String toString() {
            return path + " shared";
        }
    }

    /**
     * Some of the permits of a semaphore.
     *
     * @param path the path
     * @param permits how many
     * @param of how many there are; if the semaphore is resized while the history lasts, the largest number
     */
    record Permits(String path, int permits, int of) implements Claim {
        /** Refuses null, and numbers below 1. */
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

    /** Alone on the path. */
    static Claim exclusive(String path) {
        return new Exclusive(path);
    }

    /** Beside others that share the path. */
    static Claim shared(String path) {
        return new Shared(path);
    }

    /** So many of the path's permits. */
    static Claim permits(String path, int permits, int of) {
        return new Permits(path, permits, of);
    }
}
