// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.acquire.Acquisition;
import io.latchkey.zk.internal.acquire.Event;
import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.path.Deletion;
import io.latchkey.zk.internal.path.QueueMember;
import io.latchkey.zk.internal.path.SessionQueue;
import io.latchkey.zk.internal.path.SessionQueues;
import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.session.SessionNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One member of a request in one session: its place in the queue of one path. It passes to its request the events of
 * the nodes ahead, of its own node and of the path's capacity. In the next session the request has other entries.
 */
final class QueueEntry implements QueueMember {
    private final Acquisition machine;
    private final Owner owner;
    private final int index;
    private final LockPath path;
    private Recipe recipe;
    private final String label;

    private final SessionQueue sessionQueue;
    private final OwnNodeWatch own;
    /** Null until it watches for the first time: of many requests of one session, most wait without. */
    private @Nullable WatchesAhead ahead;

    /** The replacement of the node, while it is unknown whether the server has applied it. */
    private @Nullable NodeName replacement;

    /** What waits for the end of the replacement. */
    private List<Runnable> onceReplaced = List.of();

    private @Nullable RevocationNode revocationNode;

    /** The request that an entry is a member of. */
    interface Owner {
        /** Takes an event. */
        void on(Event event);

        /** Takes an event, which is dropped if {@code stillTrue} says at its turn that another has overtaken it. */
        void on(Event event, BooleanSupplier stillTrue);

        /** Fails the request. */
        void fail(LockException error);

        /**
         * Returns whether the list can be deferred: the caller waits, and no two requests of its kind hold at the same
         * time.
         */
        boolean canBeDeferred();

        /** Notes that others are ahead of the request, at a position that is not known yet. */
        void behindOthers();
    }

    /**
     * @param machine the state machine of its request
     * @param index the index of the member in its request, from 0
     * @param sessionQueue the queue of the member's path
     */
    private QueueEntry(Acquisition machine, Owner owner, int index, LockTarget member, SessionQueue sessionQueue) {
        this.machine = machine;
        this.owner = owner;
        this.index = index;
        this.path = member.path();
        this.recipe = member.recipe();
        this.label = member.label();
        this.sessionQueue = sessionQueue;
        this.own = new OwnNodeWatch(this, sessionQueue.session());
    }

    /** Returns the entries of a request in a session, one for each of its members. */
    static List<QueueEntry> join(Acquisition machine, Owner owner, List<LockTarget> members, SessionQueues queues) {
        List<QueueEntry> entries = new ArrayList<>(members.size());
        for (LockTarget member : members) {
            SessionQueue queue = queues.at(member.path());
            queue.join();
            entries.add(new QueueEntry(machine, owner, entries.size(), member, queue));
        }
        return entries;
    }

    int index() {
        return index;
    }

    /** Returns whether it would have to wait, by what a try last saw or by what this client holds. */
    boolean seemsBlocked() {
        return sessionQueue.seemsBlocked(recipe.tag(), recipe.permits())
                || !sessionQueue.nodes().holdersExcludedBy(this).isEmpty();
    }

    /** Notes whether it was found blocked, for later tries. */
    void found(boolean isBlocked) {
        sessionQueue.found(isBlocked, recipe.tag(), recipe.permits());
    }

    @Override
    public String attempt() {
        return machine.id();
    }

    @Override
    public State state() {
        return machine.state();
    }

    @Override
    public boolean isHeld() {
        return machine.state() == State.HELD;
    }

    @Override
    public boolean wantsList() {
        return machine.wantsList(index);
    }

    @Override
    public boolean canBeDeferred() {
        return owner.canBeDeferred();
    }

    @Override
    public void listDeferred() {
        owner.behindOthers();
    }

    @Override
    public void listed(Queue queue) {
        owner.on(new Event.Listed(index, queue));
    }

    @Override
    public void renewed() {
        owner.on(new Event.Renewed());
    }

    @Override
    public void fail(LockException error) {
        owner.fail(error);
    }

    @Override
    public LockPath path() {
        return path;
    }

    Recipe recipe() {
        return recipe;
    }

    @Override
    public String label() {
        return label;
    }

    @Override
    public boolean isExclusive() {
        return recipe.isExclusive();
    }

    @Override
    public Optional<NodeName> node() {
        return machine.name(index);
    }

    @Override
    public boolean isAt(NodeName name) {
        return replacement == null && node().equals(Optional.of(name));
    }

    SessionQueue sessionQueue() {
        return sessionQueue;
    }

    // ---- the nodes ahead

    /** Watches exactly the nodes that it waits for. */
    void watch(Decision.Wait how) {
        ahead().watch(how);
    }

    private WatchesAhead ahead() {
        if (ahead == null) {
            ahead = new WatchesAhead(this, own, sessionQueue, recipe.tag());
        }
        return ahead;
    }

    void stopWatching() {
        if (ahead != null) {
            ahead.stop();
        }
    }

    @Override
    public boolean isReady() {
        return machine.isReady(index);
    }

    @Override
    public void unblocked(NodeName former) {
        ahead().forget(former);
        owner.on(new Event.Unblocked(index), this::isWaiting);
    }

    @Override
    public void gone(NodeName former) {
        ahead().forget(former);
        lookAgain();
    }

    @Override
    public void announced(NodeName former) {
        ahead().stop(former);
        lookAgain();
    }

    @Override
    public void lookAgain() {
        owner.on(new Event.LookAgain(index), this::isWaiting);
    }

    // ---- the own node

    void watchOwn() {
        own.watch();
    }

    @Override
    public void forgetOwn() {
        own.stop();
    }

    @Override
    public void leaveToWatch() {
        own.leaveToWatch();
    }

    @Override
    public boolean isLeftToWatch() {
        return own.isLeftToWatch();
    }

    @Override
    public void nodeGone(NodeName own) {
        owner.on(new Event.OwnNodeGone(index), () -> node().equals(Optional.of(own)));
    }

    // ---- release requests

    void openRevocationNode(RevocationNode.Holder holder) {
        if (revocationNode == null) {
            revocationNode = new RevocationNode(sessionQueue().session(), this, node().orElseThrow(), holder);
        }
        revocationNode.open();
    }

    @Override
    public Optional<NodeName> takeRevocationNode() {
        Optional<NodeName> taken = Optional.ofNullable(revocationNode).map(RevocationNode::close);
        revocationNode = null;
        return taken;
    }

    /** Returns the entries whose nodes exist, with these nodes. */
    static List<SessionNode.OwnedNode> ownedNodes(List<QueueEntry> entries) {
        List<SessionNode.OwnedNode> owned = new ArrayList<>(entries.size());
        for (QueueEntry entry : entries) {
            entry.node().ifPresent(name -> owned.add(new SessionNode.OwnedNode(entry, name)));
        }
        return owned;
    }

    /** Returns the node with all that is deleted together with it. */
    Deletion.NodeToDelete nodeToDelete(NodeName name) {
        return new Deletion.NodeToDelete(
                sessionQueue().nodes(), name, isExclusive(), replacement(), takeRevocationNode());
    }

    // ---- replacing the node

    /** Notes a pending replacement: until {@link #replaced}, the node or {@code by} in its place may exist. */
    void replacing(NodeName by) {
        forgetOwn();
        replacement = by;
    }

    void notReplaced() {
        replacement = null;
        replacementOver();
    }

    void replaced(Recipe by) {
        replacement = null;
        recipe = by;
        replacementOver();
    }

    /** Runs what waits for the replacement, behind the step that ends it. */
    void replacementOver() {
        List<Runnable> waiting = onceReplaced;
        onceReplaced = List.of();
        waiting.forEach(sessionQueue.session().context()::execute);
    }

    @Override
    public void onceReplaced(Runnable then) {
        onceReplaced = new ArrayList<>(onceReplaced);
        onceReplaced.add(then);
    }

    @Override
    public Optional<NodeName> replacement() {
        return Optional.ofNullable(replacement);
    }

    @Override
    public PathData purpose() {
        return recipe.purpose();
    }

    /** Returns the path to create for the current attempt. */
    String prefix(String id) {
        return path.child(sessionQueue().naming().prefix(recipe.purpose().kind(), recipe.tag(), id, recipe.permits()));
    }
}
