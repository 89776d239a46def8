// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.time.Duration;

/**
 * Is told what becomes of a client's requests and of its session, for metrics, logs and audits. Every method does nothing
 * unless it is overridden.
 *
 * <p>An observer cannot harm the locks. It is called on a thread of its own, one call after the other, so what it does
 * delays no acquiring, no release and no news of loss; what it throws is logged and changes nothing. Calls come in the
 * order in which things happened to a request. They come late if the observer is slow. If it is so slow that 50,000 calls
 * wait for it, what comes then is left out, and {@link #missed} says how many.
 *
 * <p>Of each request it hears {@link #requested} once, then {@link #queued} if the request has to wait, and then either
 * {@link #notGranted} once, or {@link #granted} once and after that {@link #lost} or {@link #released} once. A
 * {@linkplain ReadWriteLock#downgrade downgrade} is part of one hold, so nothing is told of it. A view such as
 * {@link Mutex#asLock} makes one request, however often its thread enters.
 *
 * <p>For decisions of the program use the lease, whose {@link Lease#isValid} is never late.
 */
public interface LockObserver {
    /**
     * A caller asks for a lock.
     *
     * @param request the request
     */
    default void requested(Request request) {}

    /**
     * The request has to wait for others. Told when the client knows the place of the request, which it looks up only
     * when that matters, so it may be told late; and once more if the request loses its place and queues again.
     *
     * @param request the request
     * @param position how many requests are before it, holders included: 1 is next. Of a {@link MultiLock}, in the queue
     *     of the first member that has to wait; where a client passes a mutex on among its own threads, in their line, or
     *     at the server for the first of them; of a semaphore in Curator's layout, in the first queue in which it waits
     */
    default void queued(Request request, int position) {}

    /**
     * The request is granted. If its caller has just given up, {@link #released} follows.
     *
     * @param request the request
     * @param token the lease's {@linkplain Lease#token() token}
     * @param waited from the call until now
     */
    default void granted(Request request, long token, Duration waited) {}

    /**
     * The request ended without a lease.
     *
     * @param request the request
     * @param failure how
     * @param waited from the call until now
     */
    default void notGranted(Request request, AcquireFailure failure, Duration waited) {}

    /**
     * The lease is {@link LeaseState#SUSPECT}: valid, but the connection is lost. It is {@link LeaseState#HELD} again at
     * the next {@link SessionState#CONNECTED} unless {@link #lost} came before. Told each time that the connection is lost;
     * not told if the lease is lost before the client notices that.
     *
     * @param request the request
     * @param token the lease's token
     */
    default void suspect(Request request, long token) {}

    /**
     * The lease is lost.
     *
     * @param request the request
     * @param token the lease's token
     * @param cause why
     * @param held from the grant until now
     */
    default void lost(Request request, long token, LossCause cause, Duration held) {}

    /**
     * The holder let go. For the holder the lease is over; the server may not have heard of it yet.
     *
     * @param request the request
     * @param token the lease's token
     * @param held from the grant until now
     */
    default void released(Request request, long token, Duration held) {}

    /**
     * Something became of the client's session.
     *
     * @param state what is true of it now
     */
    default void sessionChanged(SessionState state) {}

    /**
     * This observer was too slow: calls were left out before the next one.
     *
     * @param calls how many
     */
    default void missed(long calls) {}

    /**
     * One call that acquires.
     *
     * @param id counts the requests of a client from 1
     * @param path the path of the lock, as {@link Lease#path} has it
     * @param lock what is asked for, in words that do not name the path: {@code mutex}, {@code read lock},
     *     {@code write lock}, {@code 2 permits of semaphore}, {@code multi-lock of 3}
     */
    record Request(long id, String path, String lock) {}

    /** How a request ended that was not granted. */
    enum AcquireFailure {
        /** Others held, or the server did not answer, for as long as the caller was ready to wait. */
        TIMED_OUT,

        /** The caller was interrupted, or cancelled or completed the future. */
        CANCELLED,

        /** The caller got an exception. */
        EXCEPTION
    }

    /** What is true of a client's session. */
    enum SessionState {
        /** Connected: for the first time, anew in the same session, or in a new session. */
        CONNECTED,

        /** The connection is lost; the session may live. */
        DISCONNECTED,

        /** The session is over. A client that owns its sessions opens a new one. */
        EXPIRED,

        /** The client is closed. Nothing is told after this. */
        CLOSED
    }
}
