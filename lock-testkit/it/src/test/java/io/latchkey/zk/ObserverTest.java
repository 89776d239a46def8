// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.FaultProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every event is reported once, in order, and an observer cannot disturb the locks. */
@Timeout(60)
class ObserverTest extends OnOneServer {
    @AutoClose
    private final SimulatedLocks locks = SimulatedLocks.start();

    private final RecordingObserver heard = new RecordingObserver();
    /** For a client that only one test has. */
    private final RecordingObserver own = new RecordingObserver();

    private int fences;
    private final FaultProxy proxy = fastProxy();
    private final ZkLockClient client =
            client(builder -> builder.connectString(proxy.connectString()).observer(heard));
    private final ZkLockClient other = client("other");

    ObserverTest() throws InterruptedException {}

    /** Calls come asynchronously, in order: after the call for a later event, all earlier calls have been made. */
    private void assertHeard(String path, String... expected) throws Exception {
        String fence = "/fence-" + fences++;
        client.mutex(fence).acquire().close();
        awaitUntil("all calls", () -> heard.of(fence).size() == 3);
        assertEquals(List.of(expected), heard.of(path));
    }

    @Test
    void hold_isReportedFromTheCallToTheRelease() throws Exception {
        client.mutex("/m").acquire().close();
        assertHeard("/m", "requested mutex /m", "granted mutex /m", "released mutex /m");
        assertEquals("CONNECTED", heard.lines().get(0));
        assertTrue(
                heard.threads().stream().allMatch(thread -> thread.startsWith("latchkey-observer-")),
                () -> "on " + heard.threads());
    }

    @Test
    void waiter_getsItsPosition() throws Exception {
        Lease first = other.mutex("/m").acquire();
        CompletableFuture<Lease> second = other.mutex("/m").acquireAsync();
        awaitRequests("/m", 2);
        CompletableFuture<Lease> third = client.mutex("/m").acquireAsync();
        awaitUntil("its place", () -> heard.of("/m").size() == 2);
        first.close();
        soon(second).close();
        soon(third).close();
        assertHeard("/m", "requested mutex /m", "queued at 2 mutex /m", "granted mutex /m", "released mutex /m");
    }

    /** They are created together at the reconnect, and one list shows the second that the third is there. */
    @Test
    void position_countsTheRequestsAheadAlone_whenOneListIsForSeveral() throws Exception {
        LockClient waiting = locks.client(own);
        Lease held = locks.client().mutex("/m").acquire();
        locks.disconnect(waiting);
        List<CompletableFuture<Lease>> asked = Stream.generate(
                        () -> waiting.mutex("/m").acquireAsync())
                .limit(3)
                .toList();
        locks.heal(waiting);
        locks.advance(Duration.ofSeconds(1));
        awaitUntil("two positions", () -> own.of("/m").size() == 5);
        assertEquals(
                List.of("queued at 1 mutex /m", "queued at 2 mutex /m"),
                own.of("/m").subList(3, 5));
        held.close();
        for (CompletableFuture<Lease> next : asked) {
            soon(next).close();
        }
    }

    /** Its request is evicted, and then its session ends. */
    @Test
    void waiter_getsItsPositionAgain_eachTimeThatItQueuesAgain() throws Exception {
        LockClient waiting = locks.client(own);
        Lease held = locks.client().mutex("/m").acquire();
        CompletableFuture<Lease> next = waiting.mutex("/m").acquireAsync();
        String request = locks.nodesUnder("/m").stream()
                .filter(node -> node.session() == locks.session(waiting))
                .findFirst()
                .orElseThrow()
                .path();
        locks.delete(request);
        locks.expire(waiting);
        held.close();
        soon(next).close();
        awaitUntil("its end", () -> own.of("/m").contains("released mutex /m"));
        assertEquals(
                List.of(
                        "requested mutex /m",
                        "queued at 1 mutex /m",
                        "queued at 1 mutex /m",
                        "queued at 1 mutex /m",
                        "granted mutex /m",
                        "released mutex /m"),
                own.of("/m"));
    }

    /** They hold by one node, whose own request is not reported. */
    @Test
    void everyReaderIsSuspectAndShown_whenSeveralOfAClientHold() throws Exception {
        LockClient turning = locks.builder()
                .observer(own)
                .localTurns(9, Duration.ofMinutes(1))
                .build();
        Acquirable reads = turning.readWriteLock("/rw").readLock();
        List<Lease> held = List.of(reads.acquire(), reads.acquire());
        assertEquals(1, locks.nodesUnder("/rw").size());
        assertEquals(
                List.of("/rw", "/rw"),
                turning.diagnose().holds().stream()
                        .map(lease -> lease.request().path())
                        .toList());
        locks.disconnect(turning);
        awaitUntil("both are suspect", () -> Collections.frequency(own.of("/rw"), "suspect read lock /rw") == 2);
        assertTrue(held.stream().allMatch(Lease::isValid));
    }

    /** The holder and the waiter are of one client, so the release needs no server to grant the lock. */
    @Test
    void leaseIsReportedAsSuspect_whenItIsGrantedWithoutAConnection() throws Exception {
        LockClient both = locks.client(own);
        Lease first = both.mutex("/m").acquire();
        CompletableFuture<Lease> second = both.mutex("/m").acquireAsync();
        locks.disconnect(both);
        var unused = first.releaseAsync();
        assertEquals(LeaseState.SUSPECT, soon(second).state());
        awaitUntil("both are suspect", () -> Collections.frequency(own.of("/m"), "suspect mutex /m") == 2);
    }

    /** ZooKeeper's client reports each of them as a lost connection. */
    @Test
    void lossOfTheConnectionIsReportedOnce_whenAttemptsToReconnectFail() throws Exception {
        LockClient holding = locks.client(own);
        Lease held = holding.mutex("/m").acquire();
        locks.disconnect(holding);
        locks.advance(Duration.ofSeconds(2));
        locks.heal(holding);
        locks.advance(Duration.ofSeconds(1));
        held.close();
        awaitUntil("its end", () -> own.lines().contains("released mutex /m"));
        assertEquals(
                List.of(
                        "CONNECTED",
                        "requested mutex /m",
                        "granted mutex /m",
                        "DISCONNECTED",
                        "suspect mutex /m",
                        "CONNECTED",
                        "released mutex /m"),
                own.lines());
    }

    @Test
    void multiLockGetsOnePosition_inTheFirstQueueInWhichItWaits() throws Exception {
        LockClient waiting = locks.client(own);
        LockClient holding = locks.client();
        Lease first = holding.mutex("/b").acquire();
        CompletableFuture<Lease> second = holding.mutex("/b").acquireAsync();
        Lease last = holding.mutex("/c").acquire();
        CompletableFuture<Lease> next = waiting.multiLock(waiting.mutex("/a"), waiting.mutex("/b"), waiting.mutex("/c"))
                .acquireAsync();
        first.close();
        soon(second).close();
        last.close();
        soon(next).close();
        awaitUntil("its end", () -> own.of("/a").contains("released multi-lock of 3 /a"));
        assertEquals(
                List.of("queued at 2 multi-lock of 3 /a", "granted multi-lock of 3 /a"),
                own.of("/a").subList(1, 3));
    }

    @Test
    void leaseIsReportedAsSuspect_atEachLossOfTheConnection() throws Exception {
        LockClient holding = locks.client(own);
        Lease lease = holding.mutex("/m").acquire();
        for (int times = 0; times < 2; times++) {
            locks.disconnect(holding);
            assertEquals(LeaseState.SUSPECT, lease.state());
            locks.heal(holding);
            locks.advance(Duration.ofSeconds(1));
            assertEquals(LeaseState.HELD, lease.state());
        }
        lease.close();
        awaitUntil("its end", () -> own.of("/m").contains("released mutex /m"));
        assertEquals(
                List.of("suspect mutex /m", "suspect mutex /m"), own.of("/m").subList(2, 4));
    }

    /** The place at the server for local turns is a request of its own, of which the observer hears nothing. */
    @Test
    void requestsOfEachClientAreNumberedFromOne() throws Exception {
        for (int clients = 0; clients < 2; clients++) {
            BlockingQueue<Long> ids = new LinkedBlockingQueue<>();
            LockObserver numbers = new LockObserver() {
                @Override
                public void requested(Request request) {
                    ids.add(request.id());
                }
            };
            LockClient turning = locks.builder()
                    .localTurns(2, Duration.ofMinutes(1))
                    .observer(numbers)
                    .build();
            for (long id = 1; id <= 3; id++) {
                turning.mutex("/m").acquire().close();
                assertEquals(id, ids.poll(10, TimeUnit.SECONDS));
            }
        }
    }

    @Test
    @Tag("slow")
    void ungrantedRequest_isReportedWithItsFailure() throws Exception {
        Lease held = other.mutex("/m").acquire();
        Mutex mutex = client.mutex("/m");
        assertEquals(Optional.empty(), mutex.tryAcquire());
        assertHeard("/m", "requested mutex /m", "BUSY mutex /m");

        Lease permits = other.semaphore("/s", 3).permits(2).acquire();
        assertEquals(Optional.empty(), client.semaphore("/s", 3).permits(2).tryAcquire(Duration.ofSeconds(3)));
        String semaphore = " 2 permits of semaphore /s";
        assertHeard("/s", "requested" + semaphore, "queued at 1" + semaphore, "TIMED_OUT" + semaphore);
        permits.close();

        assertThrows(
                LockMismatchException.class,
                () -> client.readWriteLock("/m").readLock().acquire());
        assertHeard(
                "/m",
                "requested mutex /m",
                "BUSY mutex /m",
                "requested read lock /m",
                "REFUSED DIFFERENT_KIND read lock /m");
        held.close();
    }

    @Test
    void cancelledOrInterruptedRequest_isReportedAsCancelled() throws Exception {
        Lease cancelled = other.mutex("/cancelled").acquire();
        CompletableFuture<Lease> waiting = client.mutex("/cancelled").acquireAsync();
        awaitUntil("its place", () -> heard.of("/cancelled").size() == 2);
        waiting.cancel(false);
        assertHeard(
                "/cancelled",
                "requested mutex /cancelled",
                "queued at 1 mutex /cancelled",
                "CANCELLED mutex /cancelled");
        cancelled.close();

        Lease interrupted = other.mutex("/interrupted").acquire();
        CountDownLatch told = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            assertThrows(InterruptedException.class, () -> client.mutex("/interrupted")
                    .acquire());
            told.countDown();
        });
        thread.start();
        awaitUntil("its place", () -> heard.of("/interrupted").size() == 2);
        thread.interrupt();
        assertTrue(told.await(10, TimeUnit.SECONDS));
        assertHeard(
                "/interrupted",
                "requested mutex /interrupted",
                "queued at 1 mutex /interrupted",
                "CANCELLED mutex /interrupted");
        interrupted.close();
    }

    @ParameterizedTest
    @EnumSource(value = LossCause.class, mode = EnumSource.Mode.EXCLUDE, names = "CLIENT_FAILED") // HostileProcessTest
    @Tag("slow")
    void loss_isReportedOnceWithItsCause(LossCause cause) throws Exception {
        Mutex mutex = client.mutex("/m");
        Lease lease = (cause == LossCause.HELD_TOO_LONG ? mutex.heldAtMost(Duration.ofMillis(100)) : mutex).acquire();
        CompletableFuture<String> thread =
                lease.lost().thenApply(told -> Thread.currentThread().getName()).toCompletableFuture();
        switch (cause) {
            case HELD_TOO_LONG -> {}
            case SESSION_EXPIRED -> proxy.expireSession().join();
            case DEADLINE_PASSED -> proxy.blackHole();
            case NODE_DELETED -> {
                CompletableFuture<LossCause> lost = lease.lost().toCompletableFuture();
                settle(client.mutex("/m"));
                deleteRequest("/m", 0);
                assertEquals(LossCause.NODE_DELETED, lost.get(10, TimeUnit.SECONDS));
            }
            case CLIENT_CLOSED -> client.close();
            case CLIENT_FAILED -> throw new AssertionError("excluded");
        }
        assertEquals(cause, lease.lost().toCompletableFuture().get(LONG_SESSION.toSeconds(), TimeUnit.SECONDS));
        proxy.heal(); // or its client would be long in closing
        assertEquals(ReleaseOutcome.LOST, lease.release());
        assertFalse(lease.isValid());
        List<String> expected = List.of("requested mutex /m", "granted mutex /m", "lost, " + cause + ", mutex /m");
        awaitUntil("the loss", () -> withoutSuspicion("/m").size() >= expected.size());
        settle(other.mutex("/m"));
        assertEquals(expected, withoutSuspicion("/m"));
        if (cause == LossCause.CLIENT_CLOSED) {
            assertTrue(soon(thread).startsWith("latchkey-callback-"), thread::toString);
            awaitUntil("the end", () -> heard.lines().contains("CLOSED"));
            assertEquals("CLOSED", heard.lines().get(heard.lines().size() - 1));
        }
        if (cause == LossCause.SESSION_EXPIRED) {
            awaitUntil(
                    "the next session",
                    () -> heard.lines().indexOf("EXPIRED") > 0
                            && heard.lines().lastIndexOf("CONNECTED")
                                    > heard.lines().indexOf("EXPIRED"));
        }
    }

    private List<String> withoutSuspicion(String path) {
        return heard.of(path).stream()
                .filter(line -> !line.startsWith("suspect"))
                .toList();
    }

    @Test
    @SuppressWarnings("LockNotBeforeTry") // the client's end unlocks
    void reentrantView_isReportedAsOneRequest() throws Exception {
        Lock view = client.mutex("/view").asLock();
        view.lock();
        view.lock();
        view.unlock();
        view.unlock();
        assertHeard("/view", "requested mutex /view", "granted mutex /view", "released mutex /view");

        ReadWriteLock rw = client.readWriteLock("/rw");
        rw.downgrade(rw.writeLock().acquire()).close();
        assertHeard("/rw", "requested write lock /rw", "granted write lock /rw", "released write lock /rw");

        Acquirable both = client.multiLock(client.mutex("/multi"), client.mutex("/second"));
        both.acquire().close();
        assertHeard(
                "/multi",
                "requested multi-lock of 2 /multi",
                "granted multi-lock of 2 /multi",
                "released multi-lock of 2 /multi");
        assertEquals(List.of(), heard.of("/second"));
    }

    @Test
    void localTurns_areReportedSeparately() throws Exception {
        ZkLockClient turns = client(builder -> builder.observer(own).localTurns(10, Duration.ofMinutes(1)));
        Lease first = turns.mutex("/m").acquire();
        CompletableFuture<Lease> second = turns.mutex("/m").acquireAsync();
        awaitUntil("the second stands", () -> own.of("/m").size() == 4);
        CompletableFuture<Lease> third = turns.mutex("/m").acquireAsync();
        awaitUntil("the third stands", () -> own.of("/m").size() == 6);
        assertEquals(Optional.empty(), turns.mutex("/m").tryAcquire(Duration.ofMillis(50)));
        awaitUntil("the fourth is reported", () -> own.of("/m").size() == 9);
        third.cancel(false);
        first.close();
        assertEquals(first.token(), soon(second).token());
        turns.close();
        assertEquals(
                LossCause.CLIENT_CLOSED,
                second.join().lost().toCompletableFuture().get(10, TimeUnit.SECONDS));
        awaitUntil("the end", () -> own.lines().contains("CLOSED"));
        assertEquals(
                List.of(
                        "requested mutex /m",
                        "granted mutex /m",
                        "requested mutex /m",
                        "queued at 1 mutex /m",
                        "requested mutex /m",
                        "queued at 2 mutex /m",
                        "requested mutex /m",
                        "queued at 3 mutex /m",
                        "TIMED_OUT mutex /m",
                        "CANCELLED mutex /m",
                        "released mutex /m",
                        "granted mutex /m",
                        "lost, CLIENT_CLOSED, mutex /m"),
                own.of("/m"));
    }

    /** The second waits for the first one's answer alone, and the third for a permit. */
    @Test
    void localTurnGetsAPosition_onlyWhenItWaitsForAPermit() throws Exception {
        ZkLockClient turns = client(builder -> builder.observer(own).localTurns(10, Duration.ofMinutes(1)));
        List<CompletableFuture<Lease>> asked = Stream.generate(
                        () -> turns.semaphore("/s", 2).acquireAsync())
                .limit(3)
                .toList();
        soon(asked.get(0));
        Lease second = soon(asked.get(1));
        // Else the third may be on its way to the servers, and find a permit free there.
        awaitUntil("the third waits", () -> own.of("/s").stream().anyMatch(line -> line.startsWith("queued")));
        second.close();
        soon(asked.get(2)).close();
        awaitUntil("all calls", () -> own.of("/s").size() == 9);
        assertEquals(
                1,
                own.of("/s").stream().filter(line -> line.startsWith("queued")).count(),
                () -> own.of("/s").toString());
    }

    @Test
    void firstLocalWaiterGetsItsPosition_whenItWaitsForAnotherClient() throws Exception {
        ZkLockClient turns = client(builder -> builder.observer(own).localTurns(10, Duration.ofMinutes(1)));
        Lease held = other.mutex("/m").acquire();
        CompletableFuture<Lease> first = turns.mutex("/m").acquireAsync();
        CompletableFuture<Lease> second = turns.mutex("/m").acquireAsync();
        awaitUntil("both calls", () -> own.of("/m").size() == 4);
        held.close();
        soon(first).close();
        soon(second).close();
        awaitUntil("all calls", () -> own.of("/m").size() == 8);
        assertEquals(
                List.of("queued at 1 mutex /m", "queued at 1 mutex /m"),
                own.of("/m").stream().filter(line -> line.startsWith("queued")).toList());
    }

    /** Each request counts from its own call and its own grant, with a node of its own or in turn. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void timesAndTokensAreThoseOfTheRequest(boolean inTurn) throws Exception {
        List<String> told = Collections.synchronizedList(new ArrayList<>());
        LockObserver observer = new LockObserver() {
            @Override
            public void granted(Request request, long token, Duration waited) {
                told.add(request.id() + " granted " + token + " after " + waited);
            }

            @Override
            public void notGranted(
                    Request request, AcquireFailure failure, Optional<LockException.Reason> reason, Duration waited) {
                told.add(request.id() + " " + failure + " after " + waited);
            }

            @Override
            public void lost(Request request, long token, LossCause cause, Duration held) {
                told.add(request.id() + " lost " + token + " after " + held);
            }

            @Override
            public void released(Request request, long token, Duration held) {
                told.add(request.id() + " released " + token + " after " + held);
            }
        };
        var builder = locks.builder().observer(observer);
        LockClient waiting = (inTurn ? builder.localTurns(5, Duration.ofHours(1)) : builder).build();
        Lease held = locks.client().mutex("/m").acquire();
        CompletableFuture<Lease> first = waiting.mutex("/m").acquireAsync();
        locks.advance(Duration.ofSeconds(1));
        var tried = waiting.mutex("/m").tryAcquireAsync(Duration.ofSeconds(2));
        CompletableFuture<Lease> second = waiting.mutex("/m").acquireAsync();
        locks.advance(Duration.ofSeconds(3));
        held.close();
        long token = soon(first).token();
        locks.advance(Duration.ofSeconds(7));
        first.join().close();
        long next = soon(second).token();
        assertEquals(inTurn, next == token);
        locks.advance(Duration.ofSeconds(2));
        locks.expire(waiting);
        awaitUntil("the loss", () -> told.size() == 5);
        assertEquals(
                List.of(
                        "2 TIMED_OUT after PT2S",
                        "1 granted " + token + " after PT4S",
                        "1 released " + token + " after PT7S",
                        "3 granted " + next + " after PT10S",
                        "3 lost " + next + " after PT2S"),
                told);
        assertEquals(Optional.empty(), soon(tried));
    }

    @Test
    void pathIsThatOfTheUser_whenTheClientHasABasePath() throws Exception {
        ZkLockClient based = client(builder -> builder.basePath("/base").observer(own));
        based.mutex("/m").acquire().close();
        awaitUntil("all calls", () -> own.of("/m").size() == 3);
    }

    /** With one thread for callbacks, which an observer on it would block. */
    @Test
    void observerThatBlocksOrThrows_disturbsNoLock() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch stuck = new CountDownLatch(1);
        FaultProxy line = fastProxy();
        ZkLockClient watched =
                client(builder -> builder.connectString(line.connectString()).observer(new LockObserver() {
                    @Override
                    public void requested(Request request) {
                        stuck.countDown();
                        try {
                            assertTrue(goOn.await(50, TimeUnit.SECONDS));
                        } catch (InterruptedException interrupted) {
                            Thread.currentThread().interrupt();
                        }
                        throw new IllegalStateException("the observer's own");
                    }
                }));
        try {
            watched.mutex("/m").acquire().close();
            assertTrue(stuck.await(10, TimeUnit.SECONDS));
            Lease lease = soon(watched.mutex("/m").acquireAsync());
            assertEquals(Optional.empty(), watched.mutex("/m").tryAcquire(Duration.ofMillis(50)));
            CompletableFuture<LossCause> lost = lease.lost().toCompletableFuture();
            line.expireSession().join();
            assertEquals(LossCause.SESSION_EXPIRED, lost.get(10, TimeUnit.SECONDS));
            assertEquals(ReleaseOutcome.RELEASED, watched.mutex("/m").acquire().release());
        } finally {
            goOn.countDown();
        }
    }
}
