package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.FaultProxy;
import io.latchkey.testkit.RequestMatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A test for every bug that once was there; what each was stands in {@code docs/testing.md}. */
@Timeout(60)
class OldBugsTest extends OnOneServer {
    private static final Duration LONG_ENOUGH_TO_RECONNECT = Duration.ofSeconds(4);

    @Test
    void aReleaseOnTheWireWhileTheClientClosesIsAnswered() throws Exception {
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
    void aReleaseOnTheWireWhileTheSessionExpiresIsAnswered() throws Exception {
        FaultProxy proxy = proxy();
        Lease lease = behind(proxy).mutex("/m").acquire();
        proxy.blackHole();
        CompletableFuture<ReleaseOutcome> release = lease.releaseAsync();
        assertEquals(ReleaseOutcome.PENDING, release.get(10, TimeUnit.SECONDS));
    }

    @Test
    void aCreateOnTheWireWhileABorrowingClientClosesLeavesNoNode() throws Exception {
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
    void thousandsOfNodesOnALongPathDoNotBurstTheHeartbeat() throws Exception {
        ZkLockClient many = client(builder -> builder.sessionTimeout(Duration.ofSeconds(6)));
        String path = "/" + "long".repeat(100);
        Lease held = client("other").mutex(path).acquire();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 3000; i++) {
            waiting.add(many.mutex(path).acquireAsync());
        }
        awaitUntil("all stand in the queue", () -> requestsUnder(path).size() == 3001);
        CompletableFuture<LossCause> beaten = held.lost();
        assertThrows(TimeoutException.class, () -> beaten.get(2500, TimeUnit.MILLISECONDS));
        held.close();
        for (CompletableFuture<Lease> next : waiting) {
            next.get(20, TimeUnit.SECONDS).releaseAsync().get(20, TimeUnit.SECONDS);
        }
    }

    /** Late answers made terms that were over at birth, each of which looked at all nodes. */
    @Test
    void tenThousandTriesAtOnceDoNotCostAnotherLeaseItsValidity() throws Exception {
        ZkLockClient busy = client(builder -> builder.sessionTimeout(Duration.ofSeconds(6)));
        Lease bystander = busy.mutex("/bystander").acquire();
        Lease held = client("other").mutex("/m").acquire();
        List<CompletableFuture<?>> tries = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            tries.add(busy.mutex("/m").tryAcquireAsync(Duration.ofMillis(500)));
        }
        for (CompletableFuture<?> tried : tries) {
            tried.get(30, TimeUnit.SECONDS);
        }
        assertTrue(bystander.isValid());
        awaitNoRequestBut(held, "/m");
        assertTrue(bystander.isValid());
    }

    @Test
    void aNodeThatWasFoundAgainBeatsAsWell() throws Exception {
        FaultProxy proxy = proxy();
        client("creator").mutex("/m").acquire().close();
        ZkLockClient unlucky = client(
                builder -> builder.connectString(proxy.connectString()).sessionTimeout(LONG_ENOUGH_TO_RECONNECT));
        proxy.cutAfter(RequestMatch.create(), 1);
        Lease lease = unlucky.mutex("/m").acquire();
        CompletableFuture<LossCause> lost = lease.lost();
        assertThrows(
                TimeoutException.class,
                () -> lost.get(LONG_ENOUGH_TO_RECONNECT.toMillis() * 5 / 4, TimeUnit.MILLISECONDS));
    }

    @Test
    void whoWaitsBehindANeighboursDeletedNodeIsWoken() throws Exception {
        ZkLockClient one = client(builder -> builder.sessionTimeout(Duration.ofSeconds(20)));
        Lease held = client("other").mutex("/m").acquire();
        CompletableFuture<Lease> first = one.mutex("/m").acquireAsync();
        awaitQueue(one.mutex("/m"), 2);
        CompletableFuture<Lease> deleted = one.mutex("/m").acquireAsync();
        awaitQueue(one.mutex("/m"), 3);
        CompletableFuture<Lease> last = one.mutex("/m").acquireAsync();
        awaitQueue(one.mutex("/m"), 4);
        ZooKeeper operator = handle();
        operator.delete(requestsUnder("/m").get(2).path(), -1);
        assertTrue(first.cancel(false));
        held.close();
        last.get(10, TimeUnit.SECONDS).close();
        deleted.get(10, TimeUnit.SECONDS).close();
    }

    @Test
    void aWideMarginStillLetsALeaseLive() throws Exception {
        for (Duration margin : List.of(SESSION, Duration.ofMillis(1))) {
            Lease lease = client(builder -> builder.validityMargin(margin))
                    .mutex("/m")
                    .acquire();
            CompletableFuture<LossCause> lost = lease.lost();
            assertThrows(TimeoutException.class, () -> lost.get(2 * SESSION.toMillis(), TimeUnit.MILLISECONDS));
            lease.close();
        }
    }

    @Test
    void aRequestGivenUpBetweenTwoSessionsIsOver() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient restless = behind(proxy);
        Lease held = client("other").mutex("/m").acquire();
        CompletableFuture<Lease> waiting = restless.mutex("/m").acquireAsync();
        awaitQueue(client("viewer").mutex("/m"), 2);
        proxy.expireSession().get(5, TimeUnit.SECONDS);
        assertTrue(waiting.cancel(false));
        awaitNoRequestBut(held, "/m");
        held.close();
        restless.mutex("/m").acquire().close();
    }
}
