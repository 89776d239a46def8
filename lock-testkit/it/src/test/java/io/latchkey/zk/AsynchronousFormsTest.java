// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.admin.Contender;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.RequestMatch;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The asynchronous forms of queue, resize and downgrade when servers are away, sessions end or callers give up. */
@Timeout(60)
class AsynchronousFormsTest {
    @AutoClose
    private final SimulatedLocks locks = SimulatedLocks.start();

    private final LockClient client = locks.client("mine");
    private final LockClient other = locks.client("other");

    private static <E extends LockException> E failure(Class<E> type, CompletableFuture<?> failing) {
        ExecutionException told = assertThrows(ExecutionException.class, () -> failing.get(10, TimeUnit.SECONDS));
        return assertInstanceOf(type, told.getCause());
    }

    @Test
    void questionsEnd_whenNoServerAnswers() throws Exception {
        client.semaphore("/s", 2).acquire().close();
        var held = locks.holdAnswers(client, RequestMatch.any().butHeartbeats());
        List<CompletableFuture<?>> asked = List.of(
                client.semaphore("/s", 2).queueAsync(),
                client.semaphore("/s", 2).resizeAsync(3),
                client.multiLock(client.mutex("/a"), client.mutex("/b")).queueAsync());
        locks.advance(Duration.ofSeconds(15));
        for (CompletableFuture<?> each : asked) {
            assertEquals(
                    LockException.Reason.NO_ANSWER,
                    failure(LockServiceUnavailableException.class, each).reason());
        }
        held.close();
    }

    @Test
    void questionThatWaitsForAConnectionEnds_whenTheSessionEnds() throws Exception {
        client.mutex("/m").acquire().close();
        locks.disconnect(client);
        CompletableFuture<?> listing = client.listLocksAsync("/");
        locks.expire(client);
        locks.heal(client);
        assertEquals(
                LockException.Reason.NO_SESSION,
                failure(LockServiceUnavailableException.class, listing).reason());
    }

    @Test
    void resizeIsNotSentAgain_whenAServerThrottlesItAndItsCallerHasGone() throws Exception {
        client.semaphore("/s", 2).acquire().close();
        RequestMatch change = RequestMatch.setData().path("of /s", "/s"::equals);
        Fault first = locks.refuseRequest(client, change, 1, KeeperException.Code.THROTTLEDOP);
        CompletableFuture<?> asked = client.semaphore("/s", 2).resizeAsync(3);
        locks.advance(Duration.ZERO);
        assertTrue(first.struck().isDone());
        assertTrue(asked.cancel(false));
        locks.advance(Duration.ofSeconds(1));
        assertEquals(2, client.semaphore("/s", 2).capacity());
    }

    @Test
    void downgradeFails_whenTheLeaseIsLost() throws Exception {
        ReadWriteLock lock = client.readWriteLock("/rw");
        Lease write = lock.writeLock().acquire();
        other.readWriteLock("/rw").readLock().queue().get(0).evict();
        LeaseLostException unused = failure(LeaseLostException.class, lock.downgradeAsync(write));
        assertEquals(List.of(), other.readWriteLock("/rw").readLock().queue());
    }

    @Test
    void contenderOfADowngradedLease_isThatOfItsWriteLease() throws Exception {
        ReadWriteLock lock = client.readWriteLock("/rw");
        Lease write = lock.writeLock().acquire();
        var before = other.readWriteLock("/rw").readLock().queue().get(0);
        Lease read = lock.downgrade(write);
        var after = other.readWriteLock("/rw").readLock().queue().get(0);
        assertTrue(before.isOf(write) && before.isOf(read) && after.isOf(read));
        assertTrue(lock.readLock().queue().get(0).isOwn());
        Lease beside = other.readWriteLock("/rw").readLock().acquire();
        assertTrue(!before.isOf(beside) && !after.isOf(beside));
        read.close();
        beside.close();
    }

    // ---- lists that are lost with their connection

    /** Heartbeats enough for a list that may break the connection again, in less than a session timeout. */
    private static final Duration SOME_HEARTBEATS = Duration.ofSeconds(9);

    /** The connection breaks in place of the answer to the next list, as it does if the list fits no packet. */
    private void loseAList() {
        Fault lost = locks.cutAfter(client, RequestMatch.list(), 1);
        CompletableFuture<?> asked = client.mutex("/m").queueAsync();
        locks.advance(SOME_HEARTBEATS);
        assertTrue(lost.struck().isDone());
        failure(LockServiceUnavailableException.class, asked);
    }

    private static List<Long> tokens(List<Contender> queue) {
        return queue.stream().map(Contender::token).toList();
    }

    /** After two lost lists the next one waits for a heartbeat, for which this client has no other reason. */
    @Test
    void queueIsRead_whenTwoListsOfAClientWithoutNodesWereLost() throws Exception {
        Lease held = other.mutex("/m").acquire();
        loseAList();
        loseAList();
        CompletableFuture<List<Contender>> queue = client.mutex("/m").queueAsync();
        locks.advance(SOME_HEARTBEATS);
        assertEquals(List.of(held.token()), tokens(queue.getNow(List.of())));
    }

    /** Five in a row would count as too long. */
    @Test
    void queueIsRead_whenFiveListsWereLostAndOthersWereAnsweredInBetween() throws Exception {
        Lease held = other.mutex("/m").acquire();
        for (int i = 0; i < 5; i++) {
            loseAList();
            CompletableFuture<List<Contender>> queue = client.mutex("/m").queueAsync();
            locks.advance(SOME_HEARTBEATS);
            assertEquals(List.of(held.token()), tokens(queue.get(10, TimeUnit.SECONDS)));
        }
    }

    /** Nodes may have been deleted since. The first pause is one session timeout long, and not a minute. */
    @Test
    void queueIsReadAgainAfterAPause_whenFiveListsInARowWereLost() throws Exception {
        Lease held = other.mutex("/m").acquire();
        for (int i = 0; i < 5; i++) {
            loseAList();
        }
        LockException tooLong = failure(LockException.class, client.mutex("/m").queueAsync());
        assertEquals(LockException.Reason.QUEUE_TOO_LONG, tooLong.reason());
        locks.advance(Duration.ofSeconds(10));
        CompletableFuture<List<Contender>> queue = client.mutex("/m").queueAsync();
        locks.advance(SOME_HEARTBEATS);
        assertEquals(List.of(held.token()), tokens(queue.get(10, TimeUnit.SECONDS)));
    }

    /** Each of these lists costs all requests of the client a reconnect. */
    @Test
    void pauseDoublesUpToAMinute_whenAListIsLostAgainAndAgain() throws Exception {
        Lease held = other.mutex("/m").acquire();
        for (int i = 0; i < 4; i++) {
            loseAList();
        }
        for (int times = 5; times < 40; times++) {
            Fault lost = locks.cutAfter(client, RequestMatch.list(), 1);
            CompletableFuture<?> asked = client.mutex("/m").queueAsync();
            for (int steps = 0; steps < 90 && !lost.struck().isDone(); steps++) {
                locks.advance(Duration.ofMillis(100));
            }
            assertTrue(lost.struck().isDone(), "not asked for after " + times + " lists and the pause");
            failure(LockServiceUnavailableException.class, asked);
            Duration pause = Duration.ofSeconds(Math.min(60, 10L << Math.min(times - 5, 3)));
            locks.advance(pause.minusSeconds(1));
            CompletableFuture<?> tooSoon = client.mutex("/m").queueAsync();
            locks.advance(Duration.ZERO);
            assertTrue(tooSoon.isDone(), "asked for within the pause after " + times + " lists");
            assertEquals(
                    LockException.Reason.QUEUE_TOO_LONG,
                    failure(LockException.class, tooSoon).reason());
            locks.advance(Duration.ofSeconds(2));
        }
        held.close();
    }

    /** It is known to be short, so it cannot have broken the connection. */
    @Test
    void listIsReadAtOnce_whenOneWasLostAndItsClientHolds() throws Exception {
        Lease held = client.mutex("/m").acquire();
        loseAList();
        CompletableFuture<List<Contender>> queue = client.mutex("/m").queueAsync();
        locks.advance(Duration.ZERO);
        assertEquals(List.of(held.token()), tokens(queue.getNow(List.of())));
        held.close();
    }

    /** Such lists are sent one at a time, so one that is not sent must not keep back the next. */
    @Test
    void requestIsGranted_whenAnEarlierOneWasGivenUpBeforeItsListWasSent() throws Exception {
        other.mutex("/m").acquire().close();
        Lease held = client.mutex("/held").acquire();
        loseAList();
        loseAList();
        // The lease would not survive a lost connection now, so the list waits for a heartbeat.
        var heartbeats = locks.holdAnswers(client, RequestMatch.heartbeat());
        locks.advance(Duration.ofMillis(500));
        CompletableFuture<Lease> givenUp = client.mutex("/m").acquireAsync();
        assertTrue(givenUp.cancel(false));
        heartbeats.close();
        locks.advance(SOME_HEARTBEATS);
        held.close();
        CompletableFuture<Lease> next = client.mutex("/m").acquireAsync();
        locks.advance(SOME_HEARTBEATS);
        assertTrue(next.isDone(), "its list was not sent");
        next.get().close();
    }
}
