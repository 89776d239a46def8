// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.acquire.Event;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.Kind;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.SessionNode;
import io.latchkey.zk.internal.turns.TurnQueue;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The granted part of a request: its current leases and what their owners ask for. There is one lease, or one for each
 * of the readers of this client that share the node. A downgrade, or a turn of another caller of this client, replaces
 * the lease by a new one. Confined to the serial executor.
 */
final class Holding implements ZkLease.Holder, Downgrade.Holder, RevocationNode.Holder {
    private final List<QueueEntry> entries;
    private final Session session;
    private final RequestEvents events;
    private final Consumer<Event> machine;
    private final long token;
    /** In the order of their grants. A lease whose limit has passed stays until its owner is notified. */
    private final Set<ZkLease> leases = new LinkedHashSet<>(2);
    /** Released leases with guarded writes that may still be applied. */
    private final List<ZkLease> openWriters = new ArrayList<>(0);

    private @Nullable Downgrade downgrade;
    /** Whether the holder wants to be notified at once if a node is deleted. */
    private boolean watchesOwn;
    /** The first client that asked the holder to release. */
    private Optional<OwnerData> askedBy = Optional.empty();

    /** Whether no other caller of this client may hold by the node after the current ones. */
    private boolean last;
    /** Whether the limit of one of several leases has passed. */
    private boolean lapsed;
    /** Whether a node or the session is lost, so that other clients may hold. */
    private boolean lost;

    private TurnQueue.@Nullable Successor successor;

    /**
     * @param entries the entries of all members, whose nodes exist
     * @param machine takes the events of the request
     */
    Holding(List<QueueEntry> entries, Session session, long token, RequestEvents events, Consumer<Event> machine) {
        this.entries = entries;
        this.session = session;
        this.events = events;
        this.machine = machine;
        this.token = token;
    }

    private ZkLease newLease(long tokenOfLease, RequestEvents ofOwner) {
        List<SessionNode.OwnedNode> nodes = QueueEntry.ownedNodes(entries);
        ZkLease lease = new ZkLease(this, nodes, entries.get(0).recipe(), tokenOfLease, session, ofOwner);
        leases.add(lease);
        session.context().held().add(lease);
        // Another thread may have failed the engine: either this look, or its walk over the leases, sees the other.
        if (session.context().hasFailed()) {
            boolean unused = lease.isValid(); // which notes the loss
        }
        return lease;
    }

    /** Returns the current leases. */
    List<ZkLease> leases() {
        return List.copyOf(leases);
    }

    private boolean isHeld() {
        return entries.get(0).isHeld();
    }

    @Override
    public String shownPath() {
        return entries.get(0).path().shown();
    }

    // ---- release

    /** Returns whether the next holder of this client has to wait until the server has deleted the nodes. */
    boolean mustDeleteBeforeHandOver() {
        return lapsed
                || leases.stream().anyMatch(ZkLease::hasOpenWrites)
                || openWriters.stream().anyMatch(ZkLease::hasOpenWrites);
    }

    @Override
    public void release(ZkLease lease, Consumer<ReleaseOutcome> then) {
        if (!isHeld()) {
            then.accept(tooLate());
            return;
        }
        leave(lease);
        if (goesOn()) {
            then.accept(ReleaseOutcome.RELEASED);
        } else if (successor != null && successor.mayBeJoined()) {
            // Calls of other threads that came before this one has its response join first: without that, the node of
            // readers would be deleted whenever for a moment none of them holds.
            session.context().execute(() -> releaseUnlessJoined(then));
        } else {
            machine.accept(new Event.Release(then));
        }
    }

    private void releaseUnlessJoined(Consumer<ReleaseOutcome> then) {
        if (!isHeld()) {
            then.accept(tooLate());
        } else if (goesOn()) {
            then.accept(ReleaseOutcome.RELEASED);
        } else {
            machine.accept(new Event.Release(then));
        }
    }

    /**
     * Returns the outcome of a release that finds nothing to delete. Its lease was valid when it began. So unless the
     * hold has been lost since then, the client has closed, or another release has come first, and the nodes are being
     * deleted.
     */
    private ReleaseOutcome tooLate() {
        return lost ? ReleaseOutcome.LOST : ReleaseOutcome.PENDING;
    }

    /** Returns whether the node stays: others hold by it, or the next caller takes it over. */
    private boolean goesOn() {
        return !leases.isEmpty() || (successor != null && mayPassOn() && successor.takesOver());
    }

    private void leave(ZkLease lease) {
        lease.stopTimer();
        leases.remove(lease);
        openWriters.removeIf(before -> !before.hasOpenWrites());
        if (lease.hasOpenWrites()) {
            openWriters.add(lease);
        }
    }

    /** Ends all leases, as the request ends. None is valid any more when the first owner is notified. */
    void lose(LossCause cause) {
        last = true;
        lost |= cause != LossCause.CLIENT_CLOSED;
        List<ZkLease> ended = leases.stream().filter(lease -> lease.end(cause)).toList();
        ended.forEach(lease -> lease.notifyOwner(cause));
    }

    /**
     * Runs {@code then}, which deletes the nodes: at once, unless the owner of a lost lease awaits the notice of the
     * loss. One look decides, since other threads give the notice.
     *
     * @param begins runs first if it waits, and {@code ends} last
     */
    void onceNotified(Runnable begins, Runnable ends, Runnable then) {
        Set<ZkLease> late = new HashSet<>(leases);
        late.removeIf(lease -> lease.end().isNotified());
        if (late.isEmpty()) {
            then.run();
            return;
        }
        begins.run();
        for (ZkLease lease : List.copyOf(late)) {
            lease.end().onceNotified(() -> {
                if (late.remove(lease) && late.isEmpty()) {
                    try {
                        then.run();
                    } finally {
                        ends.run();
                    }
                }
            });
        }
    }

    /**
     * Returns whether another caller of this client may hold by the node. Both have the same token, and the node stays,
     * so neither fences off the former holder: only a clean release passes a node on. A permit of a semaphore whose
     * capacity was written since goes back, since it may not fit the capacity.
     */
    @Override
    public boolean mayPassOn() {
        return !last
                && isHeld()
                && downgrade == null
                && askedBy.isEmpty()
                && openWriters.stream().noneMatch(ZkLease::hasOpenWrites)
                && (entries.get(0).recipe().purpose().kind() != Kind.SEMAPHORE
                        || entries.get(0).sessionQueue().content().writtenAt() <= token);
    }

    /** Ends a pending downgrade and the local turns with the request. */
    void ended() {
        leases.forEach(ZkLease::stopTimer);
        if (downgrade != null) {
            downgrade.requestEnded();
            downgrade = null;
        }
        if (successor != null) {
            successor.ended();
        }
    }

    // ---- successive leases

    @Override
    public void passOnTo(TurnQueue.Successor next) {
        successor = next;
    }

    @Override
    public ZkLease newLease() {
        return newLease(token, events);
    }

    /** Without this, the lease would count as a holder's, and the node would stay until the session ends. */
    @Override
    public void takeBack(ZkLease lease) {
        lease.handOver();
        leave(lease);
    }

    @Override
    public void downgrade(ZkLease write, Recipe by, CompletableFuture<ZkLease> then) {
        if (!isHeld() || !leases.contains(write) || downgrade != null) {
            Downgrade.refuse(write, then);
            return;
        }
        downgrade = new Downgrade(this, entries.get(0), session, write, by, then);
        downgrade.start();
    }

    @Override
    public Optional<ZkLease> downgraded(ZkLease write, NodeName by) {
        downgrade = null;
        machine.accept(new Event.Downgraded(by));
        if (watchesOwn) {
            watchOwnNodes();
        }
        last = true;
        if (successor != null) {
            successor.changed();
        }
        if (!write.handOver()) {
            // The owner has released the lease or found it lost in between; the consequences are already on their way.
            return Optional.empty();
        }
        ZkLease read = newLease(write.token(), write.events());
        read.keepLimitOf(write);
        if (read.events().isAwaited()) {
            session.context().held().received(read);
        }
        leases.remove(write);
        return Optional.of(read);
    }

    /** Restores the watch on the node, which was given up for the node that was to replace it. */
    @Override
    public void notDowngraded() {
        downgrade = null;
        if (watchesOwn) {
            watchOwnNodes();
        }
    }

    // ---- notifications for the owner

    /** Ends one lease. The node stays for the other holders, and is deleted after the last one. */
    @Override
    public void lapsed(ZkLease lease) {
        // One that was released in the same moment is about to leave.
        if (!isHeld() || !leases.contains(lease) || lease.end().isReleased()) {
            return;
        }
        if (leases.size() == 1) {
            machine.accept(new Event.Lapsed());
            return;
        }
        last = true;
        lapsed = true;
        Runnable leaves = () -> {
            if (isHeld() && leases.contains(lease)) {
                leave(lease);
                if (leases.isEmpty()) {
                    machine.accept(new Event.Lapsed());
                }
            }
        };
        if (lease.end().isNotified()) {
            leaves.run();
        } else {
            lease.end().onceNotified(leaves);
        }
    }

    @Override
    public void watchOwnNodes() {
        watchesOwn = true;
        if (isHeld()) {
            entries.stream().filter(entry -> entry.replacement().isEmpty()).forEach(QueueEntry::watchOwn);
        }
    }

    @Override
    public void listen() {
        if (isHeld()) {
            watchOwnNodes();
            entries.forEach(entry -> entry.openRevocationNode(this));
            askedBy.ifPresent(by -> leases.forEach(lease -> lease.askedToRelease(by)));
        }
    }

    @Override
    public boolean isExclusive() {
        return entries.get(0).isExclusive();
    }

    @Override
    public void askedToRelease(OwnerData by) {
        if (askedBy.isEmpty()) {
            askedBy = Optional.of(by);
            leases.forEach(lease -> lease.askedToRelease(by));
            if (successor != null) {
                successor.changed();
            }
        }
    }

    @Override
    public void cannotBeAsked(LockException why) {
        if (isHeld()) {
            leases.forEach(lease -> lease.cannotBeAsked(why));
        }
    }
}
