// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * The place of one scenario in ZooKeeper: a root below which its data and its locks are, and a plain handle that knows
 * nothing of locks. Nodes go by their names below the root and hold text.
 */
final class ScenarioNodes {
    private static final Duration PATIENCE = Duration.ofSeconds(15);
    private static final Duration SESSION = Duration.ofSeconds(10);
    private static final int ANY_VERSION = -1;
    private static final int DELETES_AT_ONCE = 100;

    private final ZooKeeper zooKeeper;
    private final String root;

    private ScenarioNodes(ZooKeeper zooKeeper, String root) {
        this.zooKeeper = zooKeeper;
        this.root = root;
    }

    /**
     * A node in a folder.
     *
     * @param name its name in the folder
     * @param text what it holds
     * @param created the transaction that created it
     * @param changed the last transaction that wrote its text; {@code created} if none did since
     */
    record Entry(String name, String text, long created, long changed) {}

    /** Connects, and creates a root of its own. */
    static ScenarioNodes open(Servers servers) throws IOException, KeeperException, InterruptedException {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper zooKeeper = new ZooKeeper(servers.fixture().connectString(), (int) SESSION.toMillis(), event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        try {
            if (!connected.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IOException("no server answers: " + servers);
            }
            if (!servers.chroot().isEmpty() && zooKeeper.exists(servers.chroot(), false) == null) {
                throw new IOException("there is no node " + servers.chroot() + ": " + servers);
            }
            String root = "%s/latchkey-demo-%016x"
                    .formatted(servers.chroot(), ThreadLocalRandom.current().nextLong());
            zooKeeper.create(root, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            return new ScenarioNodes(zooKeeper, root);
        } catch (IOException | KeeperException | InterruptedException | RuntimeException failed) {
            zooKeeper.close();
            throw failed;
        }
    }

    /** The path of the root. */
    String root() {
        return root;
    }

    private String path(String name) {
        return root + '/' + name;
    }

    /** What creates a node. */
    Op creation(String name, String text) {
        return Op.create(path(name), text.getBytes(UTF_8), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    /** An unconditional write of a node's text; the caller must exclude other writers. */
    Op change(String name, String text) {
        return Op.setData(path(name), text.getBytes(UTF_8), ANY_VERSION);
    }

    /** Writes all or nothing, without a condition. */
    void write(Op... ops) throws KeeperException, InterruptedException {
        zooKeeper.multi(List.of(ops));
    }

    /** The text of a node. */
    String read(String name) throws KeeperException, InterruptedException {
        catchUp();
        return text(name, new Stat());
    }

    /** The number in a node. */
    int number(String name) throws KeeperException, InterruptedException {
        return Integer.parseInt(read(name));
    }

    /** The names of the nodes in a folder. */
    Set<String> names(String folder) throws KeeperException, InterruptedException {
        catchUp();
        return Set.copyOf(zooKeeper.getChildren(path(folder), false));
    }

    /** The nodes in a folder, with what they hold. */
    List<Entry> entries(String folder) throws KeeperException, InterruptedException {
        List<Entry> entries = new ArrayList<>();
        for (String name : names(folder)) {
            Stat stat = new Stat();
            String text = text(folder + '/' + name, stat);
            entries.add(new Entry(name, text, stat.getCzxid(), stat.getMzxid()));
        }
        return entries;
    }

    /**
     * The session that reads is not the one that was granted the lock, and its server may lag behind: without this, a
     * holder could read what was before its predecessor's write.
     */
    private void catchUp() {
        zooKeeper.sync(root, (code, path, context) -> {}, null);
    }

    private String text(String name, Stat stat) throws KeeperException, InterruptedException {
        return new String(zooKeeper.getData(path(name), false, stat), UTF_8);
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
