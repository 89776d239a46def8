// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * The right to what was acquired, until it is released or lost.
 *
 * <p>A lease is owned by whoever has it, not by a thread. Any thread may use it and release it, and several may at
 * once. A lease that nobody releases is held until its session ends: use try-with-resources, or
 * {@link Acquirable#call}.
 *
 * <p>A lease is lost when the session ends, when its node at the server is gone, when the client is closed, or when its
 * time is over because the client has not heard of the server for too long. {@link LeaseState} has the states and the
 * ways between them, {@link LossCause} the causes.
 *
 * <p>A holder learns of the loss in two ways: it asks ({@link #isValid}, {@link #ensureValid}), or it is told
 * ({@link #lost}). Neither can undo what the holder has begun. Only a store that checks {@link #token} refuses a holder
 * that comes too late.
 *
 * <p>Only {@link #release} and {@link #close} wait for the server. All other methods return at once.
 * {@link #releaseAsync}, and the first call of {@link #lost} and of {@link #releaseRequested}, send and do not wait;
 * the others send nothing.
 */
public interface Lease extends AutoCloseable {
    /**
     * Returns the path of the lock, as it was given to the client: without the client's base path and without the
     * chroot of its connect string. The lease of a {@link StripedMutex} has the path of the mutex that the key picked;
     * that of a {@link MultiLock} has the path of the first member.
     *
     * @return the path
     */
    String path();

    /**
     * Returns the fencing token of this lease. Give it to every store that is written under the lock, with every write.
     * The store keeps the highest token that it has seen and refuses a write with a lower one.
     *
     * <p>The token is the {@code czxid} of the request's node: the number of the ZooKeeper transaction that created it.
     * It never changes during a lease, and it grows with each exclusive grant on the path, in the order of the queue.
     * (Where a client lets its threads take turns with one place in the queue, all these turns have one token.) It also grows
     * over the end of a path: a path that has gone and come again goes on with higher tokens. It does
     * <b>not</b> grow over a restore of the ensemble from an older copy, and tokens of different ensembles cannot be
     * compared.
     *
     * <p>Leases that share a lock, as those of readers and of permits do, are valid side by side with different tokens.
     * A store that refuses lower tokens would refuse some of them, though nothing is wrong. A
     * {@linkplain ReadWriteLock#downgrade downgraded} lease keeps the token of its write lease. A {@link MultiLock} has
     * one token for all members.
     *
     * @return the token, greater than zero
     */
    long token();

    /**
     * Returns the state of this lease. Looks at the clocks as {@link #isValid} does, so a lease whose time is over is
     * {@link LeaseState#LOST} here, even if nobody could yet be told.
     *
     * @return the state
     */
    LeaseState state();

    /**
     * Returns whether this lease is valid: whether its state is {@link LeaseState#HELD} or {@link LeaseState#SUSPECT}.
     * Once it is {@code false}, it stays {@code false}.
     *
     * <p>A lease is valid until a deadline that lies before the moment at which the server can let the session expire.
     * Answers of the server move the deadline on. So this method does not depend on news from the server: it compares
     * the deadline with two clocks, and the lease is lost when <i>either</i> has passed it. The monotonic clock cannot
     * be set. The wall clock goes on while the machine is suspended. A holder that was stopped by the garbage
     * collector, by a signal or with its machine thus finds its lease lost at the first look. A wall clock that is set
     * forward can lose a lease that was still good, which is the safe side.
     *
     * <p>It does not cover a virtual machine whose clocks both stood still, a session that an administrator expired, or
     * a stop between this call and what follows it. For these, check the {@linkplain #token token} at the store.
     *
     * @return {@code true} if this lease was neither released nor lost at the moment of the call
     */
    boolean isValid();

    /**
     * Returns the time until the deadline that {@link #isValid} describes, if no further answer of the server moves it
     * on. While the server is in reach the value falls and rises again with each answer.
     *
     * @return the time left; zero if this lease was released or lost; never negative
     */
    Duration remaining();

    /**
     * Returns normally if this lease {@linkplain #isValid is valid}, and throws if it is not. Call it before each step
     * that needs the lock.
     *
     * @throws LeaseLostException if this lease was lost, with the cause
     * @throws IllegalStateException if this lease was released
     */
    void ensureValid();

    /**
     * Returns a future that completes with the cause when this lease is lost. It completes once, and only on loss:
     * after a release it never completes. If the lease is lost already, it completes all the same.
     *
     * <p>The stages that depend on the future run on the client's callback executor, never on ZooKeeper's event thread.
     * They may run a moment after {@link #isValid} has turned {@code false}, and late if that executor is busy.
     *
     * <p>Completing or cancelling the returned future has no effect on the lease, nor on what other calls of this method
     * return; an implementation may return one future to all callers and ignore both. Looking again and again costs
     * nothing.
     *
     * <p>The first call asks the server to tell when the lease's node is deleted, so that this loss is known at once and
     * not only with the next heartbeat.
     *
     * @return a future of the cause of the loss
     */
    CompletableFuture<LossCause> lost();

    /**
     * Returns a future that completes when somebody asks this lease's holder to let go, through
     * {@link Contender#requestRelease}. It is a wish and no more: the lease stays as it is until its holder releases it.
     *
     * <pre>{@code
     * lease.releaseRequested().thenAccept(by -> worker.finishEarly()); // the worker releases when it has
     * }</pre>
     *
     * <p>The first call lets the server know that this holder listens, which costs three requests; holders that never call
     * it cannot be asked, and pay nothing. Who asked before that was answered that nobody listens. What is asked while
     * the connection is away is told when it is back in the same session. The future completes once, with the first
     * wish; it never completes after the lease was released or lost. It completes exceptionally, with a
     * {@link LockException}, if the server refuses that others be heard. Stages that depend on it run where those of
     * {@link #lost} run, and to complete or cancel it oneself has no effect on others.
     *
     * @return a future of who asked
     * @throws UnsupportedOperationException if this client's implementation does not offer it
     */
    default CompletableFuture<ReleaseRequest> releaseRequested() {
        throw new UnsupportedOperationException("this implementation cannot be asked to let go");
    }

    /**
     * Releases this lease and waits until the server has confirmed it. For the caller the lease is over at once, when
     * the call begins: it is no longer valid, whatever the outcome.
     *
     * <p>If the connection is away, or breaks during the wait, the outcome is {@link ReleaseOutcome#PENDING}: the
     * client goes on until the node or the session is gone, and others wait until then. The same holds if the current
     * thread is interrupted, before or while it waits; the release is sent, and the interrupt status stays set.
     *
     * <p>Idempotent. Of several calls, also at the same time, one releases; the others do nothing, do not wait, and
     * return {@link ReleaseOutcome#ALREADY_RELEASED}. On a lease that is {@link LeaseState#LOST} every call returns
     * {@link ReleaseOutcome#LOST}. The call that releases returns {@code LOST} as well if only the server's answer
     * shows that the node was gone already or the session was over.
     *
     * <p>Throws no exception, on a closed client neither.
     *
     * @return what became of the lease
     */
    ReleaseOutcome release();

    /**
     * Releases this lease as {@link #release} does, without waiting for the server. The lease is over for the caller
     * when this method returns. To cancel the returned future, or to complete it oneself, has no effect on the release.
     *
     * @return a future that completes with what {@link #release} would return, never exceptionally; the stages that
     *     depend on it run on the client's callback executor
     */
    CompletableFuture<ReleaseOutcome> releaseAsync();

    /** Releases this lease as {@link #release} does, without telling the outcome. Idempotent, and throws nothing. */
    @Override
    void close();
}
