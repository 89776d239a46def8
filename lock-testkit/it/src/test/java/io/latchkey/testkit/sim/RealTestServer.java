// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.testkit.proxy.FastReconnects;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.zk.internal.store.HandleOpener;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.store.ZooKeeperStore;
import io.latchkey.zk.internal.threads.DaemonThreads;
import io.latchkey.zk.internal.validity.Clock;
import io.latchkey.zk.internal.validity.ClockReading;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** One real server, each session behind a proxy of its own. */
final class RealTestServer implements TestServer {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int SESSION_MILLIS = 30_000;

    private final EmbeddedZooKeeper server;
    private final List<Session> sessions = new ArrayList<>();

    /** What stands around one session. */
    private record Session(FaultProxy proxy, FastReconnects fast, ZooKeeperStore store, Connection connection) {}

    /** What the session's client knows of its connection. */
    private static final class Connection implements ZnodeStore.Listener {
        private final ZnodeStore.Listener told;
        private volatile boolean up;
        private volatile boolean over;

        Connection(ZnodeStore.Listener told) {
            this.told = told;
        }

        @Override
        public ClockReading now() {
            return told.now();
        }

        @Override
        public Clock.Timer after(Duration delay, Runnable task) {
            return told.after(delay, task);
        }

        @Override
        public void connected(int timeoutMillis, Optional<ZnodeStore.Attempt> attempt) {
            told.connected(timeoutMillis, attempt);
            up = true;
        }

        @Override
        public void disconnected() {
            up = false;
            told.disconnected();
        }

        @Override
        public void expired() {
            told.expired();
            over = true;
        }

        @Override
        public void loginRefused() {
            told.loginRefused();
        }

        @Override
        public void failed(Throwable why) {
            told.failed(why);
        }

        @Override
        public void fired(String path, ZnodeStore.Change change, long zxid) {
            told.fired(path, change, zxid);
        }
    }

    RealTestServer(EmbeddedZooKeeper server) {
        this.server = server;
    }

    @Override
    public ZnodeStore open(ZnodeStore.Listener listener) throws IOException, InterruptedException {
        FaultProxy proxy = FaultProxy.to(server);
        Connection connection = new Connection(listener);
        ZooKeeperStore store = ZooKeeperStore.open(
                (watcher, attempts) -> HandleOpener.Opened.withNewSession(
                        new ZooKeeper(proxy.connectString(), SESSION_MILLIS, watcher)),
                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                task -> DaemonThreads.factory("latchkey-handle-of-test")
                        .newThread(task)
                        .start(),
                connection);
        sessions.add(new Session(proxy, FastReconnects.of(proxy), store, connection));
        Eventually.holds("a connection", SOON, () -> connection.up);
        return store;
    }

    private Session of(ZnodeStore store) {
        return sessions.stream()
                .filter(session -> session.store() == store)
                .findFirst()
                .orElseThrow();
    }

    /**
     * A server tells a session what it saw in order. So when all have read once, it has done all that any of them asked
     * for; and when they have read again, they have heard what came of it.
     */
    @Override
    public void settle() throws InterruptedException {
        readAll();
        readAll();
    }

    private void readAll() throws InterruptedException {
        for (Session session : sessions) {
            Eventually.holds(
                    "a connection, or an end", SOON, () -> session.connection().up || session.connection().over);
            if (!session.connection().over) {
                CompletableFuture<Response<ZnodeStore.Listing>> read = new CompletableFuture<>();
                session.store().list("/", read::complete);
                await(read);
            }
        }
    }

    private static void await(CompletableFuture<?> done) throws InterruptedException {
        try {
            done.get(SOON.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new AssertionError("the server does not answer", e);
        }
    }

    @Override
    public void expire(ZnodeStore store) throws InterruptedException {
        Session session = of(store);
        server.expireSession(session.proxy().session().orElseThrow());
        Eventually.holds("the end of a session", SOON, () -> session.connection().over);
    }

    @Override
    public void cut(ZnodeStore store) {
        Session session = of(store);
        session.connection().up = false;
        session.proxy().cut();
    }

    @Override
    public void close() {
        for (Session session : sessions) {
            session.store().close(() -> {});
            session.fast().close();
            session.proxy().close();
        }
    }
}
