// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.acquire.Acquisition;
import io.latchkey.zk.internal.acquire.Event;
import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.path.PendingDeletions;
import io.latchkey.zk.internal.path.QueueMember;
import io.latchkey.zk.internal.path.SessionQueue;
import io.latchkey.zk.internal.path.SessionQueues;
import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.queue.Tag;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.session.SessionNode;
import io.latchkey.zk.internal.session.Watches;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One member of a request in one session: its place in the queue of one path and its watches there. It passes to its
 * request the events of the nodes ahead, of its own node and of the path's capacity. In the next session the request
 * has other entries.
 *
 * <p>The class is long because the events of these three together decide what is watched: a hand-over counts only while
 * the own node is watched.
 */
final class QueueEntry implements QueueMember {
    private final Acquisition machine;
    private final Shell shell;
    private final int index;
    private final LockPath path;
    private final LockPath lock;
    private Recipe recipe;
    private final String label;

    private final SessionQueue sessionQueue;

    private final Watches.Listener pathListener = new PathListener();
    /** The watched nodes ahead, usually one. */
    private final List<Ahead> ahead = new ArrayList<>(0);

    /** The zxids of the transactions that created nodes ahead, as far as they are known. */
    private final Map<NodeName, Long> createdAhead = new HashMap<>(0);
    /** The predecessor that it follows in the chain; null if it does not follow. */
    private Decision.@Nullable Follow following;

    private @Nullable Runnable stopWatchingOwn;
    /** Whether the server has confirmed the watch on the own node and the watch has not fired since. */
    private boolean ownWatched;

    private boolean leftToWatch;
    private @Nullable Runnable stopWatchingPath;
    /** The queue in which it led the waiters; null if it does not lead. */
    private @Nullable Queue leading;
    /** The replacement of the node, while it is unknown whether the server has applied it. */
    private @Nullable NodeName replacement;

    private @Nullable RevocationNode revocationNode;

    /** A watched node ahead, and the action that ends the watch. */
    private record Ahead(NodeName node, Runnable stop) {}

    /** The request that an entry is a member of. */
    interface Shell {
        /** Takes an event. */
        void on(Event event);

        /** Fails the request. */
        void fail(LockException error);

        /**
         * Returns whether the list can be deferred: the caller waits, and no two requests of its kind hold at the same
         * time.
         */
        boolean canBeDeferred();
    }

    /**
     * @param machine the state machine of its request
     * @param index the index of the member in its request, from 0
     * @param sessionQueue the queue of the member's path
     */
    private QueueEntry(Acquisition machine, Shell shell, int index, LockTarget member, SessionQueue sessionQueue) {
        this.machine = machine;
        this.shell = shell;
        this.index = index;
        this.path = member.path();
        this.lock = member.lock();
        this.recipe = member.recipe();
        this.label = member.label();
        this.sessionQueue = sessionQueue;
    }

    /** Returns the entries of a request in a session, one for each of its members. */
    static List<QueueEntry> join(Acquisition machine, Shell shell, List<LockTarget> members, SessionQueues queues) {
        List<QueueEntry> entries = new ArrayList<>(members.size());
        for (LockTarget member : members) {
            SessionQueue queue = queues.at(member.path());
            queue.join();
            entries.add(new QueueEntry(machine, shell, entries.size(), member, queue));
        }
        return entries;
    }

    int index() {
        return index;
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
        return shell.canBeDeferred();
    }

    @Override
    public void listed(Queue queue) {
        shell.on(new Event.Listed(index, queue));
    }

    @Override
    public void renewed() {
        shell.on(new Event.Drained());
    }

    @Override
    public void fail(LockException error) {
        shell.fail(error);
    }

    @Override
    public LockPath path() {
        return path;
    }

    /** Returns the path that is displayed for the lock. */
    LockPath lock() {
        return lock;
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
        return recipe.sharing() == Recipe.Sharing.EXCLUSIVE;
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
        boolean alone = how instanceof Decision.Blocked blocked && blocked.alone();
        List<NodeName> on = how instanceof Decision.Blocked blocked
                ? blocked.on()
                : how instanceof Decision.Follow follow ? List.of(follow.ahead()) : List.of();
        following = null;
        createdAhead.keySet().retainAll(on);
        for (Ahead former : List.copyOf(ahead)) {
            if (!on.contains(former.node())) {
                stopWatching(former.node());
            }
        }
        if (recipe.tag() == Tag.LEASE) {
            watchPath(how);
        }
        for (NodeName next : on) {
            if (ahead.stream().noneMatch(watched -> watched.node().equals(next))) {
                sessionQueue().watch(this, next, alone);
            }
        }
        if (how instanceof Decision.Follow follow) {
            following = follow;
            boolean unused = leadIfAheadMayHold();
        }
    }

    /**
     * Leads instead of following if the predecessor may hold already: if its node is older than the path's data ({@link
     * Decision.Follow}). For a predecessor of this session its state is known. Returns whether this entry leads now.
     */
    private boolean leadIfAheadMayHold() {
        if (following == null || following.orLead().isEmpty()) {
            return false;
        }
        NodeName last = following.ahead();
        Optional<QueueMember> here = sessionQueue().nodes().at(last);
        boolean mayHold = here.isPresent()
                ? here.get().isReady()
                : createdAhead.getOrDefault(last, Long.MAX_VALUE)
                        < sessionQueue().reader().writtenAt();
        if (mayHold) {
            watch(following.orLead().get());
        }
        return mayHold;
    }

    @Override
    public boolean isReady() {
        return machine.isReady(index);
    }

    /** Watches the path's data, which has the capacity, and its children if this entry leads the chain. */
    private void watchPath(Decision.Wait how) {
        Watches watches = sessionQueue().session().watches();
        leading = how instanceof Decision.Lead lead ? lead.seen() : null;
        if (!sessionQueue().naming().isShared()) {
            stopWatchingPath = watches.watchData(path.node(), pathListener);
        }
        if (leading != null) {
            stopWatchingPath = watches.watchChildren(path.node(), pathListener);
        }
    }

    @Override
    public void watches(NodeName next, Runnable stop) {
        ahead.add(new Ahead(next, stop));
    }

    private void stopWatching(NodeName former) {
        for (Ahead watched : List.copyOf(ahead)) {
            if (watched.node().equals(former)) {
                ahead.remove(watched);
                watched.stop().run();
            }
        }
    }

    /** Forgets a node whose watch has ended. */
    private void forgetAhead(NodeName former) {
        ahead.removeIf(watched -> watched.node().equals(former));
    }

    void stopWatching() {
        for (Ahead watched : List.copyOf(ahead)) {
            stopWatching(watched.node());
        }
        leading = null;
        following = null;
        if (stopWatchingPath != null) {
            stopWatchingPath.run();
            stopWatchingPath = null;
        }
    }

    @Override
    public void released(NodeName former) {
        forgetAhead(former);
        if (isWaiting()) {
            shell.on(new Event.HandedOver(index));
        }
    }

    @Override
    public void gone(NodeName former) {
        forgetAhead(former);
        lookAgain();
    }

    @Override
    public void announced(NodeName former) {
        stopWatching(former);
        lookAgain();
    }

    @Override
    public void lookAgain() {
        if (isWaiting()) {
            shell.on(new Event.LookAgain(index));
        }
    }

    private void watchLost(Response<?> why) {
        if (why.code() == Status.NO_AUTH) {
            String displayPath = sessionQueue().session().context().displayPath(path);
            shell.fail(Errors.denied(displayPath, "watch the queue", why));
        } else if (why.code() == Status.OTHER) {
            sessionQueue().session().heartbeat().afterBeat(this::lookAgain);
        } else {
            sessionQueue().session().connection().whenConnected(this::lookAgain);
        }
    }

    @Override
    public Watches.Listener aheadListener(NodeName node, boolean alone) {
        return new Watches.Listener() {
            @Override
            public void released() {
                if (ownWatched && sessionQueue().session().connection().connected()) {
                    QueueEntry.this.released(node);
                } else {
                    // The grant may not be for this request: the own node may have been deleted before, without an
                    // event yet. On a new connection ZooKeeper's client sets its watches again in several packets, the
                    // one on the own node maybe last. The barrier is sent behind all of them, and its response arrives
                    // behind their events.
                    QueueEntry.this.gone(node);
                }
            }

            @Override
            public void gone() {
                if (alone) {
                    released();
                } else {
                    QueueEntry.this.gone(node);
                }
            }

            /**
             * Decides again if the node was written before the watch was set: that write may have announced the grant.
             */
            @Override
            public void seen(ZnodeStore.NodeData data) {
                if (node.tag() == Tag.LEASE) {
                    createdAhead.put(node, data.czxid());
                    if (!leadIfAheadMayHold() && data.version() > 0) {
                        lookAgain();
                    }
                }
            }

            @Override
            public void changed() {
                if (node.tag() == Tag.LEASE) {
                    announced(node);
                }
            }

            @Override
            public void watchLost(Response<?> why) {
                forgetAhead(node);
                QueueEntry.this.watchLost(why);
            }
        };
    }

    /**
     * Listener for the path. A change before a watch was set shows in what the watch's read returns; later ones fire
     * the watch.
     */
    private final class PathListener implements Watches.Listener {
        @Override
        public void seen(ZnodeStore.NodeData data) {
            sessionQueue.reader().learn(data);
        }

        @Override
        public void seen(ZnodeStore.Listing children) {
            if (leading != null && !leading.isOf(children.children())) {
                lookAgain();
            }
        }

        @Override
        public void changed() {
            lookAgain();
        }

        @Override
        public void childrenChanged() {
            if (leading != null) {
                lookAgain();
            }
        }

        @Override
        public void released() {
            gone();
        }

        @Override
        public void gone() {
            stopWatchingPath = null;
            lookAgain();
        }

        @Override
        public void watchLost(Response<?> why) {
            stopWatchingPath = null;
            QueueEntry.this.watchLost(why);
        }
    }

    // ---- the own node

    /**
     * Watches the own node, which must exist when a mark is taken as a grant (docs/protocol.md, "Hand-over and the
     * release mark").
     */
    @Override
    public void watchOwn() {
        if (stopWatchingOwn == null) {
            NodeName own = node().orElseThrow();
            stopWatchingOwn = sessionQueue().session().watches().watchOwn(path.child(own), new OwnListener(own));
        }
    }

    @Override
    public void forgetOwn() {
        ownWatched(false);
        if (stopWatchingOwn != null) {
            stopWatchingOwn.run();
            stopWatchingOwn = null;
        }
    }

    @Override
    public void leaveToWatch() {
        leftToWatch = true;
        watchOwn();
        ownWatched(ownWatched);
    }

    private void ownWatched(boolean now) {
        ownWatched = now;
        sessionQueue().session().nodeChecks().update(this);
    }

    @Override
    public boolean isLeftToWatch() {
        return leftToWatch && ownWatched;
    }

    private final class OwnListener implements Watches.Listener {
        private final NodeName own;

        OwnListener(NodeName own) {
            this.own = own;
        }

        @Override
        public void seen(ZnodeStore.Listing children) {
            ownWatched(true);
        }

        @Override
        public void released() {
            gone();
        }

        /**
         * A holder's node may have been deleted with its session, whose end the server reports later: a check shows the
         * cause.
         */
        @Override
        public void gone() {
            ownWatched(false);
            if (isHeld()) {
                sessionQueue().session().nodeChecks().reported(QueueEntry.this);
            } else {
                nodeGone(own);
            }
        }

        @Override
        public void watchLost(Response<?> why) {
            ownWatched(false);
            stopWatchingOwn = null;
            boolean lost = why.code() == Status.CONNECTION_LOSS;
            sessionQueue().session().connection().whenConnected(() -> {
                if (lost && node().equals(Optional.of(own)) && replacement == null) {
                    watchOwn();
                }
                lookAgain();
            });
        }
    }

    /** Handles the deletion of the node by another client. */
    @Override
    public void nodeGone(NodeName own) {
        if (node().equals(Optional.of(own))) {
            shell.on(new Event.OwnNodeGone(index));
        }
    }

    // ---- release requests

    void openRevocationNode(RevocationNode.Holder holder) {
        if (revocationNode == null) {
            revocationNode = new RevocationNode(sessionQueue().session(), this, node().orElseThrow(), holder);
            revocationNode.open();
        }
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
    PendingDeletions.Removed removed(NodeName name) {
        return new PendingDeletions.Removed(
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
    }

    void replaced(Recipe by) {
        replacement = null;
        recipe = by;
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
