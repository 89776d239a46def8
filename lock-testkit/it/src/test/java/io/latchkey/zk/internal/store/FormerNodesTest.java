// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The deletion of a session's nodes before it is closed. */
@Timeout(60)
class FormerNodesTest {
    private static final int TIMEOUT_MILLIS = 30_000;
    private static final List<ACL> ALL_BUT_DELETE =
            new ArrayList<>(List.of(new ACL(ZooDefs.Perms.ALL & ~ZooDefs.Perms.DELETE, ZooDefs.Ids.ANYONE_ID_UNSAFE)));

    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
    private final SessionNodes nodes = SessionNodes.ofNewSession(0);
    private final CountDownLatch deleted = new CountDownLatch(1);
    private ZooKeeper handle;

    @BeforeEach
    void connect() throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        handle = new ZooKeeper(server.connectString(), TIMEOUT_MILLIS, event -> connected.countDown());
        assertTrue(connected.await(30, TimeUnit.SECONDS));
    }

    @AfterEach
    void close() throws InterruptedException {
        handle.close();
        server.close();
    }

    private List<String> create(String parent, List<ACL> acl, int count) throws Exception {
        String unused = handle.create(parent, new byte[0], acl, CreateMode.PERSISTENT);
        List<String> paths =
                IntStream.range(0, count).mapToObj(i -> parent + "/n" + i).toList();
        List<Op> creations = new ArrayList<>();
        for (String path : paths) {
            creations.add(Op.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL));
            List<SessionNodes.Creation> creation = List.of(new SessionNodes.Creation(path, false));
            nodes.applied(nodes.sending(creation, List.of(), Long.MAX_VALUE).orElseThrow(), List.of());
        }
        assertEquals(count, handle.multi(creations).size());
        return paths;
    }

    private void delete() throws InterruptedException {
        new FormerNodes(handle, nodes).deleteThen(deleted::countDown);
        assertTrue(deleted.await(30, TimeUnit.SECONDS));
    }

    private List<String> under(String parent) {
        return server.nodesUnder(parent).stream().map(ServerNode::path).sorted().toList();
    }

    @Test
    void fewNodesAreLeftToTheEndOfTheSession() throws Exception {
        List<String> paths = create("/few", ZooDefs.Ids.OPEN_ACL_UNSAFE, 500);
        delete();
        assertEquals(paths.stream().sorted().toList(), under("/few"));
    }

    @Test
    void fewNodesOfLongPathsAreDeleted() throws Exception {
        assertEquals(
                50,
                create("/" + "p".repeat(3_000), ZooDefs.Ids.OPEN_ACL_UNSAFE, 50).size());
        delete();
        assertEquals(List.of(), nodes.known());
        assertEquals(0, nodes.sum());
    }

    @Test
    void manyNodesAreDeleted_butThoseThatTheServerRefusesToDelete() throws Exception {
        List<String> paths = create("/many", ZooDefs.Ids.OPEN_ACL_UNSAFE, 1_200);
        List<String> kept = create("/kept", ALL_BUT_DELETE, 3);
        handle.delete(paths.get(700), -1);
        delete();
        assertEquals(List.of(), under("/many"));
        assertEquals(kept, under("/kept"));
        assertEquals(kept, nodes.known().stream().sorted().toList());
    }

    @Test
    void nothingIsWaitedFor_whenTheConnectionIsLost() throws Exception {
        assertEquals(600, create("/lost", ZooDefs.Ids.OPEN_ACL_UNSAFE, 600).size());
        server.stop();
        delete();
        assertEquals(600, nodes.known().size());
    }
}
