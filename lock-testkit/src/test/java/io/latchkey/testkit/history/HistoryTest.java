// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.check.LinearizabilityChecker;
import io.latchkey.testkit.check.TokenOrderChecker;
import io.latchkey.testkit.check.Verdict;
import io.latchkey.testkit.history.HistoryEvent.EventType;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@LatchkeyTest(sessionMillis = 5000)
@Timeout(60)
class HistoryTest {
    private static List<EventType> kinds(History history, String client) {
        return history.events().stream()
                .filter(event -> event.client().equals(client))
                .map(HistoryEvent::type)
                .toList();
    }

    @Test
    void recordsAHoldInOrder(FaultyClient one, FaultyClient two) throws Exception {
        History history = new History();
        Acquirable first = history.recordedMutex(one, "/recorded");
        Acquirable second = history.recordedMutex(two, "/recorded");
        try (Lease lease = first.acquire()) {
            assertTrue(second.tryAcquire(Duration.ofMillis(20)).isEmpty());
            assertTrue(lease.isValid());
        }
        assertEquals(
                List.of(
                        EventType.REQUESTED,
                        EventType.PLACED,
                        EventType.GRANTED,
                        EventType.VALID,
                        EventType.RELEASING,
                        EventType.RELEASED),
                kinds(history, one.name()));
        assertEquals(List.of(EventType.REQUESTED, EventType.GAVE_UP), kinds(history, two.name()));
        HistoryEvent granted = history.events().stream()
                .filter(event -> event.type() == EventType.GRANTED)
                .findFirst()
                .orElseThrow();
        assertEquals(one.proxy().session().getAsLong(), granted.session());
        assertTrue(granted.token() > 0);
        ExclusionChecker.mutex().whileSessionsLive(history).assertObeyed();
        ExclusionChecker.mutex().byTheirOwnLooks(history).assertObeyed();
        TokenOrderChecker.check(history).assertObeyed();
    }

    @Test
    void recordsAsynchronousHoldsAndCancellation(FaultyClient one, FaultyClient two) throws Exception {
        History history = new History();
        Lease lease = history.recordedMutex(one, "/async").acquireAsync().get(10, TimeUnit.SECONDS);
        CompletableFuture<Lease> waiting = history.recordedMutex(two, "/async").acquireAsync();
        assertThrows(java.util.concurrent.TimeoutException.class, () -> waiting.get(50, TimeUnit.MILLISECONDS));
        waiting.cancel(false);
        Eventually.holds("recorded cancellation", Duration.ofSeconds(10), () -> kinds(history, two.name())
                .contains(EventType.GAVE_UP));
        lease.releaseAsync().toCompletableFuture().get(10, TimeUnit.SECONDS);
        assertTrue(kinds(history, one.name()).contains(EventType.RELEASED));
        assertTrue(history.recordedMutex(two, "/async")
                .tryAcquireAsync(Duration.ofSeconds(5))
                .get(10, TimeUnit.SECONDS)
                .isPresent());
    }

    @Test
    void history_recordsALossByForcedExpiry(FaultyClient one, FaultyClient two) throws Exception {
        History history = new History();
        Lease lease = history.recordedMutex(one, "/forced").acquire();
        history.expire(one, ExpiryOrder.SERVER_FIRST).get(10, TimeUnit.SECONDS);
        try (Lease next = history.recordedMutex(two, "/forced").acquire()) {
            assertTrue(next.isValid());
            lease.isValid();
            lease.lost().toCompletableFuture().get(10, TimeUnit.SECONDS);
            Eventually.holds("recorded loss", Duration.ofSeconds(10), () -> kinds(history, one.name())
                    .contains(EventType.LOST));
        }
        assertTrue(kinds(history, one.name()).containsAll(List.of(EventType.SESSION_ENDING, EventType.SESSION_ENDED)));
        ExclusionChecker.mutex().whileSessionsLive(history).assertObeyed();
        TokenOrderChecker.check(history).assertObeyed();
        assertInstanceOf(Verdict.Inapplicable.class, ExclusionChecker.mutex().byTheirOwnLooks(history));
    }

    @Tag("slow")
    @Test
    void history_recordsLooksDuringAPartition(FaultyClient one, FaultyClient two) throws Exception {
        History history = new History();
        Lease lease = history.recordedMutex(one, "/partitioned").acquire();
        CompletableFuture<Lease> next =
                history.recordedMutex(two, "/partitioned").acquireAsync();
        CompletableFuture<Long> ended = history.expire(one, ExpiryOrder.PARTITION);
        Eventually.holds("loss", Duration.ofSeconds(20), () -> !lease.isValid());
        assertFalse(next.isDone(), "lost before another client can hold");
        next.get(20, TimeUnit.SECONDS).close();
        ended.get(20, TimeUnit.SECONDS);
        Eventually.holds("recorded loss", Duration.ofSeconds(10), () -> kinds(history, one.name())
                .contains(EventType.LOST));
        ExclusionChecker.mutex().whileSessionsLive(history).assertObeyed();
        ExclusionChecker.mutex().byTheirOwnLooks(history).assertObeyed();
    }

    @Test
    void attemptHasEnded_whenItIsRefusedAtOnce(FaultyClient one) {
        History history = new History();
        Acquirable lock = history.recordedMutex(one, "/refused");
        assertThrows(IllegalArgumentException.class, () -> lock.tryAcquireAsync(Duration.ofMillis(-1)));
        assertEquals(List.of(EventType.REQUESTED, EventType.GAVE_UP), kinds(history, one.name()));
    }

    /** As virtual threads are: all have the empty name. */
    @Test
    void holdsOfAViewAreTwoHolders_whenTheirThreadsShareAName() throws Exception {
        History history = new History();
        Lock view = history.recordedView("C0", new NonExcludingLock(), "/shared-name");
        assertTrue(view.tryLock());
        Thread other = new Thread(
                () -> {
                    assertTrue(view.tryLock());
                    view.unlock();
                },
                Thread.currentThread().getName());
        other.start();
        other.join();
        view.unlock();
        Verdict verdict = LinearizabilityChecker.ofViews(history);
        assertInstanceOf(Verdict.Broken.class, verdict, verdict::toString);
    }

    /** Never excludes. */
    private static final class NonExcludingLock extends ReentrantLock {
        private static final long serialVersionUID = 1;

        @Override
        public boolean tryLock() {
            return true;
        }

        @Override
        public void unlock() {}
    }

    @Test
    void history_recordsTheSessionOfAMultiLock(FaultyClient one) throws Exception {
        History history = new History();
        LockClient locks = one.client();
        Acquirable both = history.recorded(
                one,
                locks.multiLock(
                        locks.mutex("/multi/a"), locks.semaphore("/multi/s", 3).permits(2)),
                LockClaim.exclusive("/multi/a"),
                LockClaim.permits("/multi/s", 2, 3));
        both.acquire().close(); // on new paths
        both.acquire().close(); // on known ones
        List<HistoryEvent> grants = history.events().stream()
                .filter(event -> event.type() == EventType.GRANTED)
                .toList();
        assertEquals(2, grants.size());
        for (HistoryEvent grant : grants) {
            assertEquals(one.proxy().session().getAsLong(), grant.session());
            assertTrue(grant.toString().contains("/multi/a + /multi/s 2 of 3 GRANTED"), grant::toString);
        }
    }

    @Test
    void history_recordsADowngradeWithoutAGap(FaultyClient one, FaultyClient two) throws Exception {
        History history = new History();
        ReadWriteLock lock = one.client().readWriteLock("/downgraded");
        Lease write = history.recorded(one, lock.writeLock(), LockClaim.exclusive("/downgraded"))
                .acquire();
        Lease read = History.downgrade(lock, write);
        Lease reader = history.recorded(
                        two, two.client().readWriteLock("/downgraded").readLock(), LockClaim.shared("/downgraded"))
                .acquire();
        assertTrue(read.isValid());
        assertTrue(reader.isValid());
        reader.close();
        read.close();
        List<HistoryEvent> ofOne = history.events().stream()
                .filter(event -> event.client().equals(one.name()))
                .toList();
        assertEquals(
                List.of(
                        EventType.REQUESTED,
                        EventType.PLACED,
                        EventType.GRANTED,
                        EventType.VALID, // when it was handed out
                        EventType.RELEASING,
                        EventType.RELEASED,
                        EventType.REQUESTED,
                        EventType.GRANTED,
                        EventType.VALID,
                        EventType.RELEASING,
                        EventType.RELEASED),
                ofOne.stream().map(HistoryEvent::type).toList());
        assertEquals(ofOne.get(4).nanos(), ofOne.get(7).nanos(), "no moment between");
        ExclusionChecker.readWrite().whileSessionsLive(history).assertObeyed();
        TokenOrderChecker.check(history).assertObeyed();
        assertThrows(
                IllegalArgumentException.class,
                () -> History.downgrade(lock, one.client().mutex("/unrecorded").acquire()));
    }
}
