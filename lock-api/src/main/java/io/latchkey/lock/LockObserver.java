// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * A listener for the events of a client's requests and session, for metrics, logs and audits. Every method does nothing
 * unless it is overridden.
 *
 * <p>An observer cannot disturb the locks. It is called on a thread of its own, one call at a time, so a slow observer
 * does not delay acquiring, releasing or the notification of a loss. Exceptions that it throws are logged and have no
 * other effect. Calls for one request arrive in the order of its events, and late if the observer is slow. While 50,000
 * calls are pending, further calls are dropped, and {@link #missed} reports their number.
 *
 * <p>Each request leads to one call of {@link #requested}, then one or more of {@link #queued} if it has to wait, and
 * then either to one call of {@link #notGranted}, or to one call of {@link #granted} followed by one of {@link #lost}
 * or {@link #released}. A {@linkplain ReadWriteLock#downgrade downgrade} is part of one hold and is not reported. A
 * view such as {@link Mutex#asLock} makes one request, however often its thread enters.
 *
 * <p>For decisions in a program use the lease, whose {@link Lease#isValid} is never late.
 */
public interface LockObserver {
    /**
     * Called when a caller requests a lock.
     *
     * @param request the request
     */
    default void requested(Request request) {}

    /**
     * Called when the request has to wait for others. The call may be late: the client looks up the request's position
     * only when it needs it. There is another call if the request loses its place and queues again.
     *
     * @param request the request
     * @param position the number of requests ahead of it, including holders: 1 is next. For a {@link MultiLock}, this
     *     is the position in the queue of the first member that has to wait; with local turns, the position among the
     *     waiters of the client, or at the server for the first of them
     */
    default void queued(Request request, int position) {}

    /**
     * Called when the request is granted. If its caller has just given up, {@link #released} follows.
     *
     * @param request the request
     * @param token the lease's {@linkplain Lease#token() token}
     * @param waited the time from the call to the grant
     */
    default void granted(Request request, long token, Duration waited) {}

    /**
     * Called when the request has ended without a lease.
     *
     * @param request the request
     * @param failure why
     * @param reason the reason of the exception that ended the request; empty if the time ended, a try found others
     *     ahead, or the caller gave up, where {@code failure} says all
     * @param waited the time from the call to the end of the request
     */
    default void notGranted(
            Request request, AcquireFailure failure, Optional<LockException.Reason> reason, Duration waited) {}

    /**
     * Called when the lease has become {@link LeaseState#SUSPECT}: it is valid, but the connection is lost. It is
     * {@link LeaseState#HELD} again at the next {@link SessionState#CONNECTED} unless {@link #lost} is called first.
     * There is a call for each loss of the connection, but none if the lease is lost before the client notices that
     * loss.
     *
     * @param request the request
     * @param token the lease's token
     */
    default void suspect(Request request, long token) {}

    /**
     * Called when the lease is lost.
     *
     * @param request the request
     * @param token the lease's token
     * @param cause the cause of the loss
     * @param held the time from the grant to the loss
     */
    default void lost(Request request, long token, LossCause cause, Duration held) {}

    /**
     * Called when the holder has released the lease. The release may not have reached the server yet.
     *
     * @param request the request
     * @param token the lease's token
     * @param held the time from the grant to the release
     */
    default void released(Request request, long token, Duration held) {}

    /**
     * Called when the state of the client's session has changed.
     *
     * @param state the new state
     */
    default void sessionChanged(SessionState state) {}

    /**
     * Called when this observer was too slow and calls were dropped before the next one.
     *
     * @param calls the number of dropped calls
     */
    default void missed(long calls) {}

    /**
     * A request, made by one acquire call.
     *
     * @param id the number of the request among those of its client, from 1
     * @param path the path of the lock, as returned by {@link Lease#path}
     * @param kind the kind of the requested lock
     * @param count the number of permits of a semaphore, or of members of a multi-lock; 1 for the others
     * @param label the label of the request, as {@link Acquirable#labelled} sets it; empty if it has none of its own
     */
    record Request(long id, String path, Kind kind, int count, String label) {
        /**
         * Makes a request.
         *
         * @param id the number of the request
         * @param path the path of the lock
         * @param kind the kind of the requested lock
         * @param count the number of permits or members
         * @param label the label
         */
        public Request {
            Objects.requireNonNull(path, "path");
            Objects.requireNonNull(kind, "kind");
            Objects.requireNonNull(label, "label");
        }

        /**
         * Returns the requested lock in words, for people: {@code mutex}, {@code read lock}, {@code write lock}, {@code
         * 2 permits of semaphore}, {@code multi-lock of 3}.
         *
         * @return the lock, without its path
         */
        public String lock() {
            return switch (kind) {
                case SEMAPHORE -> count + (count == 1 ? " permit" : " permits") + " of semaphore";
                case MULTI_LOCK -> kind + " of " + count;
                default -> kind.toString();
            };
        }
    }

    /**
     * The kind of a requested lock; {@link #toString} has it in words. Later versions may add values, so a {@code
     * switch} over them should have a {@code default}.
     */
    enum Kind {
        /** A {@link Mutex}. */
        MUTEX("mutex"),

        /** {@link ReadWriteLock#readLock}. */
        READ_LOCK("read lock"),

        /** {@link ReadWriteLock#writeLock}. */
        WRITE_LOCK("write lock"),

        /** Permits of a {@link Semaphore}. */
        SEMAPHORE("semaphore"),

        /** A {@link MultiLock}. */
        MULTI_LOCK("multi-lock");

        private final String words;

        Kind(String words) {
            this.words = words;
        }

        @Override
        public String toString() {
            return words;
        }
    }

    /**
     * Why a request was not granted. Later versions may add values, so a {@code switch} over them should have a
     * {@code default}.
     */
    enum AcquireFailure {
        /** Other requests were ahead of a try that does not wait for them. */
        BUSY,

        /** The time ended while other requests were ahead. */
        TIMED_OUT,

        /** No server answered in time; also of a try that does not wait, which then throws. */
        NO_ANSWER,

        /** The servers had too many requests, and put this one off until the time ended. */
        THROTTLED,

        /** The caller was interrupted, or cancelled or completed the future. */
        CANCELLED,

        /** The request failed for another reason, which is given beside this. */
        REFUSED
    }
}
