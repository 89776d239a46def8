// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockException;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.server.EmbeddedEnsemble;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/**
 * A session with very many nodes ends as that of a killed client does: by the server, which writes all their paths into
 * one transaction, and reads it when it starts.
 */
@Tag("once")
@Timeout(180)
class FullSessionTest extends OnOneServer {
    private static final Duration SOON = Slowness.stretched(Duration.ofSeconds(60));
    /** The path of a lock, for nodes of some 1,000 bytes. */
    private static final String LONG_PATH = "/" + "p".repeat(950) + "/s";
    /** With such paths 2.4 MB, more than a server reads. */
    private static final int REQUESTS = 2_400;

    /** Acquires as much as is granted. Each of the other requests is refused, as the session is full. */
    private static void fill(ZkLockClient client) throws Exception {
        List<CompletableFuture<Lease>> all = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i++) {
            all.add(client.semaphore(LONG_PATH, REQUESTS).acquireAsync());
        }
        int granted = 0;
        for (CompletableFuture<Lease> each : all) {
            try {
                assertTrue(each.get(SOON.toSeconds(), TimeUnit.SECONDS).isValid());
                granted++;
            } catch (ExecutionException refused) {
                assertEquals(
                        LockException.Reason.SESSION_FULL,
                        assertInstanceOf(LockException.class, refused.getCause())
                                .reason(),
                        refused.toString());
            }
        }
        assertTrue(granted > REQUESTS / 3, granted + " were granted");
    }

    @Test
    @Tag("slow")
    void serverStartsAgain_afterAClientWithAsManyLeasesAsItIsGrantedIsGone() throws Exception {
        ZkLockClient full = client(builder -> builder.sessionTimeout(LONG_SESSION));
        fill(full);
        ZkLockClient other = client(builder -> builder.sessionTimeout(SOON));
        Lease held = other.mutex("/other").acquire();
        server().expireSession(sessionOf(full, server()::nodesUnder));
        server().kill();
        server().restart();
        other.mutex("/more").acquire().close();
        assertTrue(held.isValid());
        held.close();
    }

    @Test
    @Tag("slow")
    void ensembleServes_afterAClientWithAsManyLeasesAsItIsGrantedIsGone() throws Exception {
        try (EmbeddedEnsemble three = EmbeddedEnsemble.start();
                ZkLockClient full = client(
                        builder -> builder.connectString(three.connectString()).sessionTimeout(SOON));
                ZkLockClient other = client(
                        builder -> builder.connectString(three.connectString()).sessionTimeout(SOON))) {
            fill(full);
            Lease held = other.mutex("/other").acquire();
            three.expireSession(sessionOf(full, three::nodesUnder));
            other.mutex("/more").acquire().close();
            for (int server = 0; server < three.size(); server++) {
                three.kill(server);
                other.mutex("/more").acquire().close();
                three.restart(server);
                three.awaitLeader(SOON);
            }
            other.mutex("/more").acquire().close();
            assertTrue(held.isValid());
            held.close();
        }
    }

    private static long sessionOf(ZkLockClient client, Function<String, List<ServerNode>> nodesUnder)
            throws InterruptedException {
        Lease mark = client.mutex("/mark").acquire();
        // The server that is read may not have applied yet what the client's has.
        Eventually.holds("the server has the node", SOON, () -> !nodesUnder
                .apply("/mark")
                .isEmpty());
        long session = nodesUnder.apply("/mark").get(0).session();
        mark.close();
        return session;
    }

    @Test
    void requestThatWouldPassTheBoundFailsAtOnce_andNothingIsSent() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient client =
                client(builder -> builder.connectString(proxy.connectString()).sessionNodeBytes(100));
        Lease one = client.mutex("/one").acquire();
        Lease two = client.mutex("/two").acquire();
        client("other").mutex("/three").acquire().close();
        Wire.Mark asking = proxy.mark();
        List<Acquirable> locks = List.of(
                client.mutex("/three"),
                client.readWriteLock("/rw").readLock(),
                client.semaphore("/s", 3),
                client.multiLock(client.mutex("/three"), client.mutex("/four")));
        for (Acquirable lock : locks) {
            assertFull(lock::acquire);
            assertFull(lock::tryAcquire);
            assertFull(() -> lock.tryAcquire(Duration.ofDays(1)));
        }
        assertEquals(0, proxy.since(asking).requestsButHeartbeats(), "nothing is sent");
        ExecutionException cannotListen = assertThrows(
                ExecutionException.class,
                () -> one.releaseRequested().toCompletableFuture().get(SOON.toSeconds(), TimeUnit.SECONDS));
        assertEquals(
                LockException.Reason.SESSION_FULL,
                assertInstanceOf(LockException.class, cannotListen.getCause()).reason());
        assertEquals(1, requestsUnder("/two").size());
        two.close();
        client.mutex("/three").acquire().close();
        assertTrue(one.isValid());
    }

    private static void assertFull(Executable call) {
        LockException told = assertThrows(LockException.class, call);
        assertEquals(LockException.Reason.SESSION_FULL, told.reason(), told.toString());
    }

    @Test
    void clientsOfOneHandleShareTheBound_whileEachOfTwoHandlesHasItsOwn() throws Exception {
        ZooKeeper handle = handle();
        ZkLockClient apart = client(builder -> builder.sessionNodeBytes(300));
        try (ZkLockClient one = ZkLockClient.builder()
                        .using(handle)
                        .sessionNodeBytes(300)
                        .build();
                ZkLockClient two = ZkLockClient.builder()
                        .using(handle)
                        .sessionNodeBytes(300)
                        .build()) {
            for (int i = 0; i < 3; i++) {
                assertTrue(one.mutex("/one" + i).acquire().isValid());
                assertTrue(two.mutex("/two" + i).acquire().isValid());
            }
            assertFull(() -> one.mutex("/one-more").acquire());
            assertFull(() -> two.mutex("/one-more").acquire());
            apart.mutex("/one-more").acquire().close();
        }
    }

    @Test
    void writeLeaseOfAFullSessionIsDowngraded() throws Exception {
        ZkLockClient client = client(builder -> builder.sessionNodeBytes(60));
        ReadWriteLock lock = client.readWriteLock("/rw");
        Lease write = lock.writeLock().acquire();
        assertFull(() -> client.mutex("/m").acquire());
        Lease read = lock.downgrade(write);
        assertTrue(read.isValid());
        read.close();
        client.mutex("/m").acquire().close();
    }
}
