// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import io.latchkey.zk.internal.threads.Waiting;
import io.latchkey.zk.internal.validity.ClockReading;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.CreateOptions;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.common.ZKConfig;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * The store that uses ZooKeeper's own client.
 *
 * <p>The class is long because it has every request of the locks, and all that a handle reports of its session.
 */
public final class ZooKeeperStore implements ZnodeStore {
    /** Whether events have zxids; those of ZooKeeper's client before 3.9 do not. */
    private static final boolean EVENTS_HAVE_ZXIDS = Arrays.stream(WatchedEvent.class.getMethods())
            .anyMatch(method -> method.getName().equals("getZxid"));

    private static final AtomicLong BORROWED = new AtomicLong();

    private static final Duration REFUSED_PAUSE = Duration.ofMillis(100);
    private static final int LOOKS_IN_A_TIMEOUT = 2;

    private static final int ANY_VERSION = -1;
    private static final byte[] EMPTY = new byte[0];

    private final ZooKeeper zooKeeper;
    private final Ownership ownership;
    private final List<ACL> acl;
    private final Listener listener;
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

    private volatile @Nullable CompletableFuture<Boolean> nextLook;
    /** The session timeout that was granted last. */
    private volatile int timeoutMillis;
    /** The id of the session at the first connection that is not read-only; 0 before. On the event thread. */
    private volatile long session;
    /** The handle's only thread for events and responses; null until the first of them. */
    private volatile @Nullable Thread eventThread;

    private final ConnectAttempts attempts;
    private final SessionNodes nodes;
    /** Opened the handle; null if it is borrowed. */
    private final @Nullable Opener opener;
    /** Whether the handle has a former session of the client, which is closed as soon as it is connected. */
    private final boolean takesOver;

    /** Whether this store closes the handle. */
    private enum Ownership {
        OWN,
        BORROWED
    }

    /** A way to open a handle that this store owns. */
    @FunctionalInterface
    public interface Opener {
        /**
         * Opens a handle.
         *
         * @param attempts to be notified of attempts to connect
         */
        ZooKeeper open(Watcher watcher, ConnectAttempts attempts) throws IOException;

        /** Returns whether the last opened handle has a former session, which is only to be closed. */
        default boolean takesOver() {
            return false;
        }

        /** Returns the ledger of the nodes of the last opened handle's session. */
        default SessionNodes nodes() {
            return SessionNodes.ofNewSession(0);
        }

        /** Creates the chroot of its handles again, as {@link ZnodeStore#makeRoot}, on a thread of {@code on}. */
        default void makeRoot(List<ACL> acl, Executor on, Consumer<Response<Boolean>> then) {
            then.accept(Response.failed(Status.NO_NODE, KeeperException.Code.NONODE.name()));
        }
    }

    private ZooKeeperStore(ZooKeeper handle, List<ACL> acl, Executor handles, Listener listener) {
        this.handles = handles;
        this.zooKeeper = handle;
        this.nodes = SessionNodes.ofBorrowed(handle);
        this.opener = null;
        this.takesOver = false;
        this.ownership = Ownership.BORROWED;
        // ZooKeeper's client asks whether it contains null, which an immutable list answers by throwing.
        this.acl = new ArrayList<>(acl);
        this.listener = listener;
        this.attempts = new ConnectAttempts(listener::now);
    }

    private ZooKeeperStore(Opener opener, List<ACL> acl, Executor handles, Listener listener) throws IOException {
        this.handles = handles;
        this.ownership = Ownership.OWN;
        this.opener = opener;
        // ZooKeeper's client asks whether it contains null, which an immutable list answers by throwing.
        this.acl = new ArrayList<>(acl);
        this.listener = listener;
        this.attempts = new ConnectAttempts(listener::now);
        // The handle's threads run before its constructor returns; events wait until the field is there.
        synchronized (watcher) {
            this.zooKeeper = opener.open(watcher, attempts);
            this.takesOver = opener.takesOver();
            this.nodes = opener.nodes();
        }
    }

    /**
     * Opens a new session, which this store owns.
     *
     * @param handles closes the handle
     */
    public static ZooKeeperStore open(Opener opener, List<ACL> acl, Executor handles, Listener listener)
            throws IOException {
        return new ZooKeeperStore(opener, acl, handles, listener);
    }

    /**
     * Returns a store for the session of a handle that the caller owns. The handle's default watcher belongs to the
     * caller, so a watch brings the session's events. It is on a node that is never created: that needs no right, fires
     * for nothing else, and can be removed.
     */
    public static ZooKeeperStore borrow(ZooKeeper handle, List<ACL> acl, Executor handles, Listener listener) {
        ZooKeeperStore store = new ZooKeeperStore(handle, acl, handles, listener);
        store.watchSession();
        return store;
    }

    public ZooKeeper zooKeeper() {
        return zooKeeper;
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
                    } else if (ZooKeeperResults.status(rc) == Status.OK
                            || ZooKeeperResults.status(rc) == Status.NO_NODE) {
                        connected(Optional.empty());
                    } else if (ZooKeeperResults.status(rc) == Status.LOGIN_REFUSED) {
                        listener.loginRefused();
                    } else if (ZooKeeperResults.status(rc) == Status.SESSION_EXPIRED) {
                        listener.expired();
                    } else if (ZooKeeperResults.status(rc) == Status.CONNECTION_LOSS) {
                        watchSession();
                    } else {
                        // An overloaded server refused the request.
                        handles.execute(() -> deliver(this::watchSessionLater));
                    }
                }),
                null);
    }

    private void watchSessionLater() {
        boolean unused = Waiting.awaitUninterruptibly(new CompletableFuture<>(), REFUSED_PAUSE);
        watchSession();
    }

    private void processSessionWatch(WatchedEvent event) {
        if (event.getType() == Watcher.Event.EventType.None) {
            process(event);
        } else if (!givenBack) {
            watchSession();
        }
    }

    /** What a delivery throws would end in ZooKeeper's client, and nothing would follow the response or the event. */
    private void deliver(Runnable delivery) {
        try {
            delivery.run();
        } catch (Throwable broken) {
            listener.failed(broken);
        }
    }

    private AsyncCallback.Create2Callback created(Consumer<Response<Created>> then) {
        return (rc, path, ctx, name, stat) -> deliver(() -> then.accept(ZooKeeperResults.created(rc, name, stat)));
    }

    private AsyncCallback.Children2Callback listing(Consumer<Response<Listing>> then) {
        return (rc, path, ctx, children, stat) ->
                deliver(() -> then.accept(ZooKeeperResults.listing(rc, children, stat)));
    }

    private AsyncCallback.DataCallback nodeData(Consumer<Response<NodeData>> then) {
        return (rc, path, ctx, data, stat) -> deliver(() -> then.accept(ZooKeeperResults.nodeData(rc, data, stat)));
    }

    @Override
    public SessionNodes nodes() {
        return nodes;
    }

    /**
     * Creates it by a transaction while the length of a borrowed handle's chroot is unknown: only the results of
     * transactions have paths as the servers have them.
     */
    @Override
    public void create(String path, byte[] data, Consumer<Response<Created>> then) {
        if (!nodes.chrootKnown()) {
            write(List.of(new Write.CreateRequest(path, data)), answer -> then.accept(alone(answer)));
            return;
        }
        zooKeeper.create(path, data, acl, CreateMode.EPHEMERAL_SEQUENTIAL, created(then), null);
    }

    @Override
    public void list(String path, Consumer<Response<Listing>> then) {
        zooKeeper.getChildren(path, false, listing(then), null);
    }

    /**
     * Lists several nodes. A list that is read together with others comes without its Stat. So the node's data is read
     * before and after it: if one transaction wrote both, the data at the time of the list was the same.
     */
    @Override
    public void lists(List<String> paths, Consumer<Response<List<Response<Listing>>>> then) {
        List<Op> ops = new ArrayList<>();
        for (String path : paths) {
            Op data = Op.getData(path);
            ops.addAll(List.of(data, Op.getChildren(path), data));
        }
        zooKeeper.multi(
                ops,
                (rc, path, ctx, results) -> deliver(() -> then.accept(ZooKeeperResults.listings(rc, results))),
                null);
    }

    /**
     * Checks by lists, which are short: a request's node has no children. The server looks for a node before it checks
     * rights.
     */
    @Override
    public void exist(List<String> paths, Consumer<Response<List<Status>>> then) {
        List<Op> ops = new ArrayList<>(paths.size());
        for (String path : paths) {
            ops.add(Op.getChildren(path));
        }
        zooKeeper.multi(
                ops, (rc, path, ctx, results) -> deliver(() -> then.accept(ZooKeeperResults.codes(rc, results))), null);
    }

    @Override
    public long session() {
        return session;
    }

    @Override
    public int longestAnswer() {
        return zooKeeper.getClientConfig().getInt(ZKConfig.JUTE_MAXBUFFER, ZOOKEEPERS_LONGEST_ANSWER);
    }

    @Override
    public void sync(String path, Consumer<Response<String>> then) {
        zooKeeper.sync(path, (rc, of, ctx) -> deliver(() -> then.accept(ZooKeeperResults.synced(rc, of))), null);
    }

    @Override
    public void read(String path, Consumer<Response<NodeData>> then) {
        zooKeeper.getData(path, false, nodeData(then), null);
    }

    @Override
    public void watchData(String path, Consumer<Response<NodeData>> then) {
        zooKeeper.getData(path, watcher, nodeData(then), null);
    }

    @Override
    public void watchChildren(String path, Consumer<Response<Listing>> then) {
        zooKeeper.getChildren(path, watcher, listing(then), null);
    }

    /** Not {@code removeWatches(watcher)}, which is sent as a check and removes nothing at the server. */
    @Override
    public void removeWatches(String path, Runnable then) {
        zooKeeper.removeAllWatches(path, Watcher.WatcherType.Any, true, (rc, p, ctx) -> deliver(then), null);
    }

    @Override
    public void write(List<Write> writes, Consumer<Response<Written>> then) {
        List<Op> ops = new ArrayList<>(writes.size());
        for (Write write : writes) {
            ops.add(op(write));
        }
        zooKeeper.multi(
                ops,
                (rc, path, ctx, results) -> deliver(() -> {
                    Response<Written> answer = ZooKeeperResults.written(rc, results);
                    if (answer.ok() && !nodes.chrootKnown()) {
                        noteChroot(ops, results);
                    }
                    then.accept(answer);
                }),
                null);
    }

    private void noteChroot(List<Op> ops, List<OpResult> results) {
        for (int i = 0; i < results.size(); i++) {
            if (results.get(i) instanceof OpResult.CreateResult created) {
                nodes.created(ops.get(i).getPath(), created.getPath());
            }
        }
    }

    private static Response<Created> alone(Response<Written> answer) {
        if (!answer.ok()) {
            return Response.failed(answer.code(), answer.detail());
        }
        return answer.get()
                .failedAt()
                .map(refusal -> Response.<Created>failed(refusal.code(), refusal.detail()))
                .orElseGet(() -> Response.of(answer.get().created().get(0)));
    }

    @Override
    public void makeRoot(Consumer<Response<Boolean>> then) {
        if (opener == null) {
            ZnodeStore.super.makeRoot(then);
        } else {
            opener.makeRoot(acl, handles, then);
        }
    }

    @Override
    public void close(Runnable then) {
        closing = true;
        CompletableFuture<Boolean> look = nextLook;
        if (look != null) {
            look.cancel(false);
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

    private void closeHandle(Runnable then) {
        try {
            zooKeeper.close();
        } catch (InterruptedException cannotHappenHere) {
            Thread.currentThread().interrupt();
        } finally {
            then.run();
        }
    }

    @Override
    public boolean answersOn(Thread thread) {
        return thread.equals(eventThread);
    }

    /** Returns the operation of a transaction, with the client's ACL. */
    public Op op(Write write) {
        if (write instanceof Write.CreatePath create) {
            CreateMode mode = create.lasting() == Lasting.FOR_EVER ? CreateMode.PERSISTENT : CreateMode.CONTAINER;
            return Op.create(create.path(), EMPTY, acl, mode);
        } else if (write instanceof Write.CreateRequest create) {
            return Op.create(create.path(), create.data(), options(CreateMode.EPHEMERAL_SEQUENTIAL));
        } else if (write instanceof Write.CreateNode create) {
            return Op.create(create.path(), create.data(), options(CreateMode.EPHEMERAL));
        } else if (write instanceof Write.Mark mark) {
            return Op.setData(mark.path(), EMPTY, ANY_VERSION);
        } else if (write instanceof Write.SetData set) {
            return Op.setData(set.path(), set.data(), set.version());
        } else if (write instanceof Write.Delete delete) {
            return Op.delete(delete.path(), ANY_VERSION);
        }
        Write.Check check = (Write.Check) write;
        return Op.check(check.path(), ANY_VERSION);
    }

    private CreateOptions options(CreateMode mode) {
        return CreateOptions.newBuilder(acl, mode).build();
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
            case NodeDataChanged -> listener.fired(event.getPath(), Change.DATA, zxid(event));
            case NodeDeleted -> listener.fired(event.getPath(), Change.DELETED, zxid(event));
            case NodeChildrenChanged -> listener.fired(event.getPath(), Change.CHILDREN, zxid(event));
            case DataWatchRemoved, ChildWatchRemoved ->
                listener.fired(event.getPath(), Change.WATCH_REMOVED, zxid(event));
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
    private void connected(Optional<Attempt> attempted) {
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
        CompletableFuture<Boolean> look = new CompletableFuture<Boolean>()
                .completeOnTimeout(true, timeoutMillis / LOOKS_IN_A_TIMEOUT, TimeUnit.MILLISECONDS);
        nextLook = look;
        var unused = look.thenRun(this::look);
        if (closing) {
            look.cancel(false);
        }
    }

    private void look() {
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
                    new FormerNodes(zooKeeper, nodes).deleteThen(() -> close(() -> {})); // which is reported as Closed
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
