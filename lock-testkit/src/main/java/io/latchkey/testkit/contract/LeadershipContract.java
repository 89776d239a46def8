// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Leadership;
import io.latchkey.lock.Leadership.Next;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseFunction;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.admin.Contender.State;
import io.latchkey.testkit.contract.LockFixture.Feature;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What {@link Leadership} promises over a mutex of an implementation.
 */
// The class is long because each guarantee is a test of its own.
@SuppressWarnings("try") // Candidates that are closed early: that is what it is about.
public abstract class LeadershipContract extends LockContract {
    /** For subclasses. */
    protected LeadershipContract() {}

    private Mutex mutex(LockClient client) {
        return client.mutex(path());
    }

    private static Next untilInterrupted() throws InterruptedException {
        new CountDownLatch(1).await();
        return Next.QUEUE_AGAIN;
    }

    /** A candidate whose body waits until it is interrupted. */
    private Leadership candidate(LockClient client) {
        return Leadership.start(mutex(client), lease -> untilInterrupted());
    }

    private void awaitLeads(Leadership candidate) throws InterruptedException {
        await("the candidate leads", candidate::isLeader);
    }

    @Guarantee(
            id = "LK-LEAD-01",
            says = "a candidate for a free leadership leads, with the token of its lease as the epoch")
    void leads() throws Exception {
        CompletableFuture<Long> token = new CompletableFuture<>();
        try (Leadership candidate = Leadership.start(mutex(client()), lease -> {
            token.complete(lease.token());
            return untilInterrupted();
        })) {
            long epoch = soon(token);
            assertTrue(candidate.isLeader());
            assertEquals(OptionalLong.of(epoch), candidate.epoch());
            assertFalse(candidate.ended().toCompletableFuture().isDone());
            candidate.close();
            assertFalse(candidate.isLeader());
            assertEquals(OptionalLong.empty(), candidate.epoch());
            assertTrue(candidate.ended().toCompletableFuture().isDone());
        }
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEAD-02",
            says = "of two candidates one leads; when it is closed the other does, with a higher epoch",
            needs = Feature.TOKENS)
    void successor() throws Exception {
        LockClient other = client();
        try (Leadership first = candidate(client())) {
            awaitLeads(first);
            long epoch = first.epoch().orElseThrow();
            try (Leadership second = candidate(other)) {
                awaitQueue(mutex(other), 2);
                assertFalse(second.isLeader());
                first.close();
                awaitLeads(second);
                assertFalse(first.isLeader());
                assertTrue(second.epoch().orElseThrow() > epoch);
            }
        }
    }

    @Guarantee(id = "LK-LEAD-03", says = "the candidates are the queue of the mutex, and the holder is the leader")
    void candidates() throws Exception {
        LockClient other = client();
        try (Leadership first = candidate(client())) {
            awaitLeads(first);
            try (Leadership second = candidate(other)) {
                awaitQueue(mutex(other), 2);
                assertEquals(2, second.candidates().size());
                assertEquals(State.HOLDING, second.leader().orElseThrow().state());
                assertEquals(
                        first.candidates().get(0).token(),
                        second.leader().orElseThrow().token());
                first.close();
                second.close();
                await("no candidate is left", () -> second.leader().isEmpty());
            }
        }
        assertEquals(0, mutex(other).queue().size());
    }

    @Guarantee(id = "LK-LEAD-04", says = "a candidate whose body returns is a candidate again, behind the others")
    void candidateAgain() throws Exception {
        List<String> terms = new CopyOnWriteArrayList<>();
        CountDownLatch both = new CountDownLatch(1);
        LockClient other = client();
        try (Leadership first = Leadership.start(mutex(client()), lease -> {
            both.await();
            terms.add("first");
            return Next.QUEUE_AGAIN;
        })) {
            awaitLeads(first);
            try (Leadership second = Leadership.start(mutex(other), lease -> {
                terms.add("second");
                return Next.QUEUE_AGAIN;
            })) {
                awaitQueue(mutex(other), 2);
                both.countDown();
                await("the first leads again", () -> Collections.frequency(terms, "first") > 1);
                assertFalse(second.ended().toCompletableFuture().isDone());
            }
        }
        assertEquals(List.of("first", "second"), terms.subList(0, 2));
    }

    @Guarantee(id = "LK-LEAD-05", says = "a candidate whose body returns END ends for good")
    void endsForGood() throws Exception {
        AtomicInteger terms = new AtomicInteger();
        try (Leadership candidate = Leadership.start(mutex(client()), lease -> {
            terms.incrementAndGet();
            return Next.END;
        })) {
            soon(candidate.ended());
            assertFalse(candidate.isLeader());
            assertFree(mutex(client()));
            assertEquals(1, terms.get());
        }
    }

    @Guarantee(
            id = "LK-LEAD-06",
            says = "a candidate whose body throws ends for good, tells what was thrown, and lets the next lead")
    void bodyThrows() throws Exception {
        assertEndsWith(new IOException("of the body"));
        assertEndsWith(new LeaseLostException("of another lock", LossCause.NODE_DELETED));
        assertEndsWith(new AssertionError("of the body"));
    }

    private void assertEndsWith(Throwable failure) throws Exception {
        CountDownLatch mayFail = new CountDownLatch(1);
        try (Leadership failing = Leadership.start(mutex(client()), lease -> {
            mayFail.await();
            if (failure instanceof Error error) {
                throw error;
            }
            throw (Exception) failure;
        })) {
            awaitLeads(failing);
            try (Leadership next = candidate(client())) {
                mayFail.countDown();
                assertSame(failure, refused(failure.getClass(), failing.ended()));
                awaitLeads(next);
                assertFalse(failing.isLeader());
            }
        }
    }

    @Guarantee(id = "LK-LEAD-07", says = "stepDown() interrupts the body, and the candidate queues again")
    void stepDown() throws Exception {
        LockClient other = client();
        try (Leadership first = candidate(client())) {
            awaitLeads(first);
            try (Leadership second = candidate(other)) {
                second.stepDown(); // does nothing: it does not lead
                awaitQueue(mutex(other), 2);
                first.stepDown();
                awaitLeads(second);
                awaitQueue(mutex(other), 2);
                assertFalse(first.ended().toCompletableFuture().isDone());
                second.stepDown();
                awaitLeads(first);
            }
        }
    }

    @Guarantee(id = "LK-LEAD-08", says = "closing a waiting candidate removes it from the queue")
    void closedWhileWaiting() throws Exception {
        Lease held = acquired(mutex(client()));
        LockClient other = client();
        AtomicInteger terms = new AtomicInteger();
        try (Leadership candidate = Leadership.start(mutex(other), lease -> {
            terms.incrementAndGet();
            return Next.QUEUE_AGAIN;
        })) {
            awaitQueue(mutex(other), 2);
            candidate.close();
            assertTrue(candidate.ended().toCompletableFuture().isDone()
                    && !candidate.ended().toCompletableFuture().isCompletedExceptionally());
        }
        awaitQueue(mutex(other), 1);
        held.close();
        assertFree(mutex(other));
        assertEquals(0, terms.get());
    }

    @Guarantee(
            id = "LK-LEAD-09",
            says = "a leader whose session has ended is interrupted, and leads again later with a higher epoch",
            needs = Feature.TOKENS)
    void expired() throws Exception {
        LockClient client = client();
        AtomicInteger interrupts = new AtomicInteger();
        try (Leadership candidate = Leadership.start(mutex(client), lease -> {
            try {
                return untilInterrupted();
            } finally {
                interrupts.incrementAndGet();
            }
        })) {
            awaitLeads(candidate);
            long epoch = candidate.epoch().orElseThrow();
            fixture().expire(client);
            await("it leads again", () -> candidate.epoch().orElse(0) > epoch);
            assertEquals(1, interrupts.get());
        }
    }

    @Guarantee(
            id = "LK-LEAD-10",
            says = "where sessions end by time, a leader that is cut off no longer leads when the next leads",
            needs = Feature.DEADLINES)
    void cutOff() throws Exception {
        boolean led = false;
        for (int leader = 0; leader < 3 && !led; leader++) {
            led = leaderIsCutOff();
        }
        assertTrue(led, "no leader was cut off in its term");
    }

    /** Returns whether the former leader still led when it was cut off: on a busy machine it may lose before. */
    private boolean leaderIsCutOff() throws Exception {
        LockClient client = briefClient();
        AtomicLong lastStep = new AtomicLong();
        AtomicBoolean cut = new AtomicBoolean();
        AtomicBoolean led = new AtomicBoolean();
        CompletableFuture<Long> begins = new CompletableFuture<>();
        CompletableFuture<Boolean> believed = new CompletableFuture<>();
        try (Leadership first = Leadership.start(mutex(client), lease -> {
            while (!Thread.interrupted()) {
                lastStep.set(System.nanoTime());
            }
            if (cut.get()) {
                led.set(true);
                soon(believed); // the body has not ended when the next leads, and yet it does not lead any more
            }
            return Next.QUEUE_AGAIN;
        })) {
            awaitLeads(first);
            LockClient other = client();
            try (Leadership next = Leadership.start(mutex(other), lease -> {
                begins.complete(System.nanoTime());
                believed.complete(first.isLeader() || first.epoch().isPresent());
                return untilInterrupted();
            })) {
                awaitQueue(mutex(other), 2);
                cut.set(true);
                fixture().cutOff(client);
                assertFalse(soon(believed), "both believed to lead");
                long began = soon(begins);
                await("the former leader has ended its term", () -> !first.isLeader() && next.isLeader());
                assertTrue(lastStep.get() < began, () -> (lastStep.get() - began) / 1_000 + " us too late");
                fixture().heal(client);
                awaitQueue(mutex(other), 2);
            }
        }
        return led.get();
    }

    @Guarantee(
            id = "LK-LEAD-11",
            says = "a listener is notified when a term begins and when it is over, alternately",
            needs = Feature.TOKENS)
    void listener() throws Exception {
        LockClient client = client();
        List<String> told = new CopyOnWriteArrayList<>();
        try (Leadership candidate = Leadership.start(mutex(client), new Leadership.Listener() {
            private Optional<Lease> present = Optional.empty();

            @Override
            public void elected(Lease lease) {
                told.add(present.isEmpty() && lease.isValid() ? "elected" : "elected twice");
                present = Optional.of(lease);
            }

            @Override
            public void termOver(Lease lease) {
                told.add(present.equals(Optional.of(lease)) ? "over" : "over without a term");
                present = Optional.empty();
            }
        })) {
            await("it is elected", () -> told.size() == 1);
            fixture().expire(client);
            await("it is elected again", () -> told.size() == 3);
            candidate.stepDown();
            await("it is elected a third time", () -> told.size() == 5);
        }
        assertEquals(List.of("elected", "over", "elected", "over", "elected", "over"), told);
    }

    @Guarantee(id = "LK-LEAD-13", says = "a body that closes its candidate ends for good without waiting for itself")
    void closedByItsBody() throws Exception {
        CompletableFuture<Leadership> itself = new CompletableFuture<>();
        AtomicInteger terms = new AtomicInteger();
        try (Leadership candidate = Leadership.start(mutex(client()), lease -> {
            terms.incrementAndGet();
            itself.join().close();
            return Next.QUEUE_AGAIN;
        })) {
            itself.complete(candidate);
            soon(candidate.ended());
        }
        assertEquals(1, terms.get());
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEAD-15",
            says = "the next leader has a higher epoch than one whose session was ended by force",
            needs = Feature.TOKENS)
    void nextAfterAForcedEnd() throws Exception {
        LockClient client = client();
        CompletableFuture<Long> former = new CompletableFuture<>();
        CompletableFuture<Long> later = new CompletableFuture<>();
        try (Leadership first = Leadership.start(mutex(client), lease -> {
            former.complete(lease.token());
            return untilInterrupted();
        })) {
            long epoch = soon(former);
            LockClient other = client();
            try (Leadership next = Leadership.start(mutex(other), lease -> {
                later.complete(lease.token());
                return untilInterrupted();
            })) {
                awaitQueue(mutex(other), 2);
                fixture().expire(client);
                assertTrue(soon(later) > epoch);
                await("one leads", () -> next.isLeader() && !first.isLeader());
            }
        }
    }

    @Guarantee(
            id = "LK-LEAD-16",
            says = "a candidate whose thread others interrupt ends for good and says so, whether it leads or waits")
    void interruptedByOthers() throws Exception {
        List<Thread> made = new CopyOnWriteArrayList<>();
        ThreadFactory threads = task -> {
            Thread thread = new Thread(task, "latchkey-candidate");
            thread.setDaemon(true);
            made.add(thread);
            return thread;
        };
        LockClient other = client();
        try (Leadership leads =
                Leadership.start(mutex(client()), lease -> untilInterrupted(), new Leadership.Reports() {}, threads)) {
            awaitLeads(leads);
            try (Leadership waits =
                    Leadership.start(mutex(other), lease -> untilInterrupted(), new Leadership.Reports() {}, threads)) {
                awaitQueue(mutex(other), 2);
                made.get(1).interrupt();
                InterruptedException unused = refused(InterruptedException.class, waits.ended());
                made.get(0).interrupt();
                InterruptedException unused2 = refused(InterruptedException.class, leads.ended());
            }
        }
        assertFree(mutex(other));
    }

    @Guarantee(
            id = "LK-LEAD-17",
            says = "a caller that no longer waits for the end of a candidate leaves the others waiting for it")
    void waitsNoLonger() throws Exception {
        try (Leadership candidate = candidate(client())) {
            awaitLeads(candidate);
            boolean unused = candidate.ended().toCompletableFuture().cancel(false);
            boolean unused2 = candidate.ended().toCompletableFuture().complete(null);
            assertFalse(candidate.ended().toCompletableFuture().isDone(), "it still leads");
            candidate.close();
            soon(candidate.ended());
        }
    }

    @Guarantee(id = "LK-LEAD-14", says = "bad arguments are refused")
    @SuppressWarnings("NullAway") // that is what it is about
    void badArguments() throws Exception {
        Mutex mutex = mutex(client());
        assertThrows(NullPointerException.class, () -> Leadership.start(null, lease -> Next.END));
        assertThrows(NullPointerException.class, () -> Leadership.start(mutex, (LeaseFunction<Next, Exception>) null));
        assertThrows(NullPointerException.class, () -> Leadership.start(mutex, (Leadership.Listener) null));
        assertThrows(
                NullPointerException.class,
                () -> Leadership.start(mutex, lease -> Next.END, new Leadership.Reports() {}, null));
        assertThrows(
                NullPointerException.class,
                () -> Leadership.start(mutex, lease -> Next.END, (Leadership.Reports) null));
        try (Leadership candidate = candidate(client())) {
            assertThrows(NullPointerException.class, () -> candidate.close(null));
            assertThrows(IllegalArgumentException.class, () -> candidate.close(Duration.ofNanos(-1)));
            awaitLeads(candidate);
        }
        assertFree(mutex);
    }
}
