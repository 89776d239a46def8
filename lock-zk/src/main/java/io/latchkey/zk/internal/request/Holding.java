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
 * The granted part of a request: its current lease and what the lease's owner asks for. A downgrade, or a turn of
 * another caller of this client, replaces the lease by a new one. Confined to the serial executor.
 */
final class Holding implements ZkLease.Holder, Downgrade.Shell, RevocationNode.Holder {
    private final List<QueueEntry> entries;
    private final Session session;
    private final RequestEvents signals;
    private final Consumer<Event> machine;
    private ZkLease lease;

    private @Nullable Downgrade downgrade;
    /** Whether the holder wants to be notified at once if a node is deleted. */
    private boolean watchesOwn;
    /** The first client that asked the holder to release. */
    private Optional<Owner> askedBy = Optional.empty();

    private ZkLease.Successor successor = released -> false;

    /**
     * @param entries the entries of all members, whose nodes exist
     * @param machine takes the events of the request
     */
    Holding(List<QueueEntry> entries, Session session, long token, RequestEvents signals, Consumer<Event> machine) {
        this.entries = entries;
        this.session = session;
        this.signals = signals;
        this.machine = machine;
        this.lease = newLease(token);
    }

    private ZkLease newLease(long token) {
        List<SessionNode.OwnedNode> nodes = QueueEntry.ownedNodes(entries);
        return new ZkLease(this, nodes, entries.get(0).recipe(), token, session, signals);
    }

    ZkLease lease() {
        return lease;
    }

    private boolean isHeld() {
        return entries.get(0).isHeld();
    }

    @Override
    public String shownPath() {
        return session.context().displayPath(entries.get(0).lock());
    }

    // ---- release

    /** Returns whether the next holder of this client has to wait until the server has deleted the nodes. */
    boolean mustDeleteBeforeHandOver() {
        return lease.hasOpenWrites();
    }

    @Override
    public void release(Consumer<ReleaseOutcome> then) {
        if (!isHeld()) {
            then.accept(ReleaseOutcome.LOST);
        } else if (!mustDeleteBeforeHandOver() && successor.takesOver(this)) {
            then.accept(ReleaseOutcome.RELEASED);
        } else {
            machine.accept(new Event.Release(then));
        }
    }

    /** Closes the client's request: the lease is lost, and no other caller takes it over. */
    void close() {
        lease.lose(LossCause.CLIENT_CLOSED);
        successor = released -> false;
        release(ignored -> {});
    }

    /** Ends a pending downgrade and the local turns with the request. */
    void ended() {
        if (downgrade != null) {
            downgrade.requestEnded();
            downgrade = null;
        }
        successor.ended();
    }

    // ---- successive leases

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
        downgrade = new Downgrade(this, entries.get(0), session, write, by, then);
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

    /** Restores the watch on the node, which was given up for the node that was to replace it. */
    @Override
    public void notDowngraded() {
        downgrade = null;
        if (watchesOwn) {
            watchOwnNodes();
        }
    }

    // ---- notifications for the owner

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
            askedBy.ifPresent(lease::askedToRelease);
        }
    }

    @Override
    public boolean isAskedToRelease() {
        return askedBy.isPresent();
    }

    @Override
    public void askedToRelease(Owner by) {
        if (isHeld() && askedBy.isEmpty()) {
            askedBy = Optional.of(by);
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
