// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockTimeoutException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.OnLoss;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.Contender.State;
import io.latchkey.testkit.contract.LockFixture.Feature;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.junit.jupiter.api.Assertions;

/**
 * The guarantees of {@link Acquirable} for every lock while nothing fails. Each recipe's contract has it, with what
 * stands there as the lock; it cannot be extended by itself.
 */
// The class is long because each guarantee is a test of its own, and every recipe gives them all.
abstract class AcquirableContract extends LockContract {
    /** The lock of this contract, the same for every client. It is exclusive against itself. */
    abstract Acquirable lock(LockClient client);

    /** Something else that shuts the lock out, and is shut out by it. */
    abstract Acquirable blocker(LockClient client);

    @Guarantee(id = "LK-ACQ-01", says = "a free lock is granted, in every form of acquiring")
    void free() throws Exception {
        Acquirable lock = lock(client());
        soon(lock.acquireAsync()).close();
        lock.acquire().close();
        lock.tryAcquire().orElseThrow().close();
        lock.tryAcquire(patience()).orElseThrow().close();
        soon(lock.tryAcquireAsync(patience())).orElseThrow().close();
    }

    @Guarantee(id = "LK-ACQ-02", says = "a request that conflicts with the holder is not granted, in any form")
    void exclusion() throws Exception {
        LockClient other = client();
        Lease blocking = acquired(blocker(client()));
        assertEquals(Optional.empty(), lock(other).tryAcquire());
        blocking.close();
        Lease held = acquired(lock(other));
        LockClient third = client();
        int standing = lock(other).queue().size();
        assertEquals(Optional.empty(), lock(third).tryAcquire());
        assertEquals(standing, lock(other).queue().size(), "the request is gone when the try returns");
        assertEquals(Optional.empty(), blocker(third).tryAcquire());
        assertEquals(Optional.empty(), lock(third).tryAcquire(moment()));
        assertEquals(Optional.empty(), soon(lock(third).tryAcquireAsync(moment())));
        assertWaits(queued(lock(third)), lock(third));
        assertTrue(held.isValid());
    }

    @Guarantee(id = "LK-ACQ-03", says = "a release lets the next in")
    void release() throws Exception {
        Lease held = acquired(lock(client()));
        LockClient other = client();
        CompletableFuture<Lease> next = queued(lock(other));
        assertWaits(next, lock(other));
        held.close();
        assertTrue(soon(next).isValid());
        assertFalse(held.isValid());
    }

    @Guarantee(id = "LK-ACQ-04", says = "requests of several clients are granted first come first served")
    void order() throws Exception {
        Lease held = acquired(lock(client()));
        LockClient second = client();
        LockClient third = client();
        List<CompletableFuture<Lease>> asked = List.of(queued(lock(second)), queued(lock(third)), queued(lock(second)));
        held.close();
        for (int turn = 0; turn < asked.size(); turn++) {
            soon(CompletableFuture.anyOf(asked.subList(turn, asked.size()).toArray(CompletableFuture[]::new)));
            for (int later = turn + 1; later < asked.size(); later++) {
                String early = "request " + (later + 1) + " was granted before request " + (turn + 1) + " had held";
                assertWaits(early, asked.get(later), lock(second), lock(third));
            }
            soon(asked.get(turn)).close();
        }
    }

    @Guarantee(id = "LK-ACQ-05", says = "acquiring is not re-entrant: each call is a request of its own")
    void noReentry() throws Exception {
        Acquirable lock = lock(client());
        Lease held = lock.acquire();
        assertEquals(Optional.empty(), lock.tryAcquire());
        CompletableFuture<Lease> next = queued(lock);
        assertWaits(next, lock);
        held.close();
        soon(next).close();
    }

    @Guarantee(id = "LK-ACQ-06", says = "two objects for one path in one client are one lock")
    void oneLockForOnePath() throws Exception {
        LockClient client = client();
        Lease held = acquired(lock(client));
        assertEquals(Optional.empty(), lock(client).tryAcquire());
        held.close();
        acquired(lock(client)).close();
    }

    @Guarantee(id = "LK-ACQ-07", says = "a timed request out of time is empty, in time, and leaves nothing")
    void outOfTime() throws Exception {
        Lease blocking = acquired(blocker(client()));
        LockClient other = client();
        int before = lock(other).queue().size();
        assertEndsInTime(lock(other), lock(other)::queue);
        awaitQueue(lock(other), before);
        blocking.close();
        assertFree(lock(client()));
    }

    @Guarantee(id = "LK-ACQ-08", says = "a timed request is granted when its turn comes in time")
    void inTime() throws Exception {
        Lease blocking = acquired(blocker(client()));
        Acquirable lock = lock(client());
        int before = lock.queue().size();
        Caller<Optional<Lease>> caller = inThread(() -> lock.tryAcquire(patience()));
        await("the request stands in the queue", () -> lock.queue().size() > before);
        blocking.close();
        assertTrue(soon(caller.result()).orElseThrow().isValid());
    }

    @Guarantee(id = "LK-ACQ-09", says = "a time of zero is now or never")
    void zero() throws Exception {
        LockClient client = client();
        soon(lock(client).tryAcquireAsync(Duration.ZERO)).orElseThrow().close();
        Lease held = lock(client).tryAcquire(Duration.ZERO).orElseThrow();
        Acquirable other = lock(client());
        assertEquals(Optional.empty(), other.tryAcquire(Duration.ZERO));
        assertEquals(Optional.empty(), soon(other.tryAcquireAsync(Duration.ZERO)));
        held.close();
        assertFree(other);
    }

    @Guarantee(id = "LK-ACQ-10", says = "an asynchronous timed request out of time is empty and leaves nothing")
    void asyncOutOfTime() throws Exception {
        Lease blocking = acquired(blocker(client()));
        assertEquals(Optional.empty(), soon(lock(client()).tryAcquireAsync(moment())));
        blocking.close();
        assertFree(lock(client()));
    }

    @Guarantee(id = "LK-ACQ-11", says = "to cancel an asynchronous request leaves the queue")
    void cancel() throws Exception {
        Lease blocking = acquired(blocker(client()));
        Acquirable lock = lock(client());
        int before = lock.queue().size();
        CompletableFuture<Lease> asked = queued(lock);
        assertTrue(asked.cancel(false));
        awaitQueue(lock, before);
        blocking.close();
        assertFree(lock(client()));
        assertThrows(CancellationException.class, asked::join);
    }

    @Guarantee(id = "LK-ACQ-12", says = "to complete an asynchronous request otherwise leaves the queue")
    void completedOtherwise() throws Exception {
        Lease blocking = acquired(blocker(client()));
        Acquirable lock = lock(client());
        int before = lock.queue().size();
        CompletableFuture<Lease> asked = queued(lock);
        refused(TimeoutException.class, asked.orTimeout(1, TimeUnit.MILLISECONDS));
        awaitQueue(lock, before);
        blocking.close();
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-ACQ-13",
            says = "interruption ends the wait with an exception, clears the status, and leaves nothing")
    void interruption() throws Exception {
        Lease blocking = acquired(blocker(client()));
        Acquirable lock = lock(client());
        int before = lock.queue().size();
        Caller<Boolean> caller = inThread(() -> {
            assertThrows(InterruptedException.class, lock::acquire);
            return Thread.currentThread().isInterrupted();
        });
        await("the request stands in the queue", () -> lock.queue().size() > before);
        caller.thread().interrupt();
        assertFalse(soon(caller.result()), "the status is still set");
        awaitQueue(lock, before);
        blocking.close();
        assertFree(lock(client()));
    }

    @Guarantee(id = "LK-ACQ-14", says = "a thread that is interrupted on entry sends nothing")
    void interruptedOnEntry() throws Exception {
        Acquirable lock = lock(client());
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, lock::acquire);
        assertFalse(Thread.currentThread().isInterrupted());
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, lock::tryAcquire);
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> lock.tryAcquire(patience()));
        assertFree(lock(client()));
    }

    @Guarantee(id = "LK-ACQ-15", says = "call runs its body under the lock, returns its result, and releases")
    void call() throws Exception {
        Acquirable lock = lock(client());
        Acquirable other = lock(client());
        String result = lock.call(lease -> {
            assertTrue(lease.isValid());
            try {
                assertEquals(Optional.empty(), other.tryAcquire());
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return "done";
        });
        assertEquals("done", result);
        assertFree(other);
    }

    @Guarantee(id = "LK-ACQ-16", says = "call and run release when the body throws, and throw the same")
    void bodyThrows() throws Exception {
        Acquirable lock = lock(client());
        IOException failure = new IOException("of the body");
        assertSame(
                failure,
                assertThrows(
                        IOException.class,
                        () -> lock.run(lease -> {
                            throw failure;
                        })));
        assertSame(
                failure,
                assertThrows(
                        IOException.class,
                        () -> lock.call(lease -> {
                            throw failure;
                        })));
        assertFree(lock(client()));
        for (OnLoss onLoss : OnLoss.values()) {
            assertSame(
                    failure,
                    assertThrows(
                            IOException.class,
                            () -> lock.run(onLoss, lease -> {
                                throw failure;
                            })));
            assertFree(lock(client()));
        }
    }

    @Guarantee(id = "LK-ACQ-17", says = "a body may release earlier")
    void earlyRelease() throws Exception {
        Acquirable lock = lock(client());
        lock.run(Lease::release);
        assertFree(lock(client()));
    }

    @Guarantee(id = "LK-ACQ-18", says = "call does not run its body when it is interrupted")
    void interruptedCall() throws Exception {
        Acquirable lock = lock(client());
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> lock.run(lease -> Assertions.fail("the body was run")));
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-ACQ-19",
            says = "the queue shows holders and waiters, in order, and is empty when all have left",
            needs = Feature.CONTENDER_DETAILS)
    void queue() throws Exception {
        Acquirable watching = lock(client());
        assertEquals(0, watching.queue().size());
        Lease held = acquired(lock(client()));
        int each = watching.queue().size();
        CompletableFuture<Lease> next = queued(lock(client()));
        awaitQueue(watching, 2 * each);
        assertEquals(State.HOLDING, watching.queue().get(0).state());
        assertEquals(State.WAITING, watching.queue().get(1).state());
        assertThrows(UnsupportedOperationException.class, () -> watching.queue().remove(0));
        held.close();
        Lease granted = soon(next);
        assertEquals(each, watching.queue().size());
        assertEquals(State.HOLDING, watching.queue().get(0).state());
        granted.close();
        assertEquals(0, watching.queue().size());
    }

    @Guarantee(id = "LK-ACQ-20", says = "a negative timeout and null arguments are refused before anything is sent")
    @SuppressWarnings("NullAway") // that is what it is about
    void badArguments() throws Exception {
        Acquirable lock = lock(client());
        assertThrows(IllegalArgumentException.class, () -> lock.tryAcquire(Duration.ofNanos(-1)));
        assertThrows(IllegalArgumentException.class, () -> lock.tryAcquireAsync(Duration.ofNanos(-1)));
        assertThrows(NullPointerException.class, () -> lock.tryAcquire(null));
        assertThrows(NullPointerException.class, () -> lock.tryAcquireAsync(null));
        Thread.currentThread().interrupt(); // to acquire would throw another exception
        assertThrows(NullPointerException.class, () -> lock.call(null));
        assertThrows(NullPointerException.class, () -> lock.run(null));
        for (OnLoss onLoss : OnLoss.values()) {
            assertThrows(NullPointerException.class, () -> lock.call(onLoss, null));
            assertThrows(NullPointerException.class, () -> lock.run(onLoss, null));
        }
        assertThrows(NullPointerException.class, () -> lock.call(null, lease -> lease));
        assertThrows(NullPointerException.class, () -> lock.run(null, Lease::close));
        assertTrue(Thread.interrupted(), "the status was cleared");
        assertFree(lock);
    }

    @Guarantee(id = "LK-ACQ-21", says = "to close a client ends its waiting and its later requests")
    void closedWhileWaiting() throws Exception {
        Lease held = acquired(lock(client()));
        LockClient closing = client();
        Acquirable lock = lock(closing);
        CompletableFuture<Lease> asked = queued(lock);
        Caller<Lease> caller = queuedInThread(lock);
        closing.close();
        refused(ClientClosedException.class, asked);
        refused(ClientClosedException.class, caller.result());
        assertThrows(ClientClosedException.class, lock::acquire);
        assertThrows(ClientClosedException.class, lock::tryAcquire);
        refused(ClientClosedException.class, lock.acquireAsync());
        held.close();
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-ACQ-22",
            says = "to close a client loses its leases and lets the next in; to close again does nothing")
    void closedWhileHolding() throws Exception {
        LockClient closing = client();
        Lease held = acquired(lock(closing));
        CompletableFuture<Lease> next = queued(lock(client()));
        closing.close();
        assertFalse(held.isValid());
        assertEquals(LossCause.CLIENT_CLOSED, soon(held.lost()));
        Lease granted = soon(next);
        closing.close();
        assertTrue(granted.isValid());
        granted.close();
        assertFree(lock(client()));
    }

    @Guarantee(id = "LK-ACQ-23", says = "a stage of a request's future may call the server")
    void stages() throws Exception {
        Lease held = acquired(lock(client()));
        Acquirable lock = lock(client());
        CompletableFuture<Integer> stage = lock.acquireAsync().thenApply(lease -> {
            try {
                return lock.queue().size();
            } catch (InterruptedException unexpected) {
                throw new CompletionException(unexpected);
            } finally {
                lease.close();
            }
        });
        held.close();
        assertTrue(soon(stage) > 0);
        assertFree(lock(client()));
    }

    @Guarantee(id = "LK-ACQ-24", says = "a waiter that leaves admits no request out of turn")
    void aWaiterLeaves() throws Exception {
        Lease held = acquired(lock(client()));
        Acquirable leaving = lock(client());
        Acquirable lock = lock(client());
        CompletableFuture<Lease> left = queued(leaving);
        CompletableFuture<Lease> behind = queued(lock);
        int standing = lock.queue().size();
        left.cancel(false);
        await("it has left", () -> lock.queue().size() < standing);
        assertWaits(behind, lock);
        assertTrue(held.isValid());
        held.close();
        soon(behind).close();
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-ACQ-25",
            says = "call with INTERRUPT runs its body under the lock, returns or throws what it did, and releases")
    void callWithInterrupt() throws Exception {
        Acquirable lock = lock(client());
        Acquirable other = lock(client());
        Optional<Lease> second = lock.call(OnLoss.INTERRUPT, lease -> {
            assertTrue(lease.isValid());
            return other.tryAcquire();
        });
        assertEquals(Optional.empty(), second);
        assertFree(other);
        IOException failure = new IOException("of the body");
        assertSame(
                failure,
                assertThrows(
                        IOException.class,
                        () -> lock.run(OnLoss.INTERRUPT, lease -> {
                            throw failure;
                        })));
        assertFree(other);
        assertFalse(Thread.currentThread().isInterrupted());
        Thread.currentThread().interrupt();
        assertThrows(
                InterruptedException.class,
                () -> lock.run(OnLoss.INTERRUPT, lease -> Assertions.fail("the body was run")));
        assertFree(other);
    }

    @Guarantee(
            id = "LK-ACQ-26",
            says = "an interrupt does not end an uninterruptible wait, and the status is set when it ends")
    void acquiredUninterruptibly() throws Exception {
        Lease blocking = acquired(blocker(client()));
        Acquirable lock = lock(client());
        int before = lock.queue().size();
        Caller<Boolean> caller = inThread(() -> {
            Thread.currentThread().interrupt();
            try (Lease lease = lock.acquireUninterruptibly()) {
                return lease.isValid() && Thread.currentThread().isInterrupted();
            }
        });
        await("the request stands in the queue", () -> lock.queue().size() > before);
        caller.thread().interrupt();
        assertWaits(caller.result(), lock);
        blocking.close();
        assertTrue(soon(caller.result()), "not valid, or the status is not set");
        assertFree(lock(client()));
        LockClient closed = client();
        closed.close();
        assertThrows(ClientClosedException.class, () -> lock(closed).acquireUninterruptibly());
    }

    @Guarantee(
            id = "LK-ACQ-27",
            says = "the queue shows the label of each request that has one of its own",
            needs = {Feature.LABELS, Feature.CONTENDER_DETAILS})
    @SuppressWarnings("NullAway") // that is what it is about
    void labels() throws Exception {
        Acquirable lock = lock(client());
        Lease held = acquired(lock.labelled("invoice 7"));
        int each = lock.queue().size();
        CompletableFuture<Lease> next = queued(lock.labelled("trace \u00e4/9").labelled("trace \u00e4/10"));
        awaitQueue(lock, 2 * each);
        List<String> labels =
                lock.queue().stream().map(request -> request.owner().label()).toList();
        assertEquals(Set.of("invoice 7", "trace \u00e4/10"), Set.copyOf(labels));
        assertEquals("invoice 7", labels.get(0));
        held.close();
        soon(next).close();
        try (Lease unlabelled = acquired(lock.labelled("invoice 8").labelled(""))) {
            assertTrue(unlabelled.isValid());
            assertEquals("", lock.queue().get(0).owner().label());
        }
        assertThrows(NullPointerException.class, () -> lock.labelled(null));
        assertThrows(IllegalArgumentException.class, () -> lock.labelled("two\nlines"));
        assertThrows(IllegalArgumentException.class, () -> lock.labelled("two\u2028lines"));
        assertThrows(IllegalArgumentException.class, () -> lock.labelled("x".repeat(257)));
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-ACQ-28",
            says = "a lease with a limit is lost when it was held for so long, and blocks no other request any more",
            needs = Feature.LIMITS)
    @SuppressWarnings("NullAway") // that is what it is about
    void heldAtMost() throws Exception {
        Acquirable lock = lock(client());
        Duration limit = moment();
        long start = System.nanoTime();
        Lease lease = acquired(lock.labelled("a").heldAtMost(limit).labelled("b"));
        assertTrue(lease.remaining().compareTo(limit) <= 0);
        assertEquals(LossCause.HELD_TOO_LONG, soon(lease.lost()));
        // The limit counts by the wall clock as well, which shows whole milliseconds.
        assertTrue(System.nanoTime() - start > limit.minusMillis(1).toNanos(), "lost before its limit");
        assertFalse(lease.isValid());
        assertFree(lock(client()));
        assertThrows(NullPointerException.class, () -> lock.heldAtMost(null));
        assertThrows(IllegalArgumentException.class, () -> lock.heldAtMost(Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> lock.heldAtMost(Duration.ofNanos(-1)));
    }

    @Guarantee(
            id = "LK-ACQ-29",
            says = "the queue is read without waiting, and a closed client says so by the future",
            needs = {Feature.ASYNC_QUESTIONS, Feature.CONTENDER_DETAILS})
    void queueAsync() throws Exception {
        LockClient client = client();
        Acquirable lock = lock(client);
        assertEquals(List.of(), soon(lock.queueAsync()));
        Lease held = acquired(lock(client()));
        CompletableFuture<Lease> next = queued(lock(client()));
        List<Contender> queue = soon(lock.queueAsync());
        assertEquals(
                lock.queue().stream().map(Contender::token).toList(),
                queue.stream().map(Contender::token).toList());
        assertEquals(
                lock.queue().stream().map(Contender::state).toList(),
                queue.stream().map(Contender::state).toList());
        assertThrows(UnsupportedOperationException.class, () -> queue.remove(0));
        held.close();
        soon(next).close();
        client.close();
        ClientClosedException unused = refused(ClientClosedException.class, lock.queueAsync());
    }

    @Guarantee(
            id = "LK-ACQ-30",
            says = "a queue tells the requests of this client, and the request of a lease",
            needs = {Feature.OWN_CONTENDERS, Feature.CONTENDER_DETAILS})
    void ownContenders() throws Exception {
        LockClient client = client();
        LockClient other = client();
        Lease held = acquired(lock(client));
        int each = lock(client).queue().size();
        CompletableFuture<Lease> next = queued(lock(other));
        awaitQueue(lock(client), 2 * each);
        List<Contender> mine = lock(client).queue();
        List<Contender> theirs = lock(other).queue();
        for (int i = 0; i < 2 * each; i++) {
            boolean holds = mine.get(i).state() == State.HOLDING;
            assertEquals(holds, mine.get(i).isOwn());
            assertEquals(!holds, theirs.get(i).isOwn());
            assertEquals(holds, mine.get(i).isOf(held));
            assertEquals(holds, theirs.get(i).isOf(held));
        }
        held.close();
        Lease granted = soon(next);
        for (Contender left : lock(client).queue()) {
            assertTrue(left.isOf(granted) && !left.isOf(held) && !left.isOwn());
        }
        granted.close();
    }

    @Guarantee(
            id = "LK-ACQ-31",
            says = "acquire with a time throws out of time, says that others were ahead, and leaves nothing",
            needs = Feature.TIMEOUT_REASONS)
    void outOfTimeSaysWhy() throws Exception {
        for (int ahead : List.of(0, 2)) {
            Lease blocking = acquired(blocker(client()));
            LockClient other = client();
            List<CompletableFuture<Lease>> neighbours = new ArrayList<>();
            while (neighbours.size() < ahead) {
                neighbours.add(lock(other).acquireAsync());
            }
            for (CompletableFuture<Lease> neighbour : neighbours) {
                assertWaits(neighbour, lock(other)); // with local turns they share a node
            }
            int before = lock(other).queue().size();
            for (Duration time : List.of(Duration.ZERO, moment())) {
                assertSaysWhoWasAhead(
                        time,
                        given -> refused(LockTimeoutException.class, lock(other).acquireAsync(given)));
                awaitQueue(lock(other), before);
            }
            blocking.close();
            for (CompletableFuture<Lease> neighbour : neighbours) {
                soon(neighbour).close();
            }
            lock(other).acquire(Duration.ofMinutes(1)).close();
            soon(lock(other).acquireAsync(Duration.ofMinutes(1))).close();
            assertFree(lock(client()));
        }
    }

    /** A time in which no server answered says so, and nothing of who is ahead: twice the time is given then. */
    private void assertSaysWhoWasAhead(Duration time, Function<Duration, LockTimeoutException> outOfTime) {
        Duration given = time;
        LockException.Reason reason = outOfTime.apply(given).reason();
        while (reason == LockException.Reason.NO_ANSWER && !given.isZero() && given.compareTo(patience()) < 0) {
            given = given.multipliedBy(2);
            reason = outOfTime.apply(given).reason();
        }
        assertEquals(LockException.Reason.HELD_BY_OTHERS, reason);
    }
}
