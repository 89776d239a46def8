package io.latchkey.zk.session;

import java.util.HashMap;
import java.util.Map;

/**
 * The one owner of the session's watches: at most one listener to a node. It recognises a clean release, which is one
 * transaction of a change and a deletion: the data watch tells the change, the child watch the deletion, both with the
 * transaction's zxid. Nothing else makes that pair: a plain deletion or an expiry tells only deletions, a change by
 * somebody has a zxid of its own, and after a reconnect (and from servers before 3.9) zxids are -1.
 */
final class Watches {
    private static final long NO_ZXID = -1;

    private final Session session;
    private final Map<String, Watched> byPath = new HashMap<>();

    /** What a request wants to know of a node. */
    interface Listener {
        /** The node's holder let go. */
        void released();

        /** The node went in another way. */
        void gone();

        /** The watch is no more and says nothing. */
        void blind(Answer<?> why);

        /** Its children changed. */
        default void childrenChanged() {
            blind(Answer.failed(Code.OK, "children changed"));
        }
    }

    private static final class Watched {
        final Listener listener;
        long changedBy = NO_ZXID;

        Watched(Listener listener) {
            this.listener = listener;
        }
    }

    Watches(Session session) {
        this.session = session;
    }

    /** Watches a node that may be released: its data and its children, in one flight. */
    Runnable watchForRelease(String path, Listener listener) {
        Watched watched = put(path, listener);
        session.<ZooPort.NodeData>ask(
                then -> session.port().watchData(path, then), answer -> check(path, watched, answer));
        session.<ZooPort.Listing>ask(
                then -> session.port().watchChildren(path, then), answer -> check(path, watched, answer));
        return () -> stop(path, watched);
    }

    /** Watches the own node; of what can befall it, only deletion fires a child watch. It is never taken back: it goes
     * with the node. */
    Runnable watchOwn(String path, Listener listener) {
        Watched watched = put(path, listener);
        session.<ZooPort.Listing>ask(
                then -> session.port().watchChildren(path, then), answer -> check(path, watched, answer));
        return () -> byPath.remove(path, watched);
    }

    void fired(String path, ZooPort.Change change, long zxid) {
        Watched watched = byPath.get(path);
        if (watched == null) {
            return;
        }
        switch (change) {
            case DATA -> watched.changedBy = zxid;
            case DELETED -> {
                byPath.remove(path);
                if (zxid > 0 && zxid == watched.changedBy) {
                    watched.listener.released();
                } else {
                    watched.listener.gone();
                }
            }
            case CHILDREN -> {
                byPath.remove(path);
                watched.listener.childrenChanged();
            }
            case WATCH_REMOVED -> {
                byPath.remove(path);
                watched.listener.blind(Answer.failed(Code.OK, "watch taken back"));
            }
        }
    }

    private Watched put(String path, Listener listener) {
        Watched watched = new Watched(listener);
        byPath.put(path, watched);
        return watched;
    }

    private void check(String path, Watched watched, Answer<?> answer) {
        if (!answer.ok() && byPath.remove(path, watched)) {
            if (answer.code() == Code.NO_NODE) {
                watched.listener.gone();
            } else {
                watched.listener.blind(answer);
            }
        }
    }

    private void stop(String path, Watched watched) {
        if (byPath.remove(path, watched)) {
            session.port().removeWatches(path);
        }
    }
}
