// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.history.LockClaim;
import java.util.List;
import java.util.stream.Collectors;

/** Which lock is taken. Paths are relative to the base path of the play, so that plays do not meet: {@code /a}. */
public sealed interface LockSpec {
    /**
     * {@return the lock, as the client has it}
     *
     * @param client whose lock it is
     * @param base the play's base path, without a slash at its end
     */
    Acquirable of(LockClient client, String base);

    /**
     * {@return the access of a holder, for a {@link io.latchkey.testkit.history.History}}
     *
     * @param base the play's base path, without a slash at its end
     */
    List<LockClaim> claims(String base);

    /**
     * A mutex.
     *
     * @param path relative to the base, with a slash in front
     */
    record Mutex(String path) implements LockSpec {
        @Override
        public Acquirable of(LockClient client, String base) {
            return client.mutex(base + path);
        }

        @Override
        public List<LockClaim> claims(String base) {
            return List.of(LockClaim.exclusive(base + path));
        }

        @Override
        public String toString() {
            return "mutex " + path;
        }
    }

    /**
     * The read lock of a read-write lock.
     *
     * @param path relative to the base, with a slash in front
     */
    record Read(String path) implements LockSpec {
        @Override
        public Acquirable of(LockClient client, String base) {
            return client.readWriteLock(base + path).readLock();
        }

        @Override
        public List<LockClaim> claims(String base) {
            return List.of(LockClaim.shared(base + path));
        }

        @Override
        public String toString() {
            return "read " + path;
        }
    }

    /**
     * The write lock of a read-write lock.
     *
     * @param path relative to the base, with a slash in front
     */
    record Write(String path) implements LockSpec {
        @Override
        public Acquirable of(LockClient client, String base) {
            return client.readWriteLock(base + path).writeLock();
        }

        @Override
        public List<LockClaim> claims(String base) {
            return List.of(LockClaim.exclusive(base + path));
        }

        @Override
        public String toString() {
            return "write " + path;
        }
    }

    /**
     * Some permits of a semaphore.
     *
     * @param path relative to the base, with a slash in front
     * @param weight how many permits, at least 1
     * @param capacity how many there are, the same in every part of a workload
     */
    record Permits(String path, int weight, int capacity) implements LockSpec {
        /**
         * Asks for some of the permits.
         *
         * @param path relative to the base, with a slash in front
         * @param weight how many permits, at least 1
         * @param capacity how many there are, the same in every part of a workload
         * @throws IllegalArgumentException if it is less than one permit, or more than there are
         */
        public Permits {
            if (weight < 1 || weight > capacity) {
                throw new IllegalArgumentException(weight + " of " + capacity + " permits");
            }
        }

        @Override
        public Acquirable of(LockClient client, String base) {
            return client.semaphore(base + path, capacity).permits(weight);
        }

        @Override
        public List<LockClaim> claims(String base) {
            return List.of(LockClaim.permits(base + path, weight, capacity));
        }

        @Override
        public String toString() {
            return weight + " of " + capacity + " permits " + path;
        }
    }

    /**
     * Several locks of different paths at once.
     *
     * @param members at least one, none of them a multi-lock itself
     */
    record Multi(List<LockSpec> members) implements LockSpec {
        /**
         * Takes the members as they are now.
         *
         * @param members at least one, none of them a multi-lock itself
         * @throws IllegalArgumentException if the list is empty
         */
        public Multi {
            members = List.copyOf(members);
            if (members.isEmpty()) {
                throw new IllegalArgumentException("a multi-lock of nothing");
            }
        }

        @Override
        public Acquirable of(LockClient client, String base) {
            return client.multiLock(
                    members.stream().map(member -> member.of(client, base)).toArray(Acquirable[]::new));
        }

        @Override
        public List<LockClaim> claims(String base) {
            return members.stream()
                    .flatMap(member -> member.claims(base).stream())
                    .toList();
        }

        @Override
        public String toString() {
            return members.stream().map(LockSpec::toString).collect(Collectors.joining(" + ", "(", ")"));
        }
    }
}
