// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.check.FifoChecker;
import io.latchkey.testkit.check.LeakChecker;
import io.latchkey.testkit.check.LinearizabilityChecker;
import io.latchkey.testkit.check.LivenessChecker;
import io.latchkey.testkit.check.LossChecker;
import io.latchkey.testkit.check.TokenOrderChecker;
import io.latchkey.testkit.check.Verdict;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.HistoryEvent.What;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Real clients that contend for every kind of lock on a real server while nothing fails: all checkers agree. */
@LatchkeyTest(sessionMillis = 20_000)
@Timeout(180)
class ContentionTest {
    private static final int TURNS = 25;
    private static final Duration ALLOWANCE = Duration.ofSeconds(3);
    private static final Duration SERVED = Duration.ofSeconds(15);
    private static final Duration END = Duration.ofSeconds(60);

    private static Acquirable draw(History history, FaultyClient client, String base, SplittableRandom random) {
        LockClient locks = client.client();
        String m = base + "/m";
        String rw = base + "/rw";
        String s = base + "/s";
        return switch (random.nextInt(5)) {
            case 0 -> history.recordedMutex(client, m);
            case 1 -> history.recorded(client, locks.readWriteLock(rw).readLock(), LockClaim.shared(rw));
            case 2 -> history.recorded(client, locks.readWriteLock(rw).writeLock(), LockClaim.exclusive(rw));
            case 3 -> history.recorded(client, locks.semaphore(s, 3).permits(2), LockClaim.permits(s, 2, 3));
            default ->
                history.recorded(
                        client,
                        locks.multiLock(locks.mutex(m), locks.semaphore(s, 3)),
                        LockClaim.exclusive(m),
                        LockClaim.permits(s, 1, 3));
        };
    }

    private static Void takeTurns(History history, FaultyClient client, String base, SplittableRandom random)
            throws InterruptedException {
        for (int turn = 0; turn < TURNS; turn++) {
            Acquirable lock = draw(history, client, base, random);
            Optional<Lease> lease =
                    switch (random.nextInt(5)) {
                        case 0 -> lock.tryAcquire();
                        case 1 -> lock.tryAcquire(Duration.ofMillis(random.nextInt(1, 30)));
                        default -> Optional.of(lock.acquire());
                    };
            if (lease.isPresent() && lease.get().isValid()) {
                lease.get().close();
            }
        }
        return null;
    }

    private static void run(List<Callable<Void>> work) throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            for (Future<Void> done : threads.invokeAll(work, END.toSeconds(), TimeUnit.SECONDS)) {
                done.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void allCheckersPass_whileNothingFails(
            EmbeddedZooKeeper server, FaultyClient a, FaultyClient b, FaultyClient c, FaultyClient d) throws Exception {
        History history = new History();
        List<FaultyClient> clients = List.of(a, b, c, d);
        List<Callable<Void>> work = new ArrayList<>();
        for (FaultyClient client : clients) {
            SplittableRandom random = new SplittableRandom(work.size());
            work.add(() -> takeTurns(history, client, "/calm", random));
        }
        run(work);
        List.of(
                        ExclusionChecker.readWrite().whileSessionsLive(history),
                        ExclusionChecker.permits().whileSessionsLive(history),
                        TokenOrderChecker.check(history),
                        FifoChecker.check(history),
                        LivenessChecker.check(history, ALLOWANCE, SERVED),
                        LossChecker.check(history),
                        LinearizabilityChecker.check(history))
                .forEach(Verdict::assertObeyed);
        LeakChecker.within(END, () -> LeakChecker.check(server, "/calm", clients))
                .assertObeyed();
        long placed = history.events().stream()
                .filter(event -> event.what() == What.PLACED)
                .count();
        long granted = history.events().stream()
                .filter(event -> event.what() == What.GRANTED)
                .count();
        assertTrue(placed == granted, placed + " of " + granted + " grants were seen to be placed");
    }

    @Test
    void viewsObeyTheReentrantModel(LockClient one, LockClient two) throws Exception {
        History history = new History();
        List<Callable<Void>> work = new ArrayList<>();
        for (LockClient client : List.of(one, one, two)) {
            Lock view = history.recordedView(
                    client == one ? "one" : "two", client.mutex("/view").asLock(), "/view");
            work.add(() -> {
                for (int turn = 0; turn < TURNS; turn++) {
                    view.lock();
                    try {
                        assertTrue(view.tryLock());
                        view.unlock();
                    } finally {
                        view.unlock();
                    }
                }
                return null;
            });
        }
        run(work);
        LinearizabilityChecker.ofViews(history).assertObeyed();
        assertInstanceOf(
                Verdict.Broken.class, LinearizabilityChecker.check(history), "re-entries are none for a plain mutex");
    }
}
