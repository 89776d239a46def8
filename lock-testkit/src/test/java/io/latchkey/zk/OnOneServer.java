package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.EmbeddedZooKeeper;
import io.latchkey.testkit.Eventually;
import io.latchkey.testkit.FaultProxy;
import io.latchkey.testkit.ServerNode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;

/** A server and clients of its own for every test. */
abstract class OnOneServer {
    static final Duration SESSION = Duration.ofSeconds(1);

    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
    private final List<ZkLockClient> clients = new ArrayList<>();
    private final List<FaultProxy> proxies = new ArrayList<>();
    private final List<ZooKeeper> handles = new ArrayList<>();

    final EmbeddedZooKeeper server() {
        return server;
    }

    /** A proxy to the server, for one client. */
    final FaultProxy proxy() {
        FaultProxy proxy = FaultProxy.to(server);
        proxies.add(proxy);
        return proxy;
    }

    /** A client behind a proxy of its own. */
    final ZkLockClient behind(FaultProxy proxy) {
        return client(builder -> builder.connectString(proxy.connectString()));
    }

    /** One whose session outlives a reconnect, which takes ZooKeeper's client one to two seconds. */
    final ZkLockClient patient(FaultProxy proxy) {
        return client(builder -> builder.connectString(proxy.connectString()).sessionTimeout(SESSION.multipliedBy(8)));
    }

    final ZkLockClient client(String label) {
        return client(builder -> builder.ownerLabel(label));
    }

    final ZkLockClient client(Consumer<ZkLockClient.Builder> more) {
        ZkLockClient.Builder builder =
                ZkLockClient.builder().connectString(server.connectString()).sessionTimeout(SESSION);
        more.accept(builder);
        ZkLockClient client = builder.build();
        clients.add(client);
        return client;
    }

    /** A plain connected handle: somebody with a shell, or an application with a session of its own. */
    final ZooKeeper handle() throws IOException, InterruptedException {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper handle =
                new ZooKeeper(server.connectString(), (int) SESSION.toMillis(), event -> connected.countDown());
        handles.add(handle);
        assertTrue(connected.await(5, TimeUnit.SECONDS));
        return handle;
    }

    @AfterEach
    final void closeAll() throws InterruptedException {
        clients.forEach(ZkLockClient::close);
        for (ZooKeeper handle : handles) {
            handle.close();
        }
        proxies.forEach(FaultProxy::close);
        server.close();
    }

    /** The request nodes under a path in their order, by the server's own tree. */
    final List<ServerNode> requestsUnder(String path) {
        return server.nodesUnder(path).stream()
                .filter(node -> node.path().startsWith(path + "/write-"))
                .sorted(Comparator.comparingLong(ServerNode::created))
                .toList();
    }

    /** Containers stay when their children go, so a path that was ever used is still there. */
    final void assertNeverMade(String path) {
        assertTrue(server.nodesUnder("/").stream().noneMatch(node -> node.path().startsWith(path)));
    }

    final void awaitQueue(Mutex mutex, int length) throws InterruptedException {
        awaitUntil("a queue of " + length, () -> mutex.queue().size() == length);
    }

    final void awaitNoRequestBut(Lease held, String path) throws InterruptedException {
        awaitUntil("no request but the holder's", () -> requestsUnder(path).stream()
                .map(ServerNode::created)
                .toList()
                .equals(List.of(held.token())));
    }

    final void awaitWatches(int count) throws InterruptedException {
        awaitUntil(count + " watches at the server", () -> server.watchCount() == count);
    }

    static void awaitUntil(String what, BooleanSupplier condition) throws InterruptedException {
        Eventually.holds(what, Duration.ofSeconds(10), condition);
    }

    /** Lets the server delete its empty containers until there is none; what it deleted, in order. */
    final List<String> reapAll() throws InterruptedException {
        List<String> reaped = new ArrayList<>();
        List<String> more = server.reapContainers();
        while (!more.isEmpty()) {
            reaped.addAll(more);
            more = server.reapContainers();
        }
        assertEquals(List.of(), server.reapContainers());
        return reaped;
    }
}
