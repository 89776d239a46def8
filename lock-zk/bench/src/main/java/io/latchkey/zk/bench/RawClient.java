// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/** A session of ZooKeeper's own client that only creates and deletes a node. */
final class RawClient implements MeasuredClient {
    private static final byte[] DATA = "as long as what an owner says".getBytes(StandardCharsets.US_ASCII);

    /** Not an immutable list, which throws when ZooKeeper's client asks whether it contains null. */
    static final List<ACL> ACL = new ArrayList<>(ZooDefs.Ids.OPEN_ACL_UNSAFE);

    private final ZooKeeper zooKeeper;

    RawClient(String servers, Duration session) throws Exception {
        zooKeeper = new ZooKeeper(servers, (int) session.toMillis(), event -> {});
    }

    @Override
    public LockHandle handle(MeasuredLock recipe, String path) throws Exception {
        List<String> paths = recipe.paths(path);
        for (String each : paths) {
            makeWithParents(zooKeeper, each);
        }
        return switch (recipe) {
            case MULTI_5, MULTI_20 -> () -> createAll(paths);
            case FAILED_TRY ->
                () -> {
                    create(path).release();
                    return HeldLock.NOTHING;
                };
            default -> () -> create(path);
        };
    }

    private HeldLock create(String path) throws KeeperException, InterruptedException {
        String node = zooKeeper.create(path + "/request-", DATA, ACL, CreateMode.EPHEMERAL_SEQUENTIAL);
        return () -> zooKeeper.delete(node, -1);
    }

    private HeldLock createAll(List<String> paths) throws KeeperException, InterruptedException {
        List<OpResult> created = zooKeeper.multi(paths.stream()
                .map(path -> Op.create(path + "/request-", DATA, ACL, CreateMode.EPHEMERAL_SEQUENTIAL))
                .toList());
        List<Op> deletes = created.stream()
                .map(result -> Op.delete(((OpResult.CreateResult) result).getPath(), -1))
                .toList();
        return () -> zooKeeper.multi(deletes);
    }

    static void makeWithParents(ZooKeeper zooKeeper, String path) throws KeeperException, InterruptedException {
        try {
            zooKeeper.create(path, new byte[0], ACL, CreateMode.PERSISTENT);
        } catch (KeeperException.NodeExistsException there) {
            // It exists.
        } catch (KeeperException.NoNodeException noParent) {
            makeWithParents(zooKeeper, path.substring(0, path.lastIndexOf('/')));
            makeWithParents(zooKeeper, path);
        }
    }

    /** Carries out that many transactions. */
    void write(int transactions) throws Exception {
        for (int i = 1; i < transactions; i++) {
            zooKeeper.setData("/", new byte[0], -1, (code, path, context, stat) -> {}, null);
        }
        zooKeeper.setData("/", new byte[0], -1);
    }

    /** Returns the number of requests at {@code path}; 0 if there is no such node. */
    int children(String path) throws KeeperException, InterruptedException {
        Stat node = zooKeeper.exists(path, false);
        return node == null ? 0 : node.getNumChildren();
    }

    @Override
    public void close() {
        try {
            zooKeeper.close();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
