// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import io.latchkey.lock.admin.Contender;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Ownership of an acquired lock, until it is released or lost.
 *
 * <p>A lease does not belong to a thread. Any thread may use and release it, and several threads may do so at the same
 * time. A lease that is never released is held until its session ends: use try-with-resources, or
 * {@link Acquirable#call}.
 *
 * <p>A lease is lost when the session ends, when its node at the server is deleted, when the client is closed, or when
 * its deadline passes because the client has had no response from a server for too long. {@link LeaseState} lists the
 * states and transitions, {@link LossCause} the causes.
 *
 * <p>A holder can check for a loss ({@link #isValid}, {@link #ensureValid}) or be notified of it ({@link #lost}).
 * Neither can undo an action that the holder has begun. Only a store that checks {@link #token} refuses a write that
 * comes after the loss.
 *
 * <p>Only {@link #release} and {@link #close} wait for the server. All other methods return immediately.
 * {@link #releaseAsync} and the first calls of {@link #lost} and {@link #releaseRequested} send requests without
 * waiting for the responses; the others send nothing.
 */
public interface Lease extends AutoCloseable {
    /**
     * Returns the path of the lock, as it was passed to the client: without the client's base path and without the
     * chroot of its connect string. The lease of a {@link StripedMutex} has the path of the mutex for the key; the
     * lease of a {@link MultiLock} has the path of the first member.
     *
     * @return the path
     */
    String path();

    /**
     * Returns the fencing token of this lease. Pass it to every store that is written under the lock, with every write.
     * The store keeps the highest token that it has seen and refuses a write with a lower one.
     *
     * <p>The token is the {@code czxid} of the request's node: the id of the ZooKeeper transaction that created it. It
     * never changes during a lease, and it increases with each exclusive grant on the path, in the order of the queue.
     * (With local turns, successive leases of one client can have the same token.) It also increases across the
     * deletion of a path: after the path is created again, its tokens are higher. It does
     * <b>not</b> increase across a restore of the ensemble from an older copy, and tokens of different ensembles cannot
     * be compared.
     *
     * <p>Leases that share a lock, such as those of readers and of permits, are valid at the same time with different
     * tokens. A store that refuses lower tokens would refuse some of their writes although these leases are valid. A
     * {@linkplain ReadWriteLock#downgrade downgraded} lease keeps the token of its write lease. A {@link MultiLock} has
     * one token for all members.
     *
     * @return the token, greater than zero
     */
    long token();

    /**
     * Returns the state of this lease. Reads the clocks as {@link #isValid} does, so a lease whose deadline has passed
     * is {@link LeaseState#LOST} here, even if {@link #lost} has not completed yet.
     *
     * @return the state
     */
    LeaseState state();

    /**
     * Returns whether this lease is valid: whether its state is {@link LeaseState#HELD} or {@link LeaseState#SUSPECT}.
     * Once it is {@code false}, it stays {@code false}.
     *
     * <p>A lease is valid until a deadline that is earlier than the earliest time at which the server can expire the
     * session. Responses from the server extend the deadline. So this method does not depend on messages from the
     * server: it compares the deadline with two clocks, and the lease is lost when <i>either</i> has passed it. The
     * monotonic clock cannot be set. The wall clock advances while the machine is suspended. A holder that was paused
     * by the garbage collector, by a signal or with its machine therefore finds its lease lost at its first check.
     * Setting the wall clock forward can lose a lease early, which is safe.
     *
     * <p>This method cannot detect that both clocks of a virtual machine stopped, that an administrator expired the
     * session or deleted the node of the lease, or that the process pauses between this call and the action that
     * follows it. For these cases, check the {@linkplain #token token} at the store.
     *
     * @return {@code true} if this lease was neither released nor lost at the time of the call
     */
    boolean isValid();

    /**
     * Returns why this lease was lost. Reads the clocks as {@link #isValid} does, and sends nothing.
     *
     * @return the cause; empty if this lease is valid or was released
     */
    Optional<LossCause> lossCause();

    /**
     * Returns how long this lease stays valid if no server answers from now on. A limit set by
     * {@link Acquirable#heldAtMost} can make it shorter. While the client is connected, the value falls, and rises with
     * each response.
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
     * Returns a stage that completes with the cause when this lease is lost. It completes once, and only on loss:
     * after a release it never completes. The stage of a lease that is already lost completes as well. For a look,
     * without a notification, there are {@link #isValid} and {@link #lossCause}.
     *
     * <p>Dependent stages run on the client's callback executor, never on ZooKeeper's event thread. They may run
     * shortly after {@link #isValid} has become {@code false}, and later if that executor is busy.
     *
     * <p>Repeated calls cost nothing. Each {@link CompletionStage#toCompletableFuture} makes a future that is kept with
     * the lease, so call it once.
     *
     * <p>After a loss, the client deletes the lease's node only when the dependent stages have run, or a twentieth of
     * the session timeout has passed. So if the session lives, and no other client deletes the node, a stage that ends
     * within that time ends before the next request can be granted. This holds only for leases of which {@code lost}
     * was called before the loss.
     *
     * <p>The first call sets a watch on the lease's node, so that its deletion is known at once and not only with the
     * next heartbeat.
     *
     * @return a stage that completes with the cause of the loss
     */
    CompletionStage<LossCause> lost();

    /**
     * Returns a stage that completes when a client asks the holder of this lease to release it, through
     * {@link Contender#requestRelease}. The request does not change the lease, which is held until its holder releases
     * it.
     *
     * <pre>{@code
     * lease.releaseRequested().thenAccept(request -> worker.finishEarly()); // the worker then releases the lease
     * }</pre>
     *
     * <p>The first call makes the holder listen, which costs three requests to the server. A holder that never calls
     * this method cannot be asked, at no cost; release requests made before the first call get
     * {@link Contender.ReleaseRequestResult#NOT_LISTENING}. A release request that is made while the connection is lost
     * completes the stage when the client has reconnected in the same session.
     *
     * <p>The stage completes once, with the first release request, and never after the lease was released or lost. It
     * completes exceptionally, with a {@link LockException}, if the server does not allow the holder to listen.
     * Dependent stages run where those of {@link #lost} run.
     *
     * @return a stage that completes with the first release request
     * @throws UnsupportedOperationException if the client's layout does not offer release requests
     */
    CompletionStage<ReleaseRequest> releaseRequested();

    /**
     * Releases this lease and waits until the server has confirmed the release. The lease is invalid for the caller
     * from the beginning of the call, whatever the outcome.
     *
     * <p>If the connection is lost, before or during the wait, the outcome is {@link ReleaseOutcome#PENDING}: the
     * client retries until the node or the session is gone, and waiters wait until then. The same holds if the current
     * thread is interrupted, before or during the wait; the release is sent, and the interrupt status stays set.
     *
     * <p>Idempotent. Of several calls, even concurrent ones, exactly one releases; the others have no effect, do not
     * wait, and return {@link ReleaseOutcome#ALREADY_RELEASED}. On a lease that is {@link LeaseState#LOST} every call
     * returns {@link ReleaseOutcome#LOST}. The call that releases also returns {@code LOST} if only the server's
     * response shows that the node was already deleted or the session had ended.
     *
     * <p>Throws no exception, not even on a closed client. On a stack that is used up it throws a {@link
     * StackOverflowError}, and the lease has not ended: an outer frame can release it.
     *
     * @return the outcome of the release
     */
    ReleaseOutcome release();

    /**
     * Releases this lease as {@link #release} does, without waiting for the server. The lease is invalid for the caller
     * when this method returns.
     *
     * @return a stage that completes with the outcome that {@link #release} would return, never exceptionally; its
     *     dependent stages run on the client's callback executor
     */
    CompletionStage<ReleaseOutcome> releaseAsync();

    /**
     * Releases this lease as {@link #release} does, without returning the outcome: it does not tell that the lease was
     * lost. So end a block under a lease with {@link #ensureValid}, or use {@link Acquirable#call}, which throws.
     * Idempotent; throws no exception.
     */
    @Override
    void close();
}
