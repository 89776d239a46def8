// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.Semaphore;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.time.Slowness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A test for each bug in {@code docs/archive/testing-record.md} that names no other class. */
@Tag("once")
@Timeout(60)
class OldBugsTest extends OnOneServer {
    /** Has a heartbeat each second on an idle machine. */
    private static final Duration SHORT_SESSION = Slowness.stretched(Duration.ofSeconds(6));

    @Test
    @Tag("slow")
    void releaseInFlightIsAnswered_whenTheClientCloses() throws Exception {
        for (int round = 0; round < 10; round++) {
            ZkLockClient closing = client("closing");
            ExecutorService threads = Executors.newFixedThreadPool(8);
            List<Lease> leases = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                leases.add(closing.mutex("/m/" + i).acquire());
            }
            List<Future<ReleaseOutcome>> releases = new ArrayList<>();
            for (Lease lease : leases) {
                releases.add(threads.submit(lease::release));
            }
            closing.close();
            for (Future<ReleaseOutcome> release : releases) {
                release.get(5, TimeUnit.SECONDS);
            }
            threads.shutdown();
        }
    }

    @Test
    void createInFlightLeavesNoNode_whenABorrowingClientCloses() throws Exception {
        ZooKeeper handle = handle();
        for (int round = 0; round < 10; round++) {
            ZkLockClient borrowing = ZkLockClient.using(handle);
            CompletableFuture<Lease> acquiring = borrowing.mutex("/m").acquireAsync();
            borrowing.close();
            assertThrows(Exception.class, () -> {
                Lease lease = acquiring.get(5, TimeUnit.SECONDS);
                lease.ensureValid();
            });
            assertEquals(List.of(), requestsUnder("/m"));
        }
    }

    /** The heartbeat's one transaction over all nodes outgrew ZooKeeper's packet. */
    @Test
    @Tag("slow")
    void heartbeatFitsAPacket_withThousandsOfNodesOnALongPath() throws Exception {
        ZkLockClient many = client(
                builder -> builder.sessionTimeout(SHORT_SESSION).sessionNodeBytes(10_000_000)); // it ends by a close
        String path = "/" + "long".repeat(100);
        Lease held = client("other").mutex(path).acquire();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 3000; i++) {
            waiting.add(many.mutex(path).acquireAsync());
        }
        awaitUntil("all stand in the queue", () -> requestsUnder(path).size() == 3001);
        CompletableFuture<LossCause> beaten = held.lost().toCompletableFuture();
        assertThrows(
                TimeoutException.class, () -> beaten.get(SHORT_SESSION.toMillis() * 5 / 12, TimeUnit.MILLISECONDS));
        held.close();
        for (CompletableFuture<Lease> next : waiting) {
            next.get(20, TimeUnit.SECONDS).releaseAsync().toCompletableFuture().get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    @Tag("slow")
    void heartbeatChecksANode_thatWasFoundAgain() throws Exception {
        FaultProxy proxy = proxy();
        client("creator").mutex("/m").acquire().close();
        ZkLockClient unlucky = patient(proxy);
        proxy.cutAfter(RequestMatch.create(), 1);
        Lease lease = unlucky.mutex("/m").acquire();
        CompletableFuture<LossCause> lost = lease.lost().toCompletableFuture();
        assertThrows(TimeoutException.class, () -> lost.get(LONG_SESSION.toMillis() * 5 / 4, TimeUnit.MILLISECONDS));
    }

    @Test
    @Tag("slow")
    void leaseStaysValid_withAWideMargin() throws Exception {
        Duration session = Slowness.stretched(Duration.ofSeconds(4));
        List<CompletableFuture<LossCause>> lost = new ArrayList<>();
        for (Duration margin : List.of(session, Duration.ofMillis(1))) {
            Lease lease = client(builder -> builder.sessionTimeout(session).validityMargin(margin))
                    .mutex("/m/" + margin)
                    .acquire();
            lost.add(lease.lost().toCompletableFuture());
        }
        CompletableFuture<Object> first = CompletableFuture.anyOf(lost.toArray(CompletableFuture<?>[]::new));
        assertThrows(TimeoutException.class, () -> first.get(2 * session.toMillis(), TimeUnit.MILLISECONDS));
    }

    // ---- the other recipes

    @Test
    void pathThatIsCreatedAgain_hasTheDeclaredPermits() throws Exception {
        Semaphore semaphore = client("one").semaphore("/p/s", 3);
        semaphore.resize(10);
        Acquirable ten = semaphore.permits(10);
        ten.acquire().close();
        reapAll();
        assertThrows(LockMismatchException.class, ten::acquire);
        assertEquals(List.of(), semaphore.queue());
    }

    @Test
    void clientThatCreatedThePathAgain_knowsItsCapacity() throws Exception {
        Semaphore semaphore = client("one").semaphore("/p/s", 3);
        semaphore.resize(2);
        semaphore.acquire().close();
        reapAll();
        semaphore.acquire().close();
        semaphore.permits(3).acquire().close();
    }

    @Test
    void wrongKindIsRefused_whileOthersWait() throws Exception {
        ZkLockClient one = lasting();
        Lease held = client("other").readWriteLock("/m").writeLock().acquire();
        Acquirable write = one.readWriteLock("/m").writeLock();
        List<CompletableFuture<Lease>> waiting = List.of(write.acquireAsync(), write.acquireAsync());
        awaitUntil("both stand in the queue", () -> requestsUnder("/m").size() == 3);
        awaitWatches(3);
        assertThrows(LockMismatchException.class, () -> one.mutex("/m").tryAcquire(Duration.ofSeconds(5)));
        held.close();
        for (CompletableFuture<Lease> next : waiting) {
            next.get(5, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void localHolderKeepsItsLease_whenItsNodeCannotBeRead() throws Exception {
        makeNode("/m");
        ACL allButRead = new ACL(ZooDefs.Perms.ALL & ~ZooDefs.Perms.READ, ZooDefs.Ids.ANYONE_ID_UNSAFE);
        ZkLockClient one =
                client(builder -> builder.sessionTimeout(Duration.ofSeconds(20)).acl(List.of(allButRead)));
        Lease first = one.mutex("/m").acquire();
        CompletableFuture<Lease> second = one.mutex("/m").acquireAsync();
        awaitUntil("two stand in the queue", () -> requestsUnder("/m").size() == 2);
        settle(one.mutex("/m")); // the second is known to be next, so the release checks its node
        assertEquals(ReleaseOutcome.RELEASED, first.release());
        Lease lease = second.get(5, TimeUnit.SECONDS);
        CompletableFuture<LossCause> lost = lease.lost().toCompletableFuture();
        assertThrows(TimeoutException.class, () -> lost.get(500, TimeUnit.MILLISECONDS));
    }

    @Test
    void viewOfAnotherKindIsNotReentrant() throws Exception {
        ZkLockClient one = client("one");
        Lock mutex = one.mutex("/m").asLock();
        mutex.lock();
        try {
            Lock read = one.readWriteLock("/m").asReadWriteLock().readLock();
            assertThrows(LockMismatchException.class, read::lock);
        } finally {
            mutex.unlock();
        }
    }

    /** Whose first heartbeat is due after ten seconds, so that none helps along. */
    private ZkLockClient lasting() throws InterruptedException {
        return client(builder -> builder.sessionTimeout(Duration.ofSeconds(60)));
    }
}
