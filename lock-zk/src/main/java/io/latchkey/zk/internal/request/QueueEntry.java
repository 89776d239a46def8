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
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One member of a request: its place in the queue of one path, and what it listens to there. Tells its request what
 * becomes of the nodes ahead, of its own node and of the path's capacity.
 *
 * <p>It is long because what it is told of a node ahead, of its own node and of the path decides together what it watches: a hand-over
 * counts only while the own node is watched.
 */
final class QueueEntry implements QueueMember {
    private final Acquisition machine;
    private final Shell shell;
    private final int index;
    private final String path;
    private final String lock;
    private Recipe recipe;
    private final String label;

    private final Watches.Listener pathListener = new PathListener();

    private @Nullable SessionQueue lane;
    /** What is watched ahead: few nodes, mostly one. */
    private final List<Ahead> ahead = new ArrayList<>(0);

    /** The transactions that created nodes ahead, as far as that was seen. */
    private final Map<NodeName, Long> createdAhead = new HashMap<>(0);
    /** The one that it follows in the line; null if it does not follow. */
    private Decision.@Nullable Follow following;

    private @Nullable Runnable stopWatchingOwn;
    /** The server has confirmed the watch on the own node, and it has told nothing since. */
    private boolean ownWatched;

    private boolean leftToWatch;
    private @Nullable Runnable stopWatchingPath;
    /** The queue in which it led those that wait; null if it does not lead. */
    private @Nullable Queue leading;
    /** What replaces the node, while nobody knows whether it has. */
    private @Nullable NodeName replacement;

    private @Nullable RevocationNode ear;

    /** A node ahead, and how to stop watching it. */
    private record Ahead(NodeName node, Runnable stop) {}

    /** The shell of the request that an entry is a member of. */
    interface Shell {
        /** Something happened. */
        void on(Event event);

        /** The request cannot be served. */
        void fail(LockException error);

        /** Whether it can learn later where it stands: the caller waits, and no two of its kind hold at once. */
        boolean canBePutOff();
    }

    /**
     * @param machine of its request, which it asks how far it is
     * @param index which member it is of the request, from 0
     */
    QueueEntry(Acquisition machine, Shell shell, int index, LockTarget member) {
        this.machine = machine;
        this.shell = shell;
        this.index = index;
        this.path = member.path();
        this.lock = member.lock();
        this.recipe = member.recipe();
        this.label = member.label();
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
    public boolean canBePutOff() {
        return shell.canBePutOff();
    }

    @Override
    public void listed(Queue queue) {
        shell.on(new Event.Listed(index, queue));
    }

    @Override
    public void drained() {
        shell.on(new Event.Drained());
    }

    @Override
    public void fail(LockException error) {
        shell.fail(error);
    }

    @Override
    public String path() {
        return path;
    }

    /** The lock that people know it by. */
    String lock() {
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

    void join(SessionQueues queues) {
        lane = queues.at(path);
        lane.join();
    }

    /** The session is over: nothing of it counts any more. */
    void leaveSession() {
        lane = null;
        ahead.clear();
        createdAhead.clear();
        following = null;
        stopWatchingOwn = null;
        ownWatched = false;
        leftToWatch = false;
        stopWatchingPath = null;
        leading = null;
        replacement = null;
        ear = null;
    }

    SessionQueue lane() {
        return Objects.requireNonNull(lane, "the request has no session");
    }

    // ---- what is ahead

    /** Watches what it waits for and nothing else. */
    void watch(Decision.Wait how) {
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
                lane().watch(this, next);
            }
        }
        if (how instanceof Decision.Follow follow) {
            following = follow;
            boolean unused = leadIfAheadMayHold();
        }
    }

    /**
     * The one that it follows may hold already if its node is older than the path's data ({@link Decision.Follow}). One of this
     * session need not be asked. Says whether it leads now.
     */
    private boolean leadIfAheadMayHold() {
        if (following == null || following.orLead().isEmpty()) {
            return false;
        }
        NodeName last = following.ahead();
        Optional<QueueMember> here = lane().nodes().at(last);
        boolean mayHold = here.isPresent()
                ? here.get().isReady()
                : createdAhead.getOrDefault(last, Long.MAX_VALUE)
                        < lane().reader().writtenAt();
        if (mayHold) {
            watch(following.orLead().get());
        }
        return mayHold;
    }

    @Override
    public boolean isReady() {
        return machine.isReady(index);
    }

    /** The path's data has the capacity; its children matter to who leads the line. */
    private void watchPath(Decision.Wait how) {
        Watches watches = lane().session().watches();
        leading = how instanceof Decision.Lead lead ? lead.seen() : null;
        if (!lane().naming().isShared()) {
            stopWatchingPath = watches.watchData(path, pathListener);
        }
        if (leading != null) {
            stopWatchingPath = watches.watchChildren(path, pathListener);
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

    /** It is watched no more, by itself. */
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
    public void told(NodeName former) {
        stopWatching(former);
        lookAgain();
    }

    @Override
    public void lookAgain() {
        if (isWaiting()) {
            shell.on(new Event.LookAgain(index));
        }
    }

    private void blind(Response<?> why) {
        if (why.code() == Status.NO_AUTH) {
            String shown = lane().session().context().shown(path);
            shell.fail(Errors.denied(shown, "watch the queue", why));
        } else if (why.code() == Status.OTHER) {
            lane().session().heartbeat().afterBeat(this::lookAgain);
        } else {
            lane().session().wire().whenConnected(this::lookAgain);
        }
    }

    @Override
    public Watches.Listener aheadListener(NodeName node) {
        return new Watches.Listener() {
            @Override
            public void released() {
                if (ownWatched && lane().session().wire().connected()) {
                    QueueEntry.this.released(node);
                } else {
                    // Its turn may be another's: the own node may have gone before, and nothing has told. On a new
                    // connection ZooKeeper's client sets its watches again in several packets, the one on the own node
                    // maybe last; the barrier is sent behind all of them, and its answer comes behind what they tell.
                    gone();
                }
            }

            @Override
            public void gone() {
                QueueEntry.this.gone(node);
            }

            /** It may have told before the watch was set. */
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
                    told(node);
                }
            }

            @Override
            public void blind(Response<?> why) {
                forgetAhead(node);
                QueueEntry.this.blind(why);
            }
        };
    }

    /** Listens to the path. What changed before a watch was set shows in what is seen then; what came after is told. */
    private final class PathListener implements Watches.Listener {
        @Override
        public void seen(ZnodeStore.NodeData data) {
            if (lane != null) {
                lane.reader().learn(data);
            }
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
        public void blind(Response<?> why) {
            stopWatchingPath = null;
            QueueEntry.this.blind(why);
        }
    }

    // ---- the own node

    /** Must be there where a mark is taken for a turn, so it is watched (docs/protocol.md, "Hand-over and the release mark"). */
    @Override
    public void watchOwn() {
        if (stopWatchingOwn == null) {
            NodeName own = node().orElseThrow();
            stopWatchingOwn = lane().session().watches().watchOwn(lane().pathOf(own.text()), new OwnListener(own));
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
        lane().session().nodeChecks().update(this);
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

        /** A holder's node may have gone with its session, whose server tells of that first: a check knows the cause. */
        @Override
        public void gone() {
            ownWatched(false);
            if (isHeld()) {
                lane().session().nodeChecks().told(QueueEntry.this);
            } else {
                nodeGone(own);
            }
        }

        @Override
        public void blind(Response<?> why) {
            ownWatched(false);
            stopWatchingOwn = null;
            boolean lost = why.code() == Status.CONNECTION_LOSS;
            lane().session().wire().whenConnected(() -> {
                if (lost && node().equals(Optional.of(own)) && replacement == null) {
                    watchOwn();
                }
                lookAgain();
            });
        }
    }

    /** Somebody deleted the node; what it was worth goes with it. */
    @Override
    public void nodeGone(NodeName own) {
        if (node().equals(Optional.of(own))) {
            shell.on(new Event.OwnNodeGone(index));
        }
    }

    // ---- being asked to let go

    void openEar(RevocationNode.Holder holder) {
        if (ear == null) {
            ear = new RevocationNode(lane().session(), this, node().orElseThrow(), holder);
            ear.open();
        }
    }

    @Override
    public Optional<NodeName> takeEar() {
        Optional<NodeName> taken = Optional.ofNullable(ear).map(RevocationNode::close);
        ear = null;
        return taken;
    }

    /** The entries whose nodes are there, with these nodes. */
    static List<SessionNode.Standing> standing(List<QueueEntry> entries) {
        List<SessionNode.Standing> standing = new ArrayList<>(entries.size());
        for (QueueEntry entry : entries) {
            entry.node().ifPresent(name -> standing.add(new SessionNode.Standing(entry, name)));
        }
        return standing;
    }

    /** What its departure takes along. */
    PendingDeletions.Left leaves(NodeName name) {
        return new PendingDeletions.Left(lane().nodes(), name, isExclusive(), replacement(), takeEar());
    }

    // ---- replacing the node

    /** From now on until {@link #replaced} the node may be there, or {@code by} in its place. */
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

    /** The name to ask the server for at the present attempt. */
    String prefix(String id) {
        return path + '/' + lane().naming().prefix(recipe.purpose().kind(), recipe.tag(), id, recipe.permits());
    }
}
