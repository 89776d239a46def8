// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import static org.apache.zookeeper.ZooDefs.Ids.OPEN_ACL_UNSAFE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.zk.Layout;
import io.latchkey.zk.ZkLockClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.CreateMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the command line tells of locks that are Curator's and kazoo's, and runs under them. */
@LatchkeyTest(sessionMillis = 10_000)
@Timeout(60)
@Tag("once")
class CommandLineLayoutsTest {
    private static final int SESSION_MILLIS = 10_000;

    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;
    private final LockClient own;
    private CuratorFramework curator;
    private LockClient besideCurator;
    private LockClient besideKazoo;

    CommandLineLayoutsTest(EmbeddedZooKeeper server, LockClient own) {
        this.server = server;
        this.own = own;
    }

    @BeforeEach
    void connect() {
        curator = CuratorFrameworkFactory.newClient(
                server.connectString(), SESSION_MILLIS, SESSION_MILLIS, new RetryOneTime(1));
        curator.start();
        besideCurator = client(Layout.CURATOR);
        besideKazoo = client(Layout.KAZOO);
    }

    private LockClient client(Layout layout) {
        return ZkLockClient.builder()
                .connectString(server.connectString())
                .layout(layout)
                .build();
    }

    @AfterEach
    void close() {
        curator.close();
        besideCurator.close();
        besideKazoo.close();
    }

    private Program.Ended run(String... args) throws InterruptedException {
        Map<String, String> environment = Map.of("LATCHKEY_CONNECT", server.connectString(), "PATH", "/usr/bin:/bin");
        try (Program program = Program.latchkey(folder, environment, args)) {
            return program.ended();
        }
    }

    private String succeeded(String... args) throws InterruptedException {
        Program.Ended ended = run(args);
        assertEquals(0, ended.status(), ended::toString);
        assertEquals("", ended.err());
        return ended.out();
    }

    private void awaitRequests(String path, int number) throws InterruptedException {
        Eventually.holds(
                number + " requests below " + path,
                Duration.ofSeconds(20),
                () -> number
                        == server.nodesUnder(path).stream()
                                .filter(ServerNode::isEphemeral)
                                .count());
    }

    @Test
    void locksOfOthersAreListedAndShownWhileTheyAreUsed() throws Exception {
        new InterProcessMutex(curator, "/fleet/job").acquire();
        InterProcessSemaphoreV2 pool = new InterProcessSemaphoreV2(curator, "/fleet/pool", 2);
        pool.acquire(2);
        var reader = besideCurator.readWriteLock("/fleet/document").readLock().acquire();
        var script = besideKazoo.mutex("/fleet/script").acquire();
        var feed = besideKazoo.readWriteLock("/fleet/feed").readLock().acquire();
        curator.getZookeeperClient()
                .getZooKeeper()
                .create("/fleet/no-lock", null, OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        List<?> waiting = List.of(
                besideCurator.mutex("/fleet/job").acquireAsync(),
                besideCurator.semaphore("/fleet/pool", 2).acquireAsync(),
                besideCurator.semaphore("/fleet/pool", 2).acquireAsync(),
                besideCurator.readWriteLock("/fleet/document").writeLock().acquireAsync(),
                besideKazoo.readWriteLock("/fleet/feed").writeLock().acquireAsync());
        awaitRequests("/fleet/job", 2);
        awaitRequests("/fleet/pool", 5);
        awaitRequests("/fleet/document", 2);
        awaitRequests("/fleet/feed", 2);

        assertEquals(
                """
                PATH             KIND        CAPACITY  HOLDERS  WAITERS  LAYOUT
                /fleet/document  read-write  1         1        1        curator
                /fleet/feed      read-write  1         1        1        kazoo
                /fleet/job       mutex       1         1        1        curator
                /fleet/pool      semaphore   -         2        2        curator
                /fleet/script    mutex       1         1        0        kazoo
                """,
                succeeded("ls", "/fleet"));

        List<String> document = succeeded("show", "/fleet/document").lines().toList();
        assertEquals("/fleet/document: read-write, layout curator", document.get(0));
        assertTrue(document.get(2).matches("holding +" + reader.token() + " +read +1 .*"), document.get(2));
        assertTrue(document.get(3).matches("waiting +\\d+ +write +1 .*"), document.get(3));

        JsonObject shown = JsonParser.parseString(succeeded("show", "--json", "/fleet/pool"))
                .getAsJsonObject();
        assertTrue(shown.get("capacity").isJsonNull() && shown.get("permits").isJsonNull(), shown::toString);
        assertEquals("curator", shown.get("layout").getAsString());
        assertEquals(4, shown.getAsJsonArray("queue").size());

        assertTrue(reader.isValid() && script.isValid() && feed.isValid());
        assertFalse(waiting.isEmpty());
    }

    /** A case that is not prevented: Curator ignores nodes of Latchkey's own layout. */
    @Test
    void pathWithTwoLocksIsShown() throws Exception {
        var held = own.mutex("/both").acquire();
        new InterProcessMutex(curator, "/both").acquire();

        Program.Ended ended = run("show", "/both");

        assertEquals(0, ended.status());
        assertTrue(ended.out().contains("/both: mutex\n") && ended.out().contains("/both: mutex, layout curator\n"));
        assertTrue(ended.err().startsWith("latchkey: /both is used for 2 locks of different layouts"), ended.err());
        assertTrue(held.isValid());
    }

    @Test
    void commandsRunUnderLocksOfOthers() throws Exception {
        InterProcessMutex theirs = new InterProcessMutex(curator, "/shared");
        theirs.acquire();
        String[] job = {"run", "/shared", "--layout", "curator", "--timeout", "0", "--quiet", "--", "echo", "ran"};

        assertEquals(75, run(job).status());
        theirs.release();
        assertEquals("ran\n", succeeded(job));
        assertEquals("ran\n", succeeded("run", "/pool", "--layout=curator", "--semaphore=2", "--", "echo", "ran"));
        Program.Ended refused = run("run", "/pool", "--layout=kazoo", "--semaphore=2", "--", "echo", "ran");
        assertEquals(64, refused.status());
        assertTrue(refused.err().startsWith("latchkey: --layout kazoo has no semaphore"), refused.err());
    }
}
