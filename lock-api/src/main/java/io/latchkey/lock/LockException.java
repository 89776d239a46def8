// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Something went wrong with a lock. The subclasses say what is true now and what can be done; {@link #reason} tells the
 * cases of one class apart. An exception of this class itself is a refusal that has no class of its own.
 *
 * <p>A call to acquire that throws holds nothing. Running out of time and being interrupted are no such exceptions.
 *
 * <p>Each call and each future has an exception of its own. One that a waiting call throws has the stack of its caller.
 * Where the error happened on another thread, such as that on which the server's answers arrive, the exception has the
 * same message, and that error as its {@linkplain #getCause cause}.
 */
public class LockException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Why. */
    private final Reason reason;

    /**
     * Makes the exception, with {@link Reason#OTHER}.
     *
     * @param message what is true now
     */
    public LockException(String message) {
        this(message, Reason.OTHER);
    }

    /**
     * Makes the exception.
     *
     * @param message what is true now
     * @param reason which case of this class it is
     */
    public LockException(String message, Reason reason) {
        super(message);
        this.reason = Objects.requireNonNull(reason, "reason");
    }

    /**
     * Makes the exception with a cause, and with {@link Reason#OTHER}.
     *
     * @param message what is true now
     * @param cause what led to it, or {@code null} if there is no other exception behind it
     */
    @SuppressWarnings("exports") // who reads the annotations has org.jspecify; who does not must not need it
    public LockException(String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = Reason.OTHER;
    }

    /**
     * Returns the reason, for programs: messages are for people and may change.
     *
     * @return the reason
     */
    public Reason reason() {
        return reason;
    }

    /** Why a call failed. A later version may have more reasons, so have a {@code default} where you switch. */
    public enum Reason {
        /** {@link LockMismatchException}: the path is for another kind of lock. Correct one of the two sides. */
        OTHER_KIND,

        /**
         * {@link LockMismatchException}: the path is for a semaphore with another declared number of permits. Correct one
         * of the two sides; to change the number of a path in use, {@linkplain Semaphore#resize resize} it.
         */
        OTHER_PERMITS,

        /**
         * {@link LockMismatchException}: the path has requests of clients that use another layout, which do not see
         * those of this client. Correct one of the two sides.
         */
        OTHER_LAYOUT,

        /**
         * {@link LockMismatchException}: the path's node has data that this version does not know: it belongs to another
         * application, or to a later version.
         */
        UNKNOWN_DATA,

        /**
         * {@link LockMismatchException}: more permits than the present capacity of the semaphore. The same request may be
         * granted after the next {@linkplain Semaphore#resize resize}.
         */
        TOO_MANY_PERMITS,

        /** {@link LockUnavailableException}: no answer, since no server was reached or the connection broke. */
        NO_ANSWER,

        /** {@link LockUnavailableException}: the session is over, and the next one is not connected yet. */
        NO_SESSION,

        /** {@link LockUnavailableException}: the current thread was interrupted while it waited for an answer. */
        INTERRUPTED,

        /** {@link LockException} itself: a quota of the servers is exceeded. */
        QUOTA_EXCEEDED,

        /** {@link LockException} itself: a list of what is under the path does not fit ZooKeeper's packet. */
        QUEUE_TOO_LONG,

        /** {@link LockException} itself: the sequence counter of the path is at its end, and the path cannot be renewed. */
        COUNTER_EXHAUSTED,

        /** {@link LockException} itself: a level above the path is an ephemeral node, which cannot have children. */
        EPHEMERAL_PARENT,

        /** {@link LockException} itself: the chroot of a borrowed ZooKeeper handle does not exist. */
        CHROOT_MISSING,

        /** {@link LockException} itself: another refusal, which the message gives. */
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
