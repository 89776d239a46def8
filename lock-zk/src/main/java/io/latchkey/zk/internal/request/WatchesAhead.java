// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.zk.internal.path.QueueMember;
import io.latchkey.zk.internal.path.SessionQueue;
import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.queue.Tag;
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
 * The watches of a waiting request: on the nodes ahead that it waits for, and with a semaphore on its path. It tells
 * the request of releases, deletions and announced grants.
 */
final class WatchesAhead {
    private final QueueMember member;
    private final OwnNodeWatch own;
    private final SessionQueue queue;
    private final Tag tag;
    private final Watches.Listener pathListener = new PathListener();
    /** The watched nodes, usually one. */
    private final List<WatchedNode> nodes = new ArrayList<>(0);

    /** The zxids of the transactions that created the nodes, as far as they are known. */
    private final Map<NodeName, Long> created = new HashMap<>(0);
    /** The predecessor that it follows in the chain; null if it does not follow. */
    private Decision.@Nullable Follow following;

    /** The queue in which it led the waiters; null if it does not lead. */
    private @Nullable Queue leading;

    private @Nullable Runnable stopWatchingPath;

    /** A watched node, and the action that ends the watch. */
    private record WatchedNode(NodeName node, Runnable stop) {}

    /**
     * @param own the watch on the node of {@code member}, without which no release is taken as a grant
     * @param tag the tag of the member's node
     */
    WatchesAhead(QueueMember member, OwnNodeWatch own, SessionQueue queue, Tag tag) {
        this.member = member;
        this.own = own;
        this.queue = queue;
        this.tag = tag;
    }

    /** Watches exactly the nodes that the request waits for. */
    void watch(Decision.Wait how) {
        boolean alone = how instanceof Decision.Blocked blocked && blocked.alone();
        List<NodeName> on = how instanceof Decision.Blocked blocked
                ? blocked.on()
                : how instanceof Decision.Follow follow ? List.of(follow.ahead()) : List.of();
        following = null;
        created.keySet().retainAll(on);
        for (WatchedNode former : List.copyOf(nodes)) {
            if (!on.contains(former.node())) {
                stop(former.node());
            }
        }
        if (tag == Tag.LEASE) {
            watchPath(how);
        }
        for (NodeName next : on) {
            if (nodes.stream().noneMatch(watched -> watched.node().equals(next))) {
                nodes.add(new WatchedNode(next, watch(next, alone)));
            }
        }
        if (how instanceof Decision.Follow follow) {
            following = follow;
            leadIfAheadMayHold();
        }
    }

    /**
     * Has the request notified when a node ahead is released or deleted: by its client if the node is of this session,
     * otherwise by a watch. Returns the action that ends this.
     *
     * @param alone whether nothing else is in the way: then a deletion says as much as a release
     */
    private Runnable watch(NodeName node, boolean alone) {
        return queue.nodes().follow(member, node).orElseGet(() -> {
            boolean grants = alone && !queue.naming().isShared();
            boolean mayMark = node.tag() == Tag.WRITE && !queue.naming().isShared();
            if (grants || mayMark) {
                own.watch();
            }
            Watches watches = queue.session().watches();
            Watches.Listener listener = listener(node, grants);
            String path = member.path().child(node);
            if (node.tag() == Tag.LEASE) {
                return watches.watchData(path, listener);
            }
            return mayMark && !grants ? watches.watchForRelease(path, listener) : watches.watchChildren(path, listener);
        });
    }

    /**
     * Leads instead of following if the predecessor may hold already: if its node is older than the path's data ({@link
     * Decision.Follow}). For a predecessor of this session its state is known.
     */
    private void leadIfAheadMayHold() {
        if (following == null || following.orLead().isEmpty()) {
            return;
        }
        NodeName last = following.ahead();
        Optional<QueueMember> here = queue.nodes().at(last);
        boolean mayHold = here.isPresent()
                ? here.get().isReady()
                : created.getOrDefault(last, Long.MAX_VALUE) < queue.content().writtenAt();
        if (mayHold) {
            watch(following.orLead().get());
        }
    }

    /** Watches the path's data, which has the capacity, and its children if the request leads the chain. */
    private void watchPath(Decision.Wait how) {
        Watches watches = queue.session().watches();
        leading = how instanceof Decision.Lead lead ? lead.seen() : null;
        stopWatchingPath = watches.watchData(member.path().node(), pathListener);
        if (leading != null) {
            stopWatchingPath = watches.watchChildren(member.path().node(), pathListener);
        }
    }

    void stop(NodeName former) {
        for (WatchedNode watched : List.copyOf(nodes)) {
            if (watched.node().equals(former)) {
                nodes.remove(watched);
                watched.stop().run();
            }
        }
    }

    /** Forgets a node whose watch has ended. */
    void forget(NodeName former) {
        nodes.removeIf(watched -> watched.node().equals(former));
    }

    void stop() {
        for (WatchedNode watched : List.copyOf(nodes)) {
            stop(watched.node());
        }
        leading = null;
        following = null;
        if (stopWatchingPath != null) {
            stopWatchingPath.run();
            stopWatchingPath = null;
        }
    }

    private void watchLost(Response<?> why) {
        if (why.code() == Status.NO_AUTH) {
            member.fail(Errors.of(member.path().shown(), Errors.Purpose.toSee("watch the queue"), why));
        } else if (why.code().isServerError()) {
            queue.session().heartbeat().afterBeat(member::lookAgain);
        } else {
            queue.session().connection().whenConnected(member::lookAgain);
        }
    }

    private Watches.Listener listener(NodeName node, boolean alone) {
        return new Watches.Listener() {
            @Override
            public void released() {
                if (own.isConfirmed() && queue.session().connection().connected()) {
                    member.unblocked(node);
                } else {
                    // The grant may not be for this request: the own node may have been deleted before, without an
                    // event yet. On a new connection ZooKeeper's client sets its watches again in several packets, the
                    // one on the own node maybe last. The barrier is sent behind all of them, and its response arrives
                    // behind their events.
                    member.gone(node);
                }
            }

            @Override
            public void gone() {
                if (alone) {
                    released();
                } else {
                    member.gone(node);
                }
            }

            /**
             * Decides again if the node was written before the watch was set: that write may have announced the grant.
             * The leader of the chain needs no announcement, and would be given the same node to watch again.
             */
            @Override
            public void seen(ZnodeStore.NodeData data) {
                if (node.tag() == Tag.LEASE) {
                    created.put(node, data.czxid());
                    leadIfAheadMayHold();
                    if (data.version() > 0 && leading == null) {
                        member.lookAgain();
                    }
                }
            }

            @Override
            public void changed() {
                if (node.tag() == Tag.LEASE) {
                    member.announced(node);
                }
            }

            @Override
            public void watchLost(Response<?> why) {
                forget(node);
                WatchesAhead.this.watchLost(why);
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
            queue.content().learn(data);
        }

        @Override
        public void seen(ZnodeStore.Listing children) {
            if (leading != null && !leading.isOf(children.children())) {
                member.lookAgain();
            }
        }

        @Override
        public void changed() {
            member.lookAgain();
        }

        @Override
        public void childrenChanged() {
            if (leading != null) {
                member.lookAgain();
            }
        }

        @Override
        public void gone() {
            stopWatchingPath = null;
            member.lookAgain();
        }

        @Override
        public void watchLost(Response<?> why) {
            stopWatchingPath = null;
            WatchesAhead.this.watchLost(why);
        }
    }
}
