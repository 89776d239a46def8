// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The watches of one session, at most one of each type per node, however many listeners the node has.
 *
 * <p>A clean release is one transaction that changes a node's data and deletes the node. The data watch reports the
 * change and the child watch the deletion, both with the zxid of that transaction. Nothing else produces this pair: a
 * plain deletion or an expiry changes no data, and another client's change has a zxid of its own. After a reconnect,
 * and from servers before 3.9, the zxids are -1 (docs/protocol.md, "Hand-over and the release mark").
 */
public final class Watches {
    private static final long NO_ZXID = -1;

    private final ClientContext context;
    private final Connection connection;
    private final Map<String, WatchedNode> byPath = new HashMap<>();
    /** Paths whose watches are being removed, once for each removal without a response. */
    private final Multiset<String> removing = HashMultiset.create();

    /** Callbacks for a watched node. The last for a listener is {@code released}, {@code gone} or {@code watchLost}. */
    public interface Listener {
        /** The holder of the node has released it. */
        default void released() {
            gone();
        }

        /** The node was deleted in another way, or does not exist. */
        void gone();

        /** The watch could not be set or was removed; the state of the node is unknown. */
        void watchLost(Response<?> why);

        /** The node's data when the watch was set, which may have been before this listener was added. */
        default void seen(ZnodeStore.NodeData data) {}

        /** The node's children when the watch was set, which may have been before this listener was added. */
        default void seen(ZnodeStore.Listing children) {}

        /** The node's data changed. The watch has fired and reports no further change. */
        default void changed() {}

        /** The node's children changed. The watch has fired and reports no further change. */
        default void childrenChanged() {}
    }

    /** The two types of watches. */
    private enum WatchType {
        /** Fires on a change of the data and on deletion. */
        DATA,
        /** Fires on a change of the children and on deletion; a request has no children. */
        CHILDREN
    }

    /** The state of one watch. */
    private enum WatchState {
        NOT,
        ASKED_FOR,
        /** The server has confirmed the watch. */
        CONFIRMED
    }

    /** The watches and listeners of one node. A client may have many thousands of these. */
    private static final class WatchedNode {
        /** Usually a single listener. */
        private Set<Listener> listeners = Set.of();

        private WatchState data = WatchState.NOT;
        private WatchState children = WatchState.NOT;
        /** The children when the watch was confirmed. A listener that is added later may know an older list. */
        private ZnodeStore.@Nullable Listing seen;
        /** The data when the watch was confirmed. */
        private ZnodeStore.@Nullable NodeData seenData;

        private long changedBy = NO_ZXID;

        WatchState of(WatchType what) {
            return what == WatchType.DATA ? data : children;
        }

        void set(WatchType what, WatchState now) {
            if (what == WatchType.DATA) {
                data = now;
            } else {
                children = now;
            }
        }

        boolean isArmed() {
            return data != WatchState.NOT || children != WatchState.NOT;
        }

        /**
         * Notes that a watch fired. An event before the confirmation is of an older watch; the new one is still to
         * fire.
         */
        void fired(WatchType what) {
            if (of(what) == WatchState.CONFIRMED) {
                set(what, WatchState.NOT);
            }
        }

        void add(Listener listener) {
            if (listeners.isEmpty()) {
                listeners = Set.of(listener);
            } else if (!listeners.contains(listener)) {
                listeners = listeners.size() == 1 ? new LinkedHashSet<>(listeners) : listeners;
                listeners.add(listener);
            }
        }

        /** Removes the listener and returns whether none is left. */
        boolean remove(Listener listener) {
            if (listeners.size() > 1) {
                listeners.remove(listener);
            } else if (listeners.contains(listener)) {
                listeners = Set.of();
            }
            return listeners.isEmpty();
        }

        List<Listener> listening() {
            return List.copyOf(listeners);
        }
    }

    Watches(ClientContext context, Connection connection) {
        this.context = context;
        this.connection = connection;
    }

    /** Watches a node's data and its children in one flight, which together show a clean release. */
    public Runnable watchForRelease(String path, Listener listener) {
        watch(path, listener, WatchType.DATA);
        return watch(path, listener, WatchType.CHILDREN);
    }

    public Runnable watchData(String path, Listener listener) {
        return watch(path, listener, WatchType.DATA);
    }

    /** Watches a node's children and its deletion. A request has no children. */
    public Runnable watchChildren(String path, Listener listener) {
        return watch(path, listener, WatchType.CHILDREN);
    }

    /** Watches a node of this session. The watch is never removed: it ends with the node. */
    public Runnable watchOwn(String path, Listener listener) {
        var unused = watchChildren(path, listener);
        return () -> byPath.computeIfPresent(path, (p, watched) -> watched.remove(listener) ? null : watched);
    }

    private Runnable watch(String path, Listener listener, WatchType what) {
        WatchedNode watched = byPath.computeIfAbsent(path, p -> new WatchedNode());
        watched.add(listener);
        if (watched.of(what) == WatchState.NOT) {
            watched.set(what, WatchState.ASKED_FOR);
            switch (what) {
                case DATA ->
                    connection.<ZnodeStore.NodeData>ask(
                            () -> byPath.get(path) == watched,
                            then -> connection.store().watchData(path, then),
                            answer -> {
                                if (armed(path, watched, what, answer)) {
                                    watched.seenData = answer.get();
                                    watched.listening().forEach(each -> each.seen(answer.get()));
                                }
                            });
                case CHILDREN ->
                    connection.<ZnodeStore.Listing>ask(
                            () -> byPath.get(path) == watched,
                            then -> connection.store().watchChildren(path, then),
                            answer -> {
                                if (armed(path, watched, what, answer)) {
                                    watched.seen = answer.get();
                                    watched.listening().forEach(each -> each.seen(answer.get()));
                                }
                            });
            }
        } else if (watched.of(what) == WatchState.CONFIRMED) {
            switch (what) {
                case DATA ->
                    context.execute(() -> {
                        if (watched.data == WatchState.CONFIRMED && watched.listeners.contains(listener)) {
                            listener.seen(Objects.requireNonNull(watched.seenData));
                        }
                    });
                case CHILDREN -> listener.seen(Objects.requireNonNull(watched.seen));
            }
        }
        return () -> stop(path, watched, listener);
    }

    public void fired(String path, ZnodeStore.Change change, long zxid) {
        WatchedNode watched = byPath.get(path);
        if (watched == null) {
            return;
        }
        switch (change) {
            case DATA -> {
                watched.changedBy = zxid;
                watched.fired(WatchType.DATA);
                watched.listening().forEach(Listener::changed);
            }
            case CHILDREN -> {
                watched.fired(WatchType.CHILDREN);
                watched.listening().forEach(Listener::childrenChanged);
            }
            case DELETED -> {
                byPath.remove(path);
                boolean released = zxid != NO_ZXID && zxid == watched.changedBy;
                watched.listening().forEach(released ? Listener::released : Listener::gone);
            }
            case WATCH_REMOVED -> {
                if (removing.contains(path)) {
                    // The event is of the watch that was removed; a new one may have been set since.
                    return;
                }
                byPath.remove(path);
                Response<?> why = Response.failed(Status.CONNECTION_LOSS, "watch removed");
                watched.listening().forEach(listener -> listener.watchLost(why));
            }
        }
    }

    /** Handles the response to setting a watch, and returns whether the server has set it. */
    private boolean armed(String path, WatchedNode watched, WatchType what, Response<?> answer) {
        if (answer.ok()) {
            watched.set(what, WatchState.CONFIRMED);
        } else if (byPath.remove(path, watched)) {
            watched.set(what, WatchState.NOT);
            if (answer.code() != Status.NO_NODE && watched.isArmed()) {
                // ZooKeeper's client would set the other watch again on a new connection, without a listener here.
                takeBack(path);
            }
            for (Listener listener : watched.listening()) {
                if (answer.code() == Status.NO_NODE) {
                    listener.gone();
                } else {
                    listener.watchLost(answer);
                }
            }
        }
        return answer.ok();
    }

    private void stop(String path, WatchedNode watched, Listener listener) {
        if (watched.remove(listener) && byPath.remove(path, watched) && watched.isArmed()) {
            takeBack(path);
        }
    }

    /** Forgets all listeners: a caller may keep a lease of this session, which must not keep those of others alive. */
    void end() {
        byPath.clear();
    }

    private void takeBack(String path) {
        removing.add(path);
        connection.store().removeWatches(path, () -> context.execute(() -> removing.remove(path)));
    }
}
