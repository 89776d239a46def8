package io.latchkey.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * The stock of one product, a number in a node, and a node for every order that was sold. A sale writes both in one transaction, so
 * that afterwards ZooKeeper itself tells how many orders were sold, whatever the clerks came to know of it.
 */
final class Warehouse {
    private static final Duration PATIENCE = Duration.ofSeconds(15);
    private static final Duration SESSION = Duration.ofSeconds(10);
    private static final int ANY_VERSION = -1;
    private static final int DELETES_AT_ONCE = 100;

    private final ZooKeeper zooKeeper;
    private final String root;

    private Warehouse(ZooKeeper zooKeeper, String root) {
        this.zooKeeper = zooKeeper;
        this.root = root;
    }

    /** Builds a new one. */
    static Warehouse build(Servers servers, String root, int stock)
            throws IOException, KeeperException, InterruptedException {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper zooKeeper = new ZooKeeper(servers.fixture().connectString(), (int) SESSION.toMillis(), event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        Warehouse warehouse = new Warehouse(zooKeeper, root);
        try {
            if (!connected.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IOException("no server answers: " + servers);
            }
            if (!servers.chroot().isEmpty() && zooKeeper.exists(servers.chroot(), false) == null) {
                throw new IOException("there is no node " + servers.chroot() + ": " + servers);
            }
            warehouse.create(stock);
            return warehouse;
        } catch (IOException | KeeperException | InterruptedException | RuntimeException failed) {
            zooKeeper.close();
            throw failed;
        }
    }

    private void create(int stock) throws KeeperException, InterruptedException {
        zooKeeper.multi(List.of(
                Op.create(root, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                Op.create(stockPath(), bytes(stock), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                Op.create(ordersPath(), new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT)));
    }

    private String stockPath() {
        return root + "/stock";
    }

    private String ordersPath() {
        return root + "/orders";
    }

    private static byte[] bytes(int stock) {
        return Integer.toString(stock).getBytes(UTF_8);
    }

    /**
     * The stock now. The session that reads is not the one that was granted the lock, and its server may lag behind: hence the
     * {@code sync}, without which a holder could read what was before its predecessor's write.
     */
    int stock() throws KeeperException, InterruptedException {
        zooKeeper.sync(stockPath(), (code, path, context) -> {}, null);
        return Integer.parseInt(new String(zooKeeper.getData(stockPath(), false, null), UTF_8));
    }

    /** What a sale writes. It does not look at the version of the stock: whoever sells must know that nobody else does. */
    Op[] sale(String order, int stockLeft) {
        return new Op[] {
            Op.setData(stockPath(), bytes(stockLeft), ANY_VERSION),
            Op.create(ordersPath() + '/' + order, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT)
        };
    }

    /** Writes a sale without asking anybody. */
    void sellUnguarded(Op... sale) throws KeeperException, InterruptedException {
        zooKeeper.multi(List.of(sale));
    }

    /** The orders that were sold. */
    Set<String> orders() throws KeeperException, InterruptedException {
        zooKeeper.sync(ordersPath(), (code, path, context) -> {}, null);
        return Set.copyOf(zooKeeper.getChildren(ordersPath(), false));
    }

    /** Deletes the root and everything below it, the locks too. */
    void tearDown() throws KeeperException, InterruptedException {
        try {
            if (!ZKUtil.deleteRecursive(zooKeeper, root, DELETES_AT_ONCE)) {
                throw new IllegalStateException("cannot delete all of " + root);
            }
        } finally {
            zooKeeper.close();
        }
    }
}
