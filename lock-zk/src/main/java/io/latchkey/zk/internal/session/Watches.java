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
 * The one owner of the session's watches: however many listen to a node, the server is asked once. It recognises a clean
 * release, which is one transaction of a change and a deletion: the data watch tells the change, the child watch the
 * deletion, both with the transaction's zxid. Nothing else makes that pair: a plain deletion or an expiry tells only
 * deletions, a change by somebody has a zxid of its own, and after a reconnect (and from servers before 3.9) zxids are
 * -1 (docs/protocol.md, "Hand-over and the release mark").
 */
public final class Watches {
    private static final long NO_ZXID = -1;

    private final ClientContext context;
    private final Wire wire;
    private final Map<String, Watched> byPath = new HashMap<>();
    /** Paths whose watches are being taken back, as often as that is on the wire. */
    private final Multiset<String> removing = HashMultiset.create();

    /** What somebody wants to know of a node. Who was told that it is gone or out of sight listens no more. */
    public interface Listener {
        /** The node's holder let go. */
        void released();

        /** The node went in another way. */
        void gone();

        /** The watch is no more and says nothing. */
        void blind(Response<?> why);

        /** The node's data when the watch on it was set, maybe for another listener and before this one listened. */
        default void seen(ZnodeStore.NodeData data) {}

        /** The node's children when the watch on them was set, maybe for somebody else and before this one listened. */
        default void seen(ZnodeStore.Listing children) {}

        /** The node's data changed; that is told once. */
        default void changed() {}

        /** The node's children changed; that is told once. */
        default void childrenChanged() {}
    }

    /** What is watched of a node. */
    private enum Of {
        /** Fires on a change of the data and on deletion. */
        DATA,
        /** Fires on a change of the children and on deletion; a request has no children. */
        CHILDREN
    }

    /** How far the watch on something is. */
    private enum Armed {
        NOT,
        ASKED_FOR,
        /** By the server. */
        CONFIRMED
    }

    /** One for each node that is watched, of which a client may have many thousands. */
    private static final class Watched {
        /** One as a rule. */
        private Set<Listener> listeners = Set.of();

        private Armed data = Armed.NOT;
        private Armed children = Armed.NOT;
        /** The children when the watch on them was confirmed. Who joins later may know them as they were before that. */
        private ZnodeStore.@Nullable Listing seen;
        /** The data when the watch on it was confirmed. */
        private ZnodeStore.@Nullable NodeData seenData;

        private long changedBy = NO_ZXID;

        Armed of(Of what) {
            return what == Of.DATA ? data : children;
        }

        void set(Of what, Armed now) {
            if (what == Of.DATA) {
                data = now;
            } else {
                children = now;
            }
        }

        boolean isArmed() {
            return data != Armed.NOT || children != Armed.NOT;
        }

        /** It fired; before it was confirmed that was an older one, and this one is still to come. */
        void fired(Of what) {
            if (of(what) == Armed.CONFIRMED) {
                set(what, Armed.NOT);
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

        /** Says whether nobody is left. */
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

    Watches(ClientContext context, Wire wire) {
        this.context = context;
        this.wire = wire;
    }

    /** Watches a node that may be released: its data and its children, in one flight. */
    public Runnable watchForRelease(String path, Listener listener) {
        watch(path, listener, Of.DATA);
        return watch(path, listener, Of.CHILDREN);
    }

    /** Watches a node's data. */
    public Runnable watchData(String path, Listener listener) {
        return watch(path, listener, Of.DATA);
    }

    /** Watches who comes and goes under a node, and the node's own going; a request has no children. */
    public Runnable watchChildren(String path, Listener listener) {
        return watch(path, listener, Of.CHILDREN);
    }

    /** Watches the own node. The watch is never taken back: it goes with the node. */
    public Runnable watchOwn(String path, Listener listener) {
        var unused = watchChildren(path, listener);
        return () -> byPath.computeIfPresent(path, (p, watched) -> watched.remove(listener) ? null : watched);
    }

    private Runnable watch(String path, Listener listener, Of what) {
        Watched watched = byPath.computeIfAbsent(path, p -> new Watched());
        watched.add(listener);
        if (watched.of(what) == Armed.NOT) {
            watched.set(what, Armed.ASKED_FOR);
            switch (what) {
                case DATA ->
                    wire.<ZnodeStore.NodeData>ask(then -> wire.port().watchData(path, then), answer -> {
                        if (armed(path, watched, what, answer)) {
                            watched.seenData = answer.get();
                            watched.listening().forEach(told -> told.seen(answer.get()));
                        }
                    });
                case CHILDREN ->
                    wire.<ZnodeStore.Listing>ask(then -> wire.port().watchChildren(path, then), answer -> {
                        if (armed(path, watched, what, answer)) {
                            watched.seen = answer.get();
                            watched.listening().forEach(told -> told.seen(answer.get()));
                        }
                    });
            }
        } else if (what == Of.CHILDREN && watched.seen != null && watched.children == Armed.CONFIRMED) {
            listener.seen(watched.seen);
        } else if (what == Of.DATA && watched.data == Armed.CONFIRMED) {
            context.serially(() -> {
                if (watched.data == Armed.CONFIRMED && watched.listeners.contains(listener)) {
                    listener.seen(Objects.requireNonNull(watched.seenData));
                }
            });
        }
        return () -> stop(path, watched, listener);
    }

    public void fired(String path, ZnodeStore.Change change, long zxid) {
        Watched watched = byPath.get(path);
        if (watched == null) {
            return;
        }
        switch (change) {
            case DATA -> {
                watched.changedBy = zxid;
                watched.fired(Of.DATA);
                watched.listening().forEach(Listener::changed);
            }
            case CHILDREN -> {
                watched.fired(Of.CHILDREN);
                watched.listening().forEach(Listener::childrenChanged);
            }
            case DELETED -> {
                byPath.remove(path);
                boolean released = zxid > 0 && zxid == watched.changedBy;
                watched.listening().forEach(released ? Listener::released : Listener::gone);
            }
            case WATCH_REMOVED -> {
                if (removing.contains(path)) {
                    // The one that was taken back; there may be a new one by now.
                    return;
                }
                byPath.remove(path);
                Response<?> why = Response.failed(Status.CONNECTION_LOSS, "watch taken back");
                watched.listening().forEach(listener -> listener.blind(why));
            }
        }
    }

    /** Says whether the server has set it. */
    private boolean armed(String path, Watched watched, Of what, Response<?> answer) {
        if (answer.ok()) {
            watched.set(what, Armed.CONFIRMED);
        } else if (byPath.remove(path, watched)) {
            watched.set(what, Armed.NOT);
            if (answer.code() != Status.NO_NODE && watched.isArmed()) {
                // The other one comes back with the connection, and nobody would own it.
                takeBack(path);
            }
            for (Listener listener : watched.listening()) {
                if (answer.code() == Status.NO_NODE) {
                    listener.gone();
                } else {
                    listener.blind(answer);
                }
            }
        }
        return answer.ok();
    }

    private void stop(String path, Watched watched, Listener listener) {
        if (watched.remove(listener) && byPath.remove(path, watched) && watched.isArmed()) {
            takeBack(path);
        }
    }

    private void takeBack(String path) {
        removing.add(path);
        wire.port().removeWatches(path, () -> context.serially(() -> removing.remove(path)));
    }
}
