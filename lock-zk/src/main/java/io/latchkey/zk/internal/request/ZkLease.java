// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import com.google.common.collect.Comparators;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.spi.LossHandler;
import io.latchkey.lock.spi.LossNotifier;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.context.HeldLeases;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.session.RestartableTimer;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.SessionNode;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.threads.CallerWait;
import io.latchkey.zk.internal.threads.OpenAnswers;
import io.latchkey.zk.internal.threads.StackRoom;
import io.latchkey.zk.internal.turns.TurnQueue;
import io.latchkey.zk.internal.validity.ValidityPeriod;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A lease: a granted request as seen by its owner. Usable and releasable from any thread.
 *
 * <p>The class is long because all that an owner can do with a lease, from any thread, depends on its validity, which is
 * decided here: by the session's period, by the lease's own limit, and by how it {@linkplain LeaseEnd ended}.
 */
public final class ZkLease implements Lease, LossNotifier, HeldLeases.HeldLease, TurnQueue.Turn {
    private static final int LOOKS_IN_A_TIMEOUT = 6;

    private final ClientContext context;
    private final Holder request;
    private final List<SessionNode.OwnedNode> nodes;
    /** The recipe that the owner asked for: a reader may hold by the node of a writer. */
    private volatile Recipe recipe;

    private final long token;
    private final Session session;
    private final ValidityPeriod period;
    private final LeaseEnd end;
    /** The events of the owner. One lease of a request may follow another, each with an owner of its own. */
    private volatile RequestEvents events;
    /** The time until which the owner may hold, whatever the session does; null without a limit. */
    private volatile @Nullable ValidityPeriod limit;
    /** Ends the lease at its limit. Confined to the serial executor. */
    private @Nullable RestartableTimer limitTimer;

    private final CompletableFuture<ReleaseRequest> releaseRequested = new CompletableFuture<>();
    /** One stage for all callers, as {@link LeaseEnd#lossStage}. */
    private final CompletionStage<ReleaseRequest> releaseRequestStage = releaseRequested.minimalCompletionStage();

    private final AtomicBoolean watching = new AtomicBoolean();
    private final AtomicBoolean listening = new AtomicBoolean();
    /** Guarded writes that have begun and have no response. */
    private final AtomicInteger openWrites = new AtomicInteger();
    /** The request that holds, as seen by its lease. Called on the serial executor. */
    public interface Holder extends TurnQueue.Place<ZkLease> {
        /** Returns the displayed path, which is that of the first member. */
        String shownPath();

        /** Releases {@code lease} and passes the outcome to {@code then}. */
        void release(ZkLease lease, Consumer<ReleaseOutcome> then);

        /** Replaces the node of an exclusive lease by one of a shared lease. */
        void downgrade(ZkLease write, Recipe by, CompletableFuture<ZkLease> then);

        /** The limit of {@code lease} has passed. */
        void lapsed(ZkLease lease);

        /** Has the holder notified at once if one of its nodes is deleted. */
        void watchOwnNodes();

        /** Has the holder listen to release requests. */
        void listen();

        /** Lets {@code next} take over the node when its last lease is released: a new lease has the same token. */
        void passOnTo(TurnQueue.Successor next);
    }

    /**
     * @param nodes the nodes of all members
     * @param recipe the recipe of the first member
     */
    ZkLease(
            Holder request,
            List<SessionNode.OwnedNode> nodes,
            Recipe recipe,
            long token,
            Session session,
            RequestEvents events) {
        this.context = session.context();
        this.request = request;
        this.nodes = nodes;
        this.recipe = recipe;
        this.token = token;
        this.session = session;
        this.period = session.validity().period();
        this.events = events;
        this.end = new LeaseEnd(session, this);
    }

    @Override
    public String path() {
        return request.shownPath();
    }

    @Override
    public long token() {
        return token;
    }

    /** Returns the paths of the nodes of all members, as the ZooKeeper handle sees them. */
    public List<String> nodePaths() {
        return nodes.stream().map(SessionNode.OwnedNode::path).toList();
    }

    /** Returns the path of which this is an exclusive lease; empty if it is shared, or of several members. */
    public Optional<LockPath> exclusivePath() {
        return nodes.size() == 1 && recipe.isExclusive()
                ? Optional.of(nodes.get(0).owner().path())
                : Optional.empty();
    }

    /** Returns whether this is a lease of {@code member} alone. */
    public boolean isOf(LockTarget member) {
        return nodes.size() == 1
                && recipe.equals(member.recipe())
                && nodes.get(0).owner().path().equals(member.path());
    }

    /**
     * Replaces this lease by one of {@code by}, with the same token.
     *
     * @return the new lease; or an exception, in which case this lease stays as it was, unless it has ended
     */
    public CompletableFuture<ZkLease> downgrade(Recipe by) {
        CompletableFuture<ZkLease> downgraded = context.answers().next();
        context.execute(() -> request.downgrade(this, by, downgraded));
        return downgraded;
    }

    /** Replaces this lease as {@link #downgrade} does, and waits for the answer. */
    public ZkLease downgradeAndWait(Recipe by) {
        CompletableFuture<ZkLease> downgraded = downgrade(by);
        CallerWait.awaitUninterruptibly(downgraded);
        return Errors.valueOf(downgraded);
    }

    /** Returns the request that holds. */
    public Holder request() {
        return request;
    }

    /**
     * Counts a guarded write that is about to be sent, and checks that the lease is valid. If it is not, the write stays
     * counted: at most, the next holder of this client waits for the deletion of this lease's node.
     *
     * @throws LeaseLostException if the lease is lost, as {@link #ensureValid}; the write must not be sent then
     */
    public void beginWrite() {
        openWrites.incrementAndGet();
        ensureValid();
    }

    /** Notes the response to a guarded write: it was applied or refused, and will not be applied later. */
    public void writeAnswered() {
        openWrites.decrementAndGet();
    }

    /**
     * Returns whether a guarded write of this lease may still be applied. If so, the next holder of this client is
     * granted only after the deletion of this lease's node is confirmed.
     *
     * <p>No write is applied after the next grant. A guarded write checks the node, so it fails once the node is
     * deleted, whenever and by whichever server it arrives, and other clients are granted only after the deletion. A
     * write is counted before it checks whether the lease has ended, and a release reads the count after it has ended
     * the lease. So a write that the release does not see is never sent. A write without a response (lost connection,
     * interrupted thread) stays counted as long as the lease lives, since no later event shows its result
     * (docs/protocol.md, "Tokens and guarded writes").
     */
    boolean hasOpenWrites() {
        return openWrites.get() > 0;
    }

    /** Ends this lease for one that replaces it, and returns whether it had not ended before. */
    public boolean handOver() {
        return endedFirst(end.release());
    }

    private boolean endedFirst(boolean first) {
        if (first) {
            context.held().remove(this);
        }
        return first;
    }

    @Override
    public boolean hasEnded() {
        return end.isOver();
    }

    /** Passes the lease to {@code owner}, which gets its events from now on. */
    public void goesTo(RequestEvents owner) {
        events = owner;
        recipe = owner.members().get(0).recipe();
        stopLimit();
        owner.granted(token);
        if (!session.connection().connected()) {
            owner.suspect();
        }
        end.lossCause().ifPresent(owner::lost);
        if (end.isReleased()) {
            owner.released();
        }
        owner.limit()
                .ifPresent(longest -> limitTo(
                        new ValidityPeriod(context.clock(), context.now().plus(longest))));
    }

    @Override
    public RequestEvents events() {
        return events;
    }

    /** Takes over the limit of the lease that this one replaces. */
    void keepLimitOf(ZkLease former) {
        ValidityPeriod same = former.limit;
        former.stopTimer();
        if (same != null) {
            limitTo(same);
        }
    }

    private void limitTo(ValidityPeriod until) {
        limit = until;
        limitTimer = new RestartableTimer(context, this::checkLimit);
        checkLimit();
    }

    /** The timer runs by one clock; by the other the limit may have passed before. So it looks every T/6. */
    private void checkLimit() {
        if (isValid()) {
            Duration left = Objects.requireNonNull(limit).remaining();
            Duration look = session.validity().timeout().dividedBy(LOOKS_IN_A_TIMEOUT);
            Objects.requireNonNull(limitTimer).set(Comparators.min(left, look));
        }
    }

    private void stopLimit() {
        stopTimer();
        limit = null;
    }

    /** Ends the timer of the limit with the lease. */
    void stopTimer() {
        if (limitTimer != null) {
            limitTimer.cancel();
            limitTimer = null;
        }
    }

    /** Notes that the caller has received the lease. Called in the caller's thread. */
    public ZkLease received() {
        events.received();
        if (events.isAwaited()) {
            context.held().received(this);
        }
        return this;
    }

    /** Returns the store of the session that holds. */
    public ZnodeStore store() {
        return session.connection().store().sender();
    }

    /** Returns the context of the client that granted the lease. */
    public ClientContext context() {
        return context;
    }

    @Override
    public LeaseState state() {
        if (!isValid()) {
            return end.isReleased() ? LeaseState.RELEASED : LeaseState.LOST;
        }
        return session.connection().connected() ? LeaseState.HELD : LeaseState.SUSPECT;
    }

    @Override
    public boolean isValid() {
        if (end.isOver()) {
            return false;
        }
        if (context.hasFailed()) {
            lose(LossCause.CLIENT_FAILED);
            return false;
        }
        if (period.isValid()) {
            ValidityPeriod until = limit;
            if (until == null || until.isValid()) {
                return true;
            }
            // The task comes first: a caller that asks again in the callback of the loss must not join the node.
            context.execute(() -> {
                lose(LossCause.HELD_TOO_LONG);
                request.lapsed(this);
            });
            lose(LossCause.HELD_TOO_LONG);
            return false;
        }
        lose(period.isOver() ? LossCause.SESSION_EXPIRED : LossCause.DEADLINE_PASSED);
        context.execute(session.validity()::checkPeriod);
        return false;
    }

    @Override
    public Duration remaining() {
        if (!isValid()) {
            return Duration.ZERO;
        }
        ValidityPeriod until = limit;
        Duration left = period.remaining();
        return until == null ? left : Comparators.min(left, until.remaining());
    }

    @Override
    public Optional<LossCause> lossCause() {
        return isValid() ? Optional.empty() : end.lossCause();
    }

    @Override
    public void ensureValid() {
        if (isValid()) {
            return;
        }
        Optional<LossCause> lost = end.lossCause();
        if (lost.isPresent()) {
            throw new LeaseLostException(
                    "The lease on " + path() + " with token " + token + " is lost ("
                            + Errors.because(lost.get())
                            + "). Another client may hold the lock by now. Stop the protected work and acquire again.",
                    lost.get());
        }
        throw new IllegalStateException("The lease on " + path() + " with token " + token + " was released.");
    }

    /** Sets a watch on the node. Without a call, the holder learns of a deletion by the heartbeat, at no cost. */
    @Override
    public CompletionStage<LossCause> lost() {
        watchOwnNodes();
        return end.lossStage();
    }

    private void watchOwnNodes() {
        StackRoom.checkForACall();
        if (watching.compareAndSet(false, true)) {
            context.execute(request::watchOwnNodes);
        }
    }

    @Override
    public void onLoss(LossHandler handler) {
        end.onLoss(handler);
        watchOwnNodes();
    }

    @Override
    public CompletionStage<ReleaseRequest> releaseRequested() {
        if (context.naming().isShared()) {
            throw new UnsupportedOperationException(
                    "Release requests are not supported on a path that is shared with clients other than Latchkey's,"
                            + " which would take the revocation node for a lock request. Nothing was sent.");
        }
        StackRoom.checkForACall();
        if (listening.compareAndSet(false, true)) {
            context.execute(request::listen);
        }
        return releaseRequestStage;
    }

    void askedToRelease(OwnerData by) {
        if (!end.isOver()) {
            context.callBack(() -> releaseRequested.complete(new ReleaseRequest(ClientContext.shown(by))));
        }
    }

    void cannotBeAsked(LockException why) {
        context.callBack(() -> releaseRequested.completeExceptionally(why));
    }

    /**
     * Handles a server's response that the node of one member does not exist.
     *
     * @return completes with whether this lease has ended: not while a pending downgrade replaces the node
     */
    public CompletableFuture<Boolean> nodeGone(int member) {
        CompletableFuture<Boolean> ended = context.answers().next();
        context.execute(() -> {
            nodes.get(member).missing();
            ended.complete(!isValid());
        });
        return ended.exceptionally(engineFailed -> true);
    }

    /** Ends the lease only where its owner is sure to be notified, as {@link #beginRelease} does. */
    private void lose(LossCause cause) {
        Object by = new Object();
        context.runWithRoom(() -> {
            if (endedFirst(end.lose(cause, by))) {
                notifyOwner(cause);
            }
        });
        boolean unused = end.lose(cause, by);
    }

    @Override
    public CompletableFuture<@Nullable Void> notified() {
        return end.notified();
    }

    @Override
    public boolean end(LossCause cause) {
        return endedFirst(end.lose(cause));
    }

    @Override
    public void notifyOwner(LossCause cause) {
        end.notifyOwner(cause, events);
    }

    /** Returns how it ended, and whether its owner knows. */
    LeaseEnd end() {
        return end;
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        CompletableFuture<ReleaseOutcome> result = new CompletableFuture<>();
        var unused = beginRelease().thenAccept(outcome -> context.callBack(() -> result.complete(outcome)));
        return result;
    }

    /** Releases a lease whose caller no longer waits. */
    @Override
    public void abandon() {
        var unused = beginRelease();
    }

    /**
     * The lease ends where there is room for its deletion, or where another thread is sure to delete it. If the stack
     * has not even room to leave the release to another thread, the lease does not end: an outer frame can release it.
     */
    private CompletableFuture<ReleaseOutcome> beginRelease() {
        ReleaseAnswer outcome = new ReleaseAnswer();
        if (isValid()) {
            context.runWithRoom(() -> release(outcome));
            boolean unused = end.release(outcome); // before the other thread, if that is slower
        } else {
            outcome.notReleased();
        }
        return outcome;
    }

    private void release(ReleaseAnswer outcome) {
        outcome.open();
        if (!endedFirst(end.release(outcome))) {
            outcome.notReleased();
            return;
        }
        try {
            events.released();
        } finally {
            context.executeWithRoom(() -> request.release(this, outcome::complete));
        }
    }

    /** The outcome of a release. If the engine fails, the node goes with the session, or is deleted by its path. */
    private final class ReleaseAnswer extends OpenAnswers.Answer<ReleaseOutcome> {
        ReleaseAnswer() {
            super(context.answers());
        }

        void notReleased() {
            boolean unused = complete(end.isReleased() ? ReleaseOutcome.ALREADY_RELEASED : ReleaseOutcome.LOST);
        }

        @Override
        protected void engineFailed(LockException why) {
            boolean unused = complete(end.isReleased() ? ReleaseOutcome.PENDING : ReleaseOutcome.LOST);
        }
    }

    @Override
    public ReleaseOutcome release() {
        CompletableFuture<ReleaseOutcome> outcome = beginRelease();
        if (context.wouldWaitForItself()) {
            return outcome.getNow(ReleaseOutcome.PENDING);
        }
        try {
            CallerWait.await(outcome);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        return outcome.getNow(ReleaseOutcome.PENDING);
    }

    @Override
    public void close() {
        ReleaseOutcome ignored = release();
    }

    @Override
    public String toString() {
        return "Lease[" + path() + ", token " + token + ", " + state() + "]";
    }
}
