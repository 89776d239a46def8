// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.BodyInterruption;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.Owner;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.SessionNode;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.threads.Notice;
import io.latchkey.zk.internal.validity.ValidityPeriod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A lease: a granted request as seen by its owner. Usable and releasable from any thread. */
public final class ZkLease implements Lease {
    private final ClientContext context;
    private final Holder request;
    private final List<SessionNode.OwnedNode> nodes;
    private final Recipe recipe;
    private final long token;
    private final Session session;
    private final ValidityPeriod period;
    /** The events of the owner. One lease of a request may follow another, each with an owner of its own. */
    private volatile RequestEvents signals;

    private final Notice<LossCause> lost = new Notice<>();
    private final Notice<ReleaseRequest> releaseRequested = new Notice<>();
    /**
     * The interruptions of threads that run a body under this lease. They are not stages of {@link #lost}, which wait
     * for the callback threads.
     */
    private final List<BodyInterruption> bodies = new CopyOnWriteArrayList<>();

    private final AtomicBoolean watching = new AtomicBoolean();
    private final AtomicBoolean listening = new AtomicBoolean();
    /** Guarded writes that have begun and have no response. */
    private final AtomicInteger openWrites = new AtomicInteger();
    /** How the lease ended; null while it has not. Only the first end counts. */
    private final AtomicReference<@Nullable End> end = new AtomicReference<>();

    private sealed interface End {
        record Released() implements End {}

        record Lost(LossCause cause) implements End {}
    }

    /** The request that holds, as seen by its lease. Called on the serial executor. */
    public interface Holder {
        /** Returns the displayed path, which is that of the first member. */
        String shownPath();

        /** Releases and passes the outcome to {@code then}. */
        void release(Consumer<ReleaseOutcome> then);

        /** Replaces the node of an exclusive lease by one of a shared lease. */
        void downgrade(ZkLease write, Recipe by, CompletableFuture<ZkLease> then);

        /** Has the holder notified at once if one of its nodes is deleted. */
        void watchOwnNodes();

        /** Has the holder listen to release requests. */
        void listen();

        boolean isAskedToRelease();

        /** Lets {@code next} take over the node when the current lease is released. */
        void passOnTo(Successor next);

        /** Returns a new lease with the same token for the node of a lease that has ended. */
        ZkLease passOn();
    }

    /** A part of the same client that takes over the node when its lease is released. */
    @FunctionalInterface
    public interface Successor {
        /** Takes the request over if it can, and returns whether it has. If so, nothing is released. */
        boolean takesOver(Holder released);

        /** The request has ended, whatever the cause. */
        default void ended() {}
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
            RequestEvents signals) {
        this.context = session.context();
        this.request = request;
        this.nodes = nodes;
        this.recipe = recipe;
        this.token = token;
        this.session = session;
        this.period = session.validity().period();
        this.signals = signals;
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
        List<String> paths = new ArrayList<>(nodes.size());
        for (SessionNode.OwnedNode node : nodes) {
            paths.add(node.path());
        }
        return paths;
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
        CompletableFuture<ZkLease> downgraded = new CompletableFuture<>();
        context.execute(() -> request.downgrade(this, by, downgraded));
        return downgraded;
    }

    /** Lets {@code next} take over the node when this lease is released. */
    public void passOnTo(Successor next) {
        request.passOnTo(next);
    }

    /**
     * Counts a guarded write that is about to be sent, and checks that the lease is valid.
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
        return end.compareAndSet(null, new End.Released());
    }

    /** Passes the lease to {@code owner}, which gets its events from now on. */
    public void goesTo(RequestEvents owner) {
        signals = owner;
        owner.granted(token);
        if (!session.connection().connected()) {
            owner.suspect();
        }
        if (end.get() instanceof End.Lost how) {
            owner.lost(how.cause());
        } else if (end.get() != null) {
            owner.released();
        }
    }

    RequestEvents signals() {
        return signals;
    }

    /** Notes that the caller has received the lease. Called in the caller's thread. */
    public ZkLease received() {
        signals.received();
        return this;
    }

    /** Returns the store of the session that holds. */
    public ZnodeStore port() {
        return session.connection().port();
    }

    /** Returns the context of the client that granted the lease. */
    public ClientContext context() {
        return context;
    }

    @Override
    public LeaseState state() {
        boolean valid = isValid();
        End how = end.get();
        if (how instanceof End.Released) {
            return LeaseState.RELEASED;
        }
        if (how != null || !valid) {
            return LeaseState.LOST;
        }
        return session.connection().connected() ? LeaseState.HELD : LeaseState.SUSPECT;
    }

    @Override
    public boolean isValid() {
        if (end.get() != null) {
            return false;
        }
        if (period.isValid()) {
            return true;
        }
        lose(period.isOver() ? LossCause.SESSION_EXPIRED : LossCause.DEADLINE_PASSED);
        context.execute(session.validity()::checkPeriod);
        return false;
    }

    @Override
    public Duration remaining() {
        return isValid() ? period.remaining() : Duration.ZERO;
    }

    @Override
    public void ensureValid() {
        if (isValid()) {
            return;
        }
        if (end.get() instanceof End.Lost how) {
            throw new LeaseLostException(
                    "The lease on " + path() + " with token " + token + " is lost ("
                            + Errors.because(how.cause())
                            + "). Another client may hold the lock by now. Stop the protected work and acquire again.",
                    how.cause());
        }
        throw new IllegalStateException("The lease on " + path() + " with token " + token + " was released.");
    }

    /** Sets a watch on the node. Without a call, the holder learns of a deletion by the heartbeat, at no cost. */
    @Override
    public CompletableFuture<LossCause> lost() {
        watchOwnNodes();
        return lost;
    }

    private void watchOwnNodes() {
        if (watching.compareAndSet(false, true)) {
            context.execute(request::watchOwnNodes);
        }
    }

    /** A loss between the two statements is reported twice; the second report has no effect. */
    @Override
    public void interruptOnLoss(BodyInterruption body) {
        bodies.add(Objects.requireNonNull(body, "body"));
        if (end.get() instanceof End.Lost how) {
            body.lost(how.cause());
        }
        watchOwnNodes();
    }

    @Override
    public CompletableFuture<ReleaseRequest> releaseRequested() {
        if (context.naming().isShared()) {
            throw new UnsupportedOperationException(
                    "Release requests are not supported on a path that is shared with clients other than Latchkey's,"
                            + " which would take the revocation node for a lock request. Nothing was sent.");
        }
        if (listening.compareAndSet(false, true)) {
            context.execute(request::listen);
        }
        return releaseRequested;
    }

    void askedToRelease(Owner by) {
        if (end.get() == null) {
            ReleaseRequest releaseRequest = new ReleaseRequest(by.label(), by.host(), by.processId());
            context.callBack(() -> releaseRequested.deliver(releaseRequest));
        }
    }

    void cannotBeAsked(LockException why) {
        context.callBack(() -> releaseRequested.fail(why));
    }

    /**
     * Handles a server's response that the node of one member does not exist. It is ignored while the node is being
     * replaced.
     */
    public void nodeGone(int member) {
        SessionNode.OwnedNode gone = nodes.get(member);
        context.execute(() -> {
            if (gone.isCurrent()) {
                gone.gone();
            }
        });
    }

    void lose(LossCause cause) {
        if (end.compareAndSet(null, new End.Lost(cause))) {
            // In this thread, which decides or finds the loss: before the node is deleted, and without waiting for
            // other callbacks.
            bodies.forEach(body -> body.lost(cause));
            context.callBack(() -> lost.deliver(cause));
            signals.lost(cause);
        }
    }

    @Override
    public CompletableFuture<ReleaseOutcome> releaseAsync() {
        CompletableFuture<ReleaseOutcome> result = new CompletableFuture<>();
        var unused = beginRelease().thenAccept(outcome -> context.callBack(() -> result.complete(outcome)));
        return result;
    }

    /** Releases a lease whose caller no longer waits. */
    public void abandon() {
        var unused = beginRelease();
    }

    private CompletableFuture<ReleaseOutcome> beginRelease() {
        if (!isValid() || !end.compareAndSet(null, new End.Released())) {
            return CompletableFuture.completedFuture(
                    end.get() instanceof End.Released ? ReleaseOutcome.ALREADY_RELEASED : ReleaseOutcome.LOST);
        }
        signals.released();
        CompletableFuture<ReleaseOutcome> outcome = new CompletableFuture<>();
        context.execute(() -> request.release(outcome::complete));
        return outcome;
    }

    @Override
    public ReleaseOutcome release() {
        CompletableFuture<ReleaseOutcome> outcome = beginRelease();
        if (context.wouldWaitForItself()) {
            return outcome.getNow(ReleaseOutcome.PENDING);
        }
        try {
            return outcome.get();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return outcome.getNow(ReleaseOutcome.PENDING);
        } catch (ExecutionException impossible) {
            throw new IllegalStateException("a release has no failure of its own", impossible);
        }
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
