// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.Lists;
import io.latchkey.zk.internal.context.WithoutServer;
import io.latchkey.zk.internal.path.PendingDeletions;
import io.latchkey.zk.internal.path.SessionQueues;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.FakeStore;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.validity.VirtualClock;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Steps whose cost does not depend on the number of other requests or paths. A walk over all of them would exceed each
 * bound many times over.
 */
@Tag("once")
class ManyRequestsTest {
    private static final Duration SOON = Duration.ofSeconds(5);

    private final VirtualClock time = new VirtualClock();
    private final Engine engine = engine();
    private final Session session = new Session(engine.context(), engine.core());
    private final SessionQueues queues = new SessionQueues(session);

    private Engine engine() {
        return new Engine(WithoutServer.config(this::connectedPort, Duration.ofSeconds(10), time));
    }

    /** Creates nodes at once, answers transactions when the session's validity has ended, and answers nothing else. */
    private ZnodeStore connectedPort(ZnodeStore.Listener listener) {
        listener.connected(10_000, Optional.empty());
        AtomicInteger created = new AtomicInteger();
        return FakeStore.of((request, args) -> {
            if (request.equals("create")) {
                String name = args[0] + String.format(Locale.ROOT, "%010d", created.getAndIncrement());
                name = name.substring(name.lastIndexOf('/') + 1);
                FakeStore.answer(args[2], Response.of(new ZnodeStore.CreatedNode(name, 1)));
            } else if (request.equals("write")) {
                time.pass(Duration.ofMinutes(1));
                FakeStore.answer(args[1], Response.of(new ZnodeStore.TransactionResult(List.of(), Optional.empty())));
            }
        });
    }

    /** Compares leaving at the end with leaving at the front, so that the machine's speed does not matter. */
    @Test
    void waitersLeaveALineOfLocalTurns_withoutAWalkOverTheLine() {
        LocalHandOff turns = new LocalHandOff(engine, 10, Duration.ofMinutes(1));
        List<CompletableFuture<Optional<ZkLease>>> line = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) {
            line.add(turns.acquire(new LockTarget(Recipe.MUTEX, new LockPath("/m")), new WaitPolicy.Forever()));
        }
        long first = nanosToLeave(line.subList(0, 10_000));
        long last = nanosToLeave(Lists.reverse(line).subList(0, 10_000));
        assertTrue(last < 20 * first, () -> "from the front " + first + " ns, from the end " + last + " ns");
    }

    /** Of this thread's work: a thread that waits for a processor, or for a collection, has longer times. */
    private static long worked() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static long nanosToLeave(List<CompletableFuture<Optional<ZkLease>>> leaving) {
        long start = worked();
        leaving.forEach(turn -> assertTrue(turn.complete(Optional.empty())));
        return worked() - start;
    }

    @Test
    void closingClientKnowsWhetherItOwes_withoutAWalkOverItsPaths() {
        for (int i = 0; i < 10_000; i++) {
            queues.at(new LockPath("/m/" + i)).creating();
        }
        for (int i = 1; i < 10_000; i++) {
            queues.at(new LockPath("/m/" + i)).noLongerCreating();
        }
        assertTimeoutPreemptively(SOON, () -> {
            for (int i = 0; i < 300_000; i++) {
                assertTrue(queues.hasPendingWork());
            }
        });
        queues.at(new LockPath("/m/0")).noLongerCreating();
        assertFalse(queues.hasPendingWork());
    }

    @Test
    void releaseWithoutAConnection_isToldWithoutAWalkOverThoseBefore() {
        List<NodeName> nodes = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) {
            nodes.add(NodeName.parse(String.format(Locale.ROOT, "read-%016x-%010d", i, i))
                    .orElseThrow());
        }
        PendingDeletions deletions = queues.at(new LockPath("/m")).deletions();
        assertTimeoutPreemptively(SOON, () -> nodes.forEach(deletions::withdraw));
        assertTrue(deletions.hasPendingDeletions());
    }

    /** Compares with a session without requests, so that the machine's speed does not matter. */
    @Test
    void answersBehindTheDeadline_areTakenWithoutAWalkOverRequestsThatWait() throws Exception {
        Engine idle = engine();
        idle.start();
        engine.start();
        List<CompletableFuture<Optional<ZkLease>>> waiting = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            waiting.add(engine.acquire(
                    List.of(new LockTarget(Recipe.MUTEX, new LockPath("/m"))), new WaitPolicy.Forever()));
        }
        long alone = nanosOfLateAnswers(idle);
        long beside = nanosOfLateAnswers(engine);
        assertTrue(beside < 20 * alone, () -> "alone " + alone + " ns, beside requests that wait " + beside + " ns");
        assertTrue(waiting.stream().noneMatch(CompletableFuture::isDone));
    }

    private static long nanosOfLateAnswers(Engine engine) throws InterruptedException {
        return engine.queries().ask(new LockPath("/m"), Errors.Purpose.toSee("be late"), (session, took) -> {
            long start = worked();
            for (int i = 0; i < 30_000; i++) {
                session.connection().write(List.of(new ZnodeStore.Write.Check("/")), answer -> {});
            }
            engine.context().execute(() -> took.complete(worked() - start));
        });
    }
}
