// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.admin;

import io.latchkey.lock.LockClient;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * A lock as found at the server, with its holders and waiters at one moment; see {@link LockClient#listLocks}. Host,
 * process and label of a {@link Contender} are claims of the clients.
 *
 * @param path the lock's path
 * @param kind the kind of lock
 * @param permits the number of permits that clients declare, 1 unless the lock is a semaphore; empty if only its
 *     clients know it
 * @param capacity the number of permits that can be held at a time, 1 unless the lock is a semaphore; empty if only its
 *     clients know it
 * @param layout the layout of the lock's nodes: {@code latchkey}, {@code curator} or {@code kazoo}
 * @param queue the requests, in order
 */
public record LockSummary(
        String path, Kind kind, OptionalInt permits, OptionalInt capacity, String layout, List<Contender> queue) {
    /** The kind of a lock. */
    public enum Kind {
        /** A mutex. */
        MUTEX,

        /** A read-write lock. */
        READ_WRITE,

        /** A semaphore. */
        SEMAPHORE
    }

    /**
     * Makes a summary with a copy of the queue.
     *
     * @param path the path
     * @param kind the kind
     * @param permits the declared permits
     * @param capacity the permits that can be held at a time
     * @param layout the layout
     * @param queue the requests
     */
    public LockSummary {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(permits, "permits");
        Objects.requireNonNull(capacity, "capacity");
        Objects.requireNonNull(layout, "layout");
        queue = List.copyOf(queue);
    }

    /** {@return the number of requests that hold} */
    public int holders() {
        return (int) queue.stream()
                .filter(request -> request.state() == Contender.State.HOLDING)
                .count();
    }

    /** {@return the number of requests that wait} */
    public int waiters() {
        return queue.size() - holders();
    }

    /** {@return the lock in one line, for people} */
    @Override
    public String toString() {
        String of = kind == Kind.SEMAPHORE && capacity.isPresent() ? " of capacity " + capacity.getAsInt() : "";
        return kind.name().toLowerCase(Locale.ROOT).replace('_', '-') + of + " " + path + ": " + holders()
                + " holding, " + waiters() + " waiting (" + layout + ")";
    }
}
