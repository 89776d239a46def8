// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.acquire.Event;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Owner;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.SessionNode;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a request has from its grant on: its present lease, and what the lease's owner asks of it. One lease of it may follow another, by
 * a downgrade or to a neighbour. On the serial executor.
 */
final class Holding implements ZkLease.Holder, Downgrade.Shell, RevocationNode.Holder {
    private final List<QueueEntry> places;
    private final Session session;
    private final RequestEvents signals;
    private final Consumer<Event> machine;
    private ZkLease lease;

    private @Nullable Downgrade downgrade;
    /** The holder wants to know when somebody deletes a node. */
    private boolean watchesOwn;
    /** The first that asked the holder to let go. */
    private Optional<Owner> wish = Optional.empty();

    private ZkLease.Successor successor = released -> false;

    /**
     * @param places one for each member, whose nodes are there
     * @param machine takes what happens to the request
     */
    Holding(List<QueueEntry> places, Session session, long token, RequestEvents signals, Consumer<Event> machine) {
        this.places = places;
        this.session = session;
        this.signals = signals;
        this.machine = machine;
        this.lease = newLease(token);
    }

    private ZkLease newLease(long token) {
        List<SessionNode.Standing> nodes = QueueEntry.standing(places);
        return new ZkLease(this, nodes, places.get(0).recipe(), token, session, signals);
    }

    ZkLease lease() {
        return lease;
    }

    private boolean isHeld() {
        return places.get(0).isHeld();
    }

    @Override
    public String shownPath() {
        return session.context().shown(places.get(0).lock());
    }

    // ---- letting go

    /** Whether the next holder of this client has to wait until the server has deleted the nodes. */
    boolean handsOverLate() {
        return lease.hasOpenWrites();
    }

    @Override
    public void release(Consumer<ReleaseOutcome> then) {
        if (!isHeld()) {
            then.accept(ReleaseOutcome.LOST);
        } else if (!handsOverLate() && successor.takesOver(this)) {
            then.accept(ReleaseOutcome.RELEASED);
        } else {
            machine.accept(new Event.Release(then));
        }
    }

    /** The client closes: the lease is lost to its owner, and nobody takes over. */
    void close() {
        lease.lose(LossCause.CLIENT_CLOSED);
        successor = released -> false;
        release(ignored -> {});
    }

    /** The request is over, and with it what was to be downgraded. */
    void ended() {
        if (downgrade != null) {
            downgrade.requestEnded();
            downgrade = null;
        }
        successor.ended();
    }

    // ---- one lease after the other

    @Override
    public void passOnTo(ZkLease.Successor next) {
        successor = next;
    }

    @Override
    public ZkLease passOn() {
        lease = newLease(lease.token());
        return lease;
    }

    @Override
    public void downgrade(ZkLease write, Recipe by, CompletableFuture<ZkLease> then) {
        if (!isHeld() || !write.equals(lease) || downgrade != null) {
            Downgrade.refuse(write, then);
            return;
        }
        downgrade = new Downgrade(this, places.get(0), session, write, by, then);
        downgrade.start();
    }

    @Override
    public ZkLease downgraded(ZkLease write, NodeName by) {
        downgrade = null;
        machine.accept(new Event.Downgraded(by));
        if (watchesOwn) {
            watchOwnNodes();
        }
        lease = newLease(write.token());
        return lease;
    }

    /** The watch on the node was given up for the one that was to replace it. */
    @Override
    public void notDowngraded() {
        downgrade = null;
        if (watchesOwn) {
            watchOwnNodes();
        }
    }

    // ---- an owner that wants to be told

    @Override
    public void watchOwnNodes() {
        watchesOwn = true;
        if (isHeld()) {
            places.stream().filter(place -> place.replacement().isEmpty()).forEach(QueueEntry::watchOwn);
        }
    }

    @Override
    public void listen() {
        if (isHeld()) {
            watchOwnNodes();
            places.forEach(place -> place.openEar(this));
            wish.ifPresent(lease::askedToRelease);
        }
    }

    @Override
    public boolean isAskedToRelease() {
        return wish.isPresent();
    }

    @Override
    public void askedToRelease(Owner by) {
        if (isHeld() && wish.isEmpty()) {
            wish = Optional.of(by);
            lease.askedToRelease(by);
        }
    }

    @Override
    public void cannotBeAsked(LockException why) {
        if (isHeld()) {
            lease.cannotBeAsked(why);
        }
    }
}
