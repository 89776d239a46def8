// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when an operation on a lock fails. The subclasses document the resulting state and possible remedies;
 * {@link #reason} distinguishes the cases of one class. An exception of this class itself is a refusal by the server
 * for which there is no subclass.
 *
 * <p>An acquire call that throws holds nothing. A {@code catch} of this class also gets a {@link LockTimeoutException}.
 * An interruption is an {@link InterruptedException}; a try whose time has ended returns an empty result.
 *
 * <p>{@link LockTimeoutException}, {@link LockServiceUnavailableException}, {@link LockMismatchException} and this
 * class itself have several reasons. Of the other classes each has one, which says no more than the class, and gives
 * logs and meters a value.
 *
 * <p>Each call and each future gets an exception instance of its own. An exception that is thrown by a waiting call has
 * the stack trace of its caller. If the error occurred on another thread, such as the one that receives the server's
 * responses, the exception has the same message, and that error as its {@linkplain #getCause cause}.
 */
public class LockException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The reason. */
    private final Reason reason;

    /**
     * Constructs the exception with {@link Reason#OTHER}.
     *
     * @param message the failure and the resulting state
     */
    public LockException(String message) {
        this(message, Reason.OTHER);
    }

    /**
     * Constructs the exception.
     *
     * @param message the failure and the resulting state
     * @param reason the reason
     */
    public LockException(String message, Reason reason) {
        super(message);
        this.reason = Objects.requireNonNull(reason, "reason");
    }

    /**
     * Constructs the exception with a cause and {@link Reason#OTHER}.
     *
     * @param message the failure and the resulting state
     * @param cause the cause, or {@code null} if no other exception caused it
     */
    @SuppressWarnings("exports") // org.jspecify is needed only by tools that read its annotations
    public LockException(String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = Reason.OTHER;
    }

    /**
     * Returns the reason. Programs should use it rather than the message, which is for people and may change.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }

    /**
     * The reason of a failed call. Later versions may add reasons, so a {@code switch} over them should have a
     * {@code default}.
     */
    public enum Reason {
        /** {@link LockMismatchException}: the path is for another kind of lock. Correct one of the two clients. */
        DIFFERENT_KIND,

        /**
         * {@link LockMismatchException}: the path is for a semaphore with another declared number of permits. Correct
         * one of the two clients; to change the number of a path in use, {@linkplain Semaphore#resize resize} it.
         */
        DIFFERENT_PERMITS,

        /**
         * {@link LockMismatchException}: the path has requests of clients with another layout. The two layouts do not
         * see each other's requests. Correct one of the two clients.
         */
        DIFFERENT_LAYOUT,

        /**
         * {@link LockMismatchException}: the path's node has data that this version does not understand: it belongs to
         * another application or to a later version.
         */
        UNKNOWN_DATA,

        /**
         * {@link LockMismatchException}: the request is for more permits than the current capacity of the semaphore.
         * The same request may be granted after a {@linkplain Semaphore#resize resize}.
         */
        TOO_MANY_PERMITS,

        /** {@link LockTimeoutException}: other requests were ahead when the time ended. */
        HELD_BY_OTHERS,

        /** {@link LockTimeoutException}: the servers put the request off until the time ended. */
        THROTTLED,

        /**
         * {@link LockServiceUnavailableException} or {@link LockTimeoutException}: no response, because no server was
         * reached or the connection broke.
         */
        NO_ANSWER,

        /** {@link LockServiceUnavailableException}: the session has ended, and the next one is not connected yet. */
        NO_SESSION,

        /**
         * {@link LockServiceUnavailableException}: client and server do not come to an agreement by TLS, as one of them
         * refuses the other's certificate. The message says whose and why.
         */
        TLS_REFUSED,

        /**
         * {@link LockServiceUnavailableException}: the client's settings for TLS cannot work, or do not fit the port of
         * the server. The message names the setting.
         */
        TLS_MISCONFIGURED,

        /**
         * {@link LockServiceUnavailableException}: an unexpected error ended the client's session, and is the cause.
         * The client continues with a new session. Please report the error.
         */
        CLIENT_FAILED,

        /** {@link LockException} itself: a quota of the servers is exceeded. */
        QUOTA_EXCEEDED,

        /** {@link LockException} itself: the list of the path's children exceeds ZooKeeper's maximum packet size. */
        QUEUE_TOO_LONG,

        /**
         * {@link LockException} itself: the client's session would have more nodes than its servers can end it with.
         * The same request may be granted once others of this client have been released, or by another client.
         */
        SESSION_FULL,

        /**
         * {@link LockException} itself: the sequence counter of the path is exhausted, and the path cannot be renewed.
         */
        COUNTER_EXHAUSTED,

        /** {@link LockException} itself: a parent of the path is an ephemeral node, which cannot have children. */
        EPHEMERAL_PARENT,

        /**
         * {@link LockException} itself: the chroot of a borrowed handle does not exist. A client with a connect string
         * creates its own.
         */
        CHROOT_MISSING,

        /** {@link LockException} itself: another refusal, described by the message. */
        OTHER,

        /** {@link AccessDeniedException}. */
        ACCESS_DENIED,

        /** {@link BadPathException}. */
        BAD_PATH,

        /** {@link ClientClosedException}. */
        CLIENT_CLOSED,

        /** {@link SessionExpiredException}. */
        SESSION_EXPIRED,

        /** {@link LeaseLostException}. */
        LEASE_LOST
    }
}
