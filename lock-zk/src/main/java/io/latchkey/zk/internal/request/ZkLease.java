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

/** A granted request as its owner sees it. Any thread may ask and release. */
public final class ZkLease implements Lease {
    private final ClientContext context;
    private final Holder request;
    private final List<SessionNode.Standing> nodes;
    private final Recipe recipe;
    private final long token;
    private final Session session;
    private final ValidityPeriod term;
    /** What its owner's news goes through; one lease of a request may follow another, each with an owner of its own. */
    private volatile RequestEvents signals;

    private final Notice<LossCause> lost = new Notice<>();
    private final Notice<ReleaseRequest> releaseRequested = new Notice<>();
    /** Of threads that run a body under this lease. Not of its stages: these wait for the callbacks' threads. */
    private final List<BodyInterruption> bodies = new CopyOnWriteArrayList<>();

    private final AtomicBoolean watching = new AtomicBoolean();
    private final AtomicBoolean listening = new AtomicBoolean();
    /** Guarded writes that have begun and were not answered by the server. */
    private final AtomicInteger openWrites = new AtomicInteger();
    /** How it ended; null as long as it has not. The first end stands. */
    private final AtomicReference<@Nullable End> end = new AtomicReference<>();

    private sealed interface End {
        record Released() implements End {}

        record Lost(LossCause cause) implements End {}
    }

    /** The request that holds, as its lease sees it. On the serial executor. */
    public interface Holder {
        /** The path by which people know the request: that of its first member. */
        String shownPath();

        /** Lets go of what is held, and tells {@code then} what became of it. */
        void release(Consumer<ReleaseOutcome> then);

        /** Replaces the node of an exclusive lease by one that shares. */
        void downgrade(ZkLease write, Recipe by, CompletableFuture<ZkLease> then);

        /** The holder wants to know at once when somebody deletes its nodes. */
        void watchOwnNodes();

        /** The holder wants to be asked to let go. */
        void listen();

        boolean isAskedToRelease();

        /** When the present lease is released, {@code next} may go on with its node. */
        void passOnTo(Successor next);

        /** The lease has ended and the node stays: a new lease with the same token. */
        ZkLease passOn();
    }

    /** Somebody in the same client who goes on with the node when its lease is released. */
    @FunctionalInterface
    public interface Successor {
        /** Whether it has a lease of the request now, so that nothing is to be let go of. */
        boolean takesOver(Holder released);

        /** The request has ended, by whatever cause. */
        default void ended() {}
    }

    /**
     * @param nodes one for each member
     * @param recipe of the first member
     */
    ZkLease(
            Holder request,
            List<SessionNode.Standing> nodes,
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
        this.term = session.validity().term();
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

    /** The paths of the lock's nodes, one for each member, as the ZooKeeper handle sees them. */
    public List<String> nodePaths() {
        List<String> paths = new ArrayList<>(nodes.size());
        for (SessionNode.Standing node : nodes) {
            paths.add(node.path());
        }
        return paths;
    }

    /** Whether this is a lease of nothing but {@code member}. */
    public boolean isOf(LockTarget member) {
        return nodes.size() == 1
                && recipe.equals(member.recipe())
                && nodes.get(0).owner().path().equals(member.path());
    }

    /**
     * Turns it into a lease of {@code by}, with the same token.
     *
     * @return the new lease; or why there is none, in which case this one is as it was, unless it has ended
     */
    public CompletableFuture<ZkLease> downgrade(Recipe by) {
        CompletableFuture<ZkLease> downgraded = new CompletableFuture<>();
        context.serially(() -> request.downgrade(this, by, downgraded));
        return downgraded;
    }

    /** When this lease is released, {@code next} may go on with its node. */
    public void passOnTo(Successor next) {
        request.passOnTo(next);
    }

    /**
     * Counts a guarded write that is about to be sent, and checks that the lease is valid.
     *
     * @throws LeaseLostException if the lease is lost, as {@link #ensureValid}; nothing may be sent then
     */
    public void beginWrite() {
        openWrites.incrementAndGet();
        ensureValid();
    }

    /** The server has answered a guarded write: it was carried out or refused, and never will be carried out later. */
    public void writeAnswered() {
        openWrites.decrementAndGet();
    }

    /**
     * Whether a guarded write of this lease may still be carried out. Then the next holder of the same client is granted
     * only once the deletion of this lease's node is confirmed.
     *
     * <p>Why no write is carried out after the next grant: a guarded write checks the node, so it fails once the node is
     * deleted, whenever and by whichever server it arrives; other clients are granted after the deletion in any case. A write
     * is counted before it looks whether the lease has ended, and a release looks at the count after it has ended the lease:
     * a write that the release does not see is not sent. A write without an answer (lost connection, interrupted thread)
     * stays counted as long as the lease lives, since nothing later proves what became of it (docs/protocol.md, "Tokens and
     * guarded writes").
     */
    boolean hasOpenWrites() {
        return openWrites.get() > 0;
    }

    /** Another lease takes over; says whether this one had not ended by then. */
    public boolean handOver() {
        return end.compareAndSet(null, new End.Released());
    }

    /** From now on it is {@code owner}'s, who is told so. */
    public void goesTo(RequestEvents owner) {
        signals = owner;
        owner.granted(token);
        if (!session.wire().connected()) {
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

    /** Its caller has it, in whose thread this is. */
    public ZkLease received() {
        signals.received();
        return this;
    }

    /** The session that holds. */
    public ZnodeStore port() {
        return session.wire().port();
    }

    /** The client that granted it. */
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
        return session.wire().connected() ? LeaseState.HELD : LeaseState.SUSPECT;
    }

    @Override
    public boolean isValid() {
        if (end.get() != null) {
            return false;
        }
        if (term.isValid()) {
            return true;
        }
        lose(term.isOver() ? LossCause.SESSION_EXPIRED : LossCause.DEADLINE_PASSED);
        context.serially(session.validity()::checkTerm);
        return false;
    }

    @Override
    public Duration remaining() {
        return isValid() ? term.remaining() : Duration.ZERO;
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
                            + "). Another client may hold by now. Stop what it protected; acquire again.",
                    how.cause());
        }
        throw new IllegalStateException("The lease on " + path() + " with token " + token + " was released.");
    }

    /** Whoever wants to be told has the node watched; everybody else learns by the heartbeat, and pays nothing. */
    @Override
    public CompletableFuture<LossCause> lost() {
        watchOwnNodes();
        return lost;
    }

    private void watchOwnNodes() {
        if (watching.compareAndSet(false, true)) {
            context.serially(request::watchOwnNodes);
        }
    }

    /** A loss that comes between the two is told here and there; the second time has no effect. */
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
                    "A holder on a path that is shared with other clients than Latchkey's"
                            + " cannot be asked to let go: they would take the node for that as a request. Nothing was sent.");
        }
        if (listening.compareAndSet(false, true)) {
            context.serially(request::listen);
        }
        return releaseRequested;
    }

    void askedToRelease(Owner by) {
        if (end.get() == null) {
            ReleaseRequest wish = new ReleaseRequest(by.label(), by.host(), by.processId());
            context.callBack(() -> releaseRequested.tell(wish));
        }
    }

    void cannotBeAsked(LockException why) {
        context.callBack(() -> releaseRequested.fail(why));
    }

    /** The server has just said that the node of one member is not there. While it is being replaced, that is no news. */
    public void nodeGone(int member) {
        SessionNode.Standing gone = nodes.get(member);
        context.serially(() -> {
            if (gone.stands()) {
                gone.gone();
            }
        });
    }

    void lose(LossCause cause) {
        if (end.compareAndSet(null, new End.Lost(cause))) {
            // In this thread, which decides the loss or finds it out: before the node is deleted, and not behind
            // others' code.
            bodies.forEach(body -> body.lost(cause));
            context.callBack(() -> lost.tell(cause));
            signals.lost(cause);
        }
    }

    @Override
    public CompletableFuture<ReleaseOutcome> releaseAsync() {
        CompletableFuture<ReleaseOutcome> told = new CompletableFuture<>();
        var unused = letGo().thenAccept(outcome -> context.callBack(() -> told.complete(outcome)));
        return told;
    }

    /** Releases a lease that nobody wants any more. */
    public void abandon() {
        var unused = letGo();
    }

    private CompletableFuture<ReleaseOutcome> letGo() {
        if (!isValid() || !end.compareAndSet(null, new End.Released())) {
            return CompletableFuture.completedFuture(
                    end.get() instanceof End.Released ? ReleaseOutcome.ALREADY_RELEASED : ReleaseOutcome.LOST);
        }
        signals.released();
        CompletableFuture<ReleaseOutcome> outcome = new CompletableFuture<>();
        context.serially(() -> request.release(outcome::complete));
        return outcome;
    }

    @Override
    public ReleaseOutcome release() {
        CompletableFuture<ReleaseOutcome> outcome = letGo();
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
