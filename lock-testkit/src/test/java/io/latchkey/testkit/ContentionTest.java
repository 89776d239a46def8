// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LockClient;
import io.latchkey.testkit.FaultyClient.Connector;
import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.check.FifoChecker;
import io.latchkey.testkit.check.LinearizabilityChecker;
import io.latchkey.testkit.check.LivenessChecker;
import io.latchkey.testkit.check.LossChecker;
import io.latchkey.testkit.check.TokenOrderChecker;
import io.latchkey.testkit.check.Verdict;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.HistoryEvent.EventType;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Slowness;
import io.latchkey.testkit.workload.FaultSchedule;
import io.latchkey.testkit.workload.LockSpec;
import io.latchkey.testkit.workload.Play;
import io.latchkey.testkit.workload.Scenario;
import io.latchkey.testkit.workload.Workload;
import io.latchkey.testkit.workload.Workload.Turn;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Real clients that contend for every kind of lock on a real server while nothing fails: all checkers agree. */
@Tag("slow")
@LatchkeyTest(sessionMillis = 20_000)
@Timeout(180)
class ContentionTest {
    private static final int TURNS = 25;
    private static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(20));
    private static final Duration ALLOWANCE = Duration.ofSeconds(3);
    private static final Duration SERVED = Duration.ofSeconds(15);
    private static final Duration END = Duration.ofSeconds(60);

    private static Turn turn(SplittableRandom random) {
        LockSpec mutex = new LockSpec.Mutex("/m");
        LockSpec wanted =
                switch (random.nextInt(5)) {
                    case 0 -> mutex;
                    case 1 -> new LockSpec.Read("/rw");
                    case 2 -> new LockSpec.Write("/rw");
                    case 3 -> new LockSpec.Permits("/s", 2, 3);
                    default -> new LockSpec.Multi(List.of(mutex, new LockSpec.Permits("/s", 1, 3)));
                };
        return switch (random.nextInt(5)) {
            case 0 -> new Turn(0, wanted, Turn.Form.TRY_NOW, 0, 0);
            case 1 -> new Turn(0, wanted, Turn.Form.TRY_WITHIN, random.nextInt(1, 30), 0);
            default -> Turn.of(wanted, 0);
        };
    }

    @Test
    void allCheckersPass_whileNothingFails(EmbeddedZooKeeper server) throws Exception {
        List<Workload.Actor> actors = new ArrayList<>();
        for (int client = 0; client < 4; client++) {
            SplittableRandom random = new SplittableRandom(client);
            actors.add(new Workload.Actor(
                    client, Stream.generate(() -> turn(random)).limit(TURNS).toList()));
        }
        Play.Settings settings = new Play.Settings(SESSION, Reconnects.HONEST, END, Connector.ofLatchkey());
        History history = Play.of(Scenario.of(new Workload(actors), FaultSchedule.none()), server, settings)
                .history();
        List.of(
                        ExclusionChecker.readWrite().whileSessionsLive(history),
                        ExclusionChecker.permits().whileSessionsLive(history),
                        TokenOrderChecker.check(history),
                        FifoChecker.check(history),
                        LivenessChecker.check(history, ALLOWANCE, SERVED),
                        LossChecker.check(history),
                        LinearizabilityChecker.check(history))
                .forEach(Verdict::assertObeyed);
        long placed = history.events().stream()
                .filter(event -> event.type() == EventType.PLACED)
                .count();
        long granted = history.events().stream()
                .filter(event -> event.type() == EventType.GRANTED)
                .count();
        assertTrue(placed == granted, placed + " of " + granted + " grants were seen to be placed");
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
