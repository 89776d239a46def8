// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import io.latchkey.zk.internal.validity.Clock;
import io.latchkey.zk.internal.validity.ClockReading;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/** A handle of ZooKeeper's client, owned or borrowed, and all that it reports of its session. */
final class SessionHandle {
    /** Whether events have zxids; those of ZooKeeper's client before 3.9 do not. */
    private static final boolean EVENTS_HAVE_ZXIDS = Arrays.stream(WatchedEvent.class.getMethods())
            .anyMatch(method -> method.getName().equals("getZxid"));

    private static final AtomicLong BORROWED = new AtomicLong();

    private static final int LOOKS_IN_A_TIMEOUT = 2;

    private final ZooKeeper zooKeeper;
    private final Ownership ownership;
    private final ZnodeStore.Listener listener;
    private final Executor handles;
    private final Watcher watcher = event -> deliver(() -> process(event));
    private final Watcher sessionWatcher = event -> deliver(() -> processSessionWatch(event));
    /**
     * The node whose watch brings the events of a borrowed session. It is never created, and no other watch is set on
     * it.
     */
    private final String eventNode = "/latchkey-session-" + BORROWED.incrementAndGet();

    private volatile boolean givenBack;
    private volatile boolean closing;
    /** When the last connection was lost; null while connected. */
    private volatile @Nullable ClockReading disconnectedSince;

    private volatile Clock.@Nullable Timer nextLook;
    /** The session timeout that was granted last. */
    private volatile int timeoutMillis;
    /** The id of the session at the first connection that is not read-only; 0 before. On the event thread. */
    private volatile long session;
    /** The handle's only thread for events and responses; null until the first of them. */
    private volatile @Nullable Thread eventThread;

    private final ConnectAttempts attempts;
    private final SessionNodes nodes;
    /** Whether the handle has a former session of the client, which is closed as soon as it is connected. */
    private final boolean takesOver;

    /** Whether the client closes the handle. */
    private enum Ownership {
        OWN,
        BORROWED
    }

    private SessionHandle(ZooKeeper handle, Executor handles, ZnodeStore.Listener listener) {
        this.handles = handles;
        this.zooKeeper = handle;
        this.nodes = SessionNodes.ofBorrowed(handle);
        this.takesOver = false;
        this.ownership = Ownership.BORROWED;
        this.listener = listener;
        this.attempts = new ConnectAttempts(listener::now);
    }

    /** Opens a handle that the client owns. */
    SessionHandle(HandleOpener opener, Executor handles, ZnodeStore.Listener listener) throws IOException {
        this.handles = handles;
        this.ownership = Ownership.OWN;
        this.listener = listener;
        this.attempts = new ConnectAttempts(listener::now);
        // The handle's threads run before its constructor returns; events wait until the field is there.
        synchronized (watcher) {
            HandleOpener.Opened opened = opener.open(watcher, attempts);
            this.zooKeeper = opened.handle();
            this.takesOver = opened.takesOver();
            this.nodes = opened.nodes();
        }
    }

    /**
     * Borrows a handle. Its default watcher belongs to the caller, so a watch brings the session's events. It is on a
     * node that is never created: that needs no right, fires for nothing else, and can be removed.
     */
    static SessionHandle borrow(ZooKeeper handle, Executor handles, ZnodeStore.Listener listener) {
        SessionHandle borrowed = new SessionHandle(handle, handles, listener);
        borrowed.watchSession();
        return borrowed;
    }

    ZooKeeper zooKeeper() {
        return zooKeeper;
    }

    SessionNodes nodes() {
        return nodes;
    }

    /** Returns the watcher of nodes. */
    Watcher watcher() {
        return watcher;
    }

    /** Returns the id of the session at the first connection that is not read-only; 0 before. */
    long session() {
        return session;
    }

    private void watchSession() {
        if (givenBack) {
            return;
        }
        zooKeeper.exists(
                eventNode,
                sessionWatcher,
                (rc, path, ctx, stat) -> deliver(() -> {
                    eventThread = Thread.currentThread();
                    if (givenBack) {
                        close(() -> {});
                        return;
                    }
                    switch (ZooKeeperResults.status(rc)) {
                        case OK, NO_NODE -> connected(Optional.empty());
                        case LOGIN_REFUSED -> listener.loginRefused();
                        case SESSION_EXPIRED -> listener.expired();
                        case CONNECTION_LOSS -> watchSession();
                        // An overloaded server refused the request.
                        default -> listener.after(Throttling.PAUSE, () -> deliver(this::watchSession));
                    }
                }),
                null);
    }

    private void processSessionWatch(WatchedEvent event) {
        if (event.getType() == Watcher.Event.EventType.None) {
            process(event);
        } else if (!givenBack) {
            watchSession();
        }
    }

    /** Delivers a response or an event. What that throws would end in ZooKeeper's client, and nothing would follow. */
    void deliver(Runnable delivery) {
        try {
            delivery.run();
        } catch (Throwable broken) {
            listener.failed(broken);
        }
    }

    /** Closes the handle, or gives a borrowed one back. {@code then} runs once that is done. */
    void close(Runnable then) {
        closing = true;
        Clock.Timer look = nextLook;
        if (look != null) {
            look.cancel();
        }
        if (ownership == Ownership.BORROWED) {
            givenBack = true;
            removeWatches(eventNode, then);
            return;
        }
        // Elsewhere: it takes its time, and on an interrupted thread ZooKeeper's handle leaves the session to its
        // timeout.
        handles.execute(() -> closeHandle(then));
    }

    /** Returns whether it is closed or being closed. On any thread. */
    boolean isClosing() {
        return closing;
    }

    private void closeHandle(Runnable then) {
        try {
            zooKeeper.close();
        } catch (InterruptedException cannotHappenHere) {
            Thread.currentThread().interrupt();
        } finally {
            then.run();
        }
    }

    /** Returns whether the handle delivers its responses on this thread. */
    boolean answersOn(Thread thread) {
        return thread == eventThread;
    }

    /** Not {@code removeWatches(watcher)}, which is sent as a check and removes nothing at the server. */
    void removeWatches(String path, Runnable then) {
        zooKeeper.removeAllWatches(path, Watcher.WatcherType.Any, true, (rc, p, ctx) -> deliver(then), null);
    }

    private void process(WatchedEvent event) {
        eventThread = Thread.currentThread();
        switch (event.getType()) {
            case None -> {
                boolean closesSession;
                // The constructor may still wait for the handle.
                synchronized (watcher) {
                    closesSession = takesOver;
                }
                sessionChanged(event.getState(), closesSession);
            }
            case NodeDataChanged -> listener.fired(event.getPath(), ZnodeStore.Change.DATA, zxid(event));
            case NodeDeleted -> listener.fired(event.getPath(), ZnodeStore.Change.DELETED, zxid(event));
            case NodeChildrenChanged -> listener.fired(event.getPath(), ZnodeStore.Change.CHILDREN, zxid(event));
            case DataWatchRemoved, ChildWatchRemoved ->
                listener.fired(event.getPath(), ZnodeStore.Change.WATCH_REMOVED, zxid(event));
            case NodeCreated, PersistentWatchRemoved -> {
                // This store sets no watch that fires these.
            }
        }
    }

    private static long zxid(WatchedEvent event) {
        return EVENTS_HAVE_ZXIDS ? event.getZxid() : WatchedEvent.NO_ZXID;
    }

    /**
     * Reports the connection if it is one of the same session as before. Some servers other than ZooKeeper's answer a
     * reconnect by a new session: then the former one is over for this client, whose leases are not of the new one.
     *
     * <p>A handle that may be read-only has another id for as long as it is. Such a session has no nodes, so its end
     * says nothing. The state is looked at first: ZooKeeper's client sets the id before the state.
     */
    private void connected(Optional<ZnodeStore.Attempt> attempted) {
        boolean readOnly = zooKeeper.getState() == ZooKeeper.States.CONNECTEDREADONLY;
        long id = zooKeeper.getSessionId();
        disconnectedSince = null;
        timeoutMillis = zooKeeper.getSessionTimeout();
        if (session == 0 && !readOnly) {
            session = id;
            if (ownership == Ownership.OWN) {
                lookLater();
            }
        }
        if (session == 0 || id == session) {
            listener.connected(zooKeeper.getSessionTimeout(), attempted);
        } else {
            listener.noted("The servers have answered a reconnect by another session, 0x" + Long.toHexString(id)
                    + " in place of 0x" + Long.toHexString(session) + ": the former one is over for this client");
            listener.expired();
        }
    }

    /**
     * Looks twice in a session timeout whether the handle is of use. Its event thread may have died, for example by an
     * interrupt. Or no server accepts its session: servers that have lost their data refuse a client that has seen more
     * than they have, and ZooKeeper's client tries again for ever.
     */
    private void lookLater() {
        Clock.Timer look = listener.after(Duration.ofMillis(timeoutMillis / LOOKS_IN_A_TIMEOUT), this::look);
        nextLook = look;
        if (closing) {
            look.cancel();
        }
    }

    private void look() {
        if (closing) {
            return;
        }
        ClockReading since = disconnectedSince;
        Thread events = eventThread;
        long silentMillis = since == null ? 0 : listener.now().since(since).toMillis();
        if (silentMillis >= 2L * timeoutMillis || (events != null && !events.isAlive())) {
            listener.noted("No server has accepted the ZooKeeper session for " + silentMillis
                    + " ms, or the handle's event thread has ended. The handle is given up");
            listener.expired();
        } else {
            lookLater();
        }
    }

    @SuppressWarnings("deprecation") // The switch has to be exhaustive; the deprecated states never occur.
    private void sessionChanged(Watcher.Event.KeeperState state, boolean closesSession) {
        switch (state) {
            case SyncConnected -> {
                if (closesSession) {
                    close(() -> {}); // which is reported as Closed
                } else {
                    connected(attempts.next());
                }
            }
            case Disconnected, ConnectedReadOnly -> {
                if (disconnectedSince == null) {
                    disconnectedSince = listener.now();
                }
                listener.disconnected();
            }
            case Expired, Closed -> listener.expired();
            case AuthFailed -> listener.loginRefused();
            case SaslAuthenticated, Unknown, NoSyncConnected -> {
                // Not relevant for locks.
            }
        }
    }
}
