// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Contender;
import io.latchkey.lock.Contender.Eviction;
import io.latchkey.lock.Contender.ReleaseRequestResult;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver.SessionState;
import io.latchkey.lock.LockOwnershipLostException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.OnLoss;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.SessionView;
import io.latchkey.testkit.contract.LockFixture.Feature;
import io.latchkey.testkit.contract.LockFixture.Situation;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * The guarantees of {@link Lease}, tested with a mutex.
 *
 * <p>The class is long because each guarantee is a test of its own, and an implementation gives them all.
 */
public abstract class LeaseContract extends LockContract {
    private static final long MOMENT_NANOS = 100_000;
    private static final Duration HOUR = Duration.ofHours(1);

    /** For subclasses. */
    protected LeaseContract() {}

    private Mutex mutex(LockClient client) {
        return client.mutex(path());
    }

    @Guarantee(
            id = "LK-LEASE-01",
            says = "a lease that was granted is held and valid, and has the path that was asked for")
    void granted() throws Exception {
        Lease lease = acquired(mutex(client()));
        assertEquals(LeaseState.HELD, lease.state());
        assertTrue(lease.isValid());
        assertEquals(path(), lease.path());
        assertFalse(lease.lost().isDone());
        lease.ensureValid();
    }

    @Guarantee(id = "LK-LEASE-02", says = "a lease that was released is over for its holder")
    void released() throws Exception {
        Lease lease = acquired(mutex(client()));
        assertEquals(ReleaseOutcome.RELEASED, lease.release());
        assertEquals(LeaseState.RELEASED, lease.state());
        assertFalse(lease.isValid());
        assertEquals(Duration.ZERO, lease.remaining());
        assertThrows(IllegalStateException.class, lease::ensureValid);
    }

    @Guarantee(id = "LK-LEASE-03", says = "to release or close again does nothing")
    void releasedAgain() throws Exception {
        Lease lease = acquired(mutex(client()));
        lease.close();
        Lease next = acquired(mutex(client()));
        lease.close();
        assertEquals(ReleaseOutcome.ALREADY_RELEASED, lease.release());
        assertEquals(ReleaseOutcome.ALREADY_RELEASED, soon(lease.releaseAsync()));
        assertTrue(next.isValid());
        assertTrue(mutex(client()).tryAcquire().isEmpty());
    }

    @Guarantee(id = "LK-LEASE-04", says = "of several releases at once one releases")
    void releasedAtOnce() throws Exception {
        Lease lease = acquired(mutex(client()));
        CountDownLatch together = new CountDownLatch(1);
        List<Caller<ReleaseOutcome>> callers = IntStream.range(0, 6)
                .mapToObj(number -> inThread(() -> {
                    together.await();
                    return lease.release();
                }))
                .toList();
        together.countDown();
        List<ReleaseOutcome> outcomes = new ArrayList<>();
        for (Caller<ReleaseOutcome> caller : callers) {
            outcomes.add(soon(caller.result()));
        }
        assertEquals(1, Collections.frequency(outcomes, ReleaseOutcome.RELEASED), outcomes::toString);
        assertEquals(5, Collections.frequency(outcomes, ReleaseOutcome.ALREADY_RELEASED), outcomes::toString);
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-05",
            says = "an asynchronous release is over for the holder when the call returns, and tells the outcome")
    void releasedAsync() throws Exception {
        Lease lease = acquired(mutex(client()));
        CompletableFuture<ReleaseOutcome> outcome = lease.releaseAsync();
        assertFalse(lease.isValid());
        assertEquals(LeaseState.RELEASED, lease.state());
        assertEquals(ReleaseOutcome.RELEASED, soon(outcome));
        assertFree(mutex(client()));
    }

    @Guarantee(id = "LK-LEASE-06", says = "any thread may release")
    void releasedByAnother() throws Exception {
        Lease lease = acquired(mutex(client()));
        assertEquals(ReleaseOutcome.RELEASED, soon(inThread(lease::release).result()));
        assertFree(mutex(client()));
    }

    @Guarantee(id = "LK-LEASE-07", says = "no loss is reported after a release", reaches = Situation.LOST_WHILE_HELD)
    void noLossAfterRelease() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        CompletableFuture<LossCause> told = lease.lost();
        lease.close();
        Lease other = acquired(client.mutex(path("other")));
        fixture().expire(client);
        soon(other.lost());
        reached(Situation.LOST_WHILE_HELD);
        assertFalse(told.isDone());
        assertFalse(lease.lost().isDone());
        assertEquals(LeaseState.RELEASED, lease.state());
    }

    @Guarantee(id = "LK-LEASE-08", says = "completing or cancelling the future of a loss has no effect on others")
    void futuresOfOnesOwn() throws Exception {
        Lease lease = acquired(mutex(client()));
        CompletableFuture<LossCause> told = lease.lost();
        told.complete(LossCause.NODE_DELETED);
        lease.lost().cancel(false);
        assertFalse(lease.lost().isDone());
        assertTrue(lease.isValid());
        assertTrue(mutex(client()).tryAcquire().isEmpty());
    }

    @Guarantee(
            id = "LK-LEASE-09",
            says = "a lease whose session has ended is lost for good, and tells the cause",
            reaches = Situation.LOST_WHILE_HELD)
    void lost() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        CompletableFuture<LossCause> told = lease.lost();
        fixture().expire(client);
        assertEquals(LossCause.SESSION_EXPIRED, soon(told));
        reached(Situation.LOST_WHILE_HELD);
        assertEquals(LeaseState.LOST, lease.state());
        assertFalse(lease.isValid());
        assertEquals(Duration.ZERO, lease.remaining());
        assertEquals(
                LossCause.SESSION_EXPIRED,
                assertThrows(LeaseLostException.class, lease::ensureValid).lossCause());
    }

    @Guarantee(
            id = "LK-LEASE-10",
            says = "a loss is reported to later callers as well",
            reaches = Situation.LOST_WHILE_HELD)
    void askedLater() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        fixture().expire(client);
        LossCause cause = soon(lease.lost());
        reached(Situation.LOST_WHILE_HELD);
        assertEquals(cause, soon(lease.lost()));
        acquired(mutex(client)).close();
        assertEquals(LeaseState.LOST, lease.state());
        assertEquals(cause, soon(lease.lost()));
    }

    @Guarantee(
            id = "LK-LEASE-11",
            says = "a client that has got the lock again finds its former lease lost",
            reaches = Situation.LOST_WHILE_HELD)
    void lossBeforeTheNextHold() throws Exception {
        LockClient client = client();
        Lease former = acquired(mutex(client));
        fixture().expire(client);
        Lease next = acquired(mutex(client));
        reached(Situation.LOST_WHILE_HELD);
        assertEquals(LeaseState.LOST, former.state());
        assertTrue(next.isValid());
        soon(former.lost());
    }

    @Guarantee(
            id = "LK-LEASE-12",
            says = "all leases of a session are lost with it, those of others are not",
            reaches = Situation.LOST_WHILE_HELD)
    void allLeasesOfTheSession() throws Exception {
        LockClient client = client();
        Lease one = acquired(client.mutex(path("one")));
        Lease two = acquired(client.mutex(path("two")));
        Lease ofAnother = acquired(client().mutex(path("three")));
        fixture().expire(client);
        soon(one.lost());
        soon(two.lost());
        reached(Situation.LOST_WHILE_HELD);
        assertFalse(one.isValid() || two.isValid());
        assertTrue(ofAnother.isValid());
        assertFalse(ofAnother.lost().isDone());
    }

    @Guarantee(
            id = "LK-LEASE-13",
            says = "the release of a lost lease says that it was lost",
            needs = Feature.RELEASE_OUTCOMES,
            reaches = Situation.LOST_WHILE_HELD)
    void releaseOfALostLease() throws Exception {
        LockClient client = client();
        Lease unheard = acquired(client.mutex(path("unheard")));
        Lease lease = acquired(mutex(client));
        fixture().expire(client);
        ReleaseOutcome early = unheard.release();
        assertTrue(Set.of(ReleaseOutcome.LOST, ReleaseOutcome.PENDING).contains(early), early::toString);
        soon(lease.lost());
        reached(Situation.LOST_WHILE_HELD);
        assertEquals(ReleaseOutcome.LOST, lease.release());
        assertEquals(ReleaseOutcome.LOST, lease.release());
        assertEquals(ReleaseOutcome.LOST, soon(lease.releaseAsync()));
        lease.close();
    }

    @Guarantee(
            id = "LK-LEASE-14",
            says = "a lease without a connection is suspect and valid, and held again when the connection is back",
            reaches = Situation.SUSPECT)
    void suspect() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        fixture().disconnect(client);
        await("the lease is suspect", () -> lease.state() == LeaseState.SUSPECT);
        reached(Situation.SUSPECT);
        assertTrue(lease.isValid());
        lease.ensureValid();
        fixture().heal(client);
        await("the lease is held", () -> lease.state() == LeaseState.HELD);
        assertTrue(lease.isValid());
        assertFalse(lease.lost().isDone());
    }

    @Guarantee(
            id = "LK-LEASE-15",
            says = "without a server the time left falls; with one it rises again",
            needs = Feature.DEADLINES,
            reaches = Situation.SUSPECT)
    void remaining() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        fixture().disconnect(client);
        await("the lease is suspect", () -> lease.state() == LeaseState.SUSPECT);
        reached(Situation.SUSPECT);
        Duration once = lease.remaining();
        Duration less = once.multipliedBy(2).dividedBy(3);
        await("a third less is left", () -> lease.remaining().compareTo(less) < 0);
        assertFalse(lease.remaining().isNegative());
        fixture().heal(client);
        await("more time is left", () -> lease.remaining().compareTo(less) > 0);
    }

    @Guarantee(
            id = "LK-LEASE-16",
            says = "where sessions end by time, a holder that is cut off finds its lease lost before the next grant",
            reaches = Situation.LOST_WHILE_HELD)
    void lostInTime() throws Exception {
        LockClient client = briefClient();
        Lease lease = acquired(mutex(client));
        CompletableFuture<Boolean> overlap = queued(mutex(client())).thenApply(next -> lease.isValid());
        fixture().cutOff(client);
        assertFalse(soon(overlap), "valid when the next was granted");
        reached(Situation.LOST_WHILE_HELD);
        assertEquals(LeaseState.LOST, lease.state());
    }

    @Guarantee(
            id = "LK-LEASE-17",
            says = "a holder that is cut off is notified of its loss while no server can be reached",
            reaches = Situation.DEADLINE_PASSED)
    void toldWithoutAServer() throws Exception {
        LockClient client = briefClient();
        Lease lease = acquired(mutex(client));
        fixture().cutOff(client);
        soon(lease.lost());
        reached(Situation.DEADLINE_PASSED);
        assertFalse(lease.isValid());
        fixture().heal(client);
        acquired(mutex(client)).close();
        assertFalse(lease.isValid());
    }

    @Guarantee(
            id = "LK-LEASE-31",
            says = "a loss without a server is reported when the remaining time has passed, for leases of any age",
            needs = Feature.DEADLINES,
            reaches = Situation.DEADLINE_PASSED)
    void toldWhenDue() throws Exception {
        Duration left = Duration.ZERO;
        long late = Long.MAX_VALUE;
        for (int holder = 0; holder < 3 && late > left.toNanos() / 2; holder++) {
            LockClient client = briefClient();
            Lease lease = acquired(client.mutex(path("of " + holder)));
            long granted = System.nanoTime();
            Duration first = lease.remaining();
            await("what was left first has passed", () -> System.nanoTime() - granted > first.toNanos());
            fixture().disconnect(client);
            // Asked once: to look again may be what tells of the loss.
            left = lease.remaining();
            late = late(left, lease.lost()::join);
        }
        reached(Situation.DEADLINE_PASSED);
        assertInTime(late, left);
    }

    @Guarantee(
            id = "LK-LEASE-18",
            says = "a release without a connection is pending, and the next is let in when the connection is back",
            needs = Feature.RELEASE_OUTCOMES,
            reaches = Situation.SUSPECT)
    void releaseWithoutAConnection() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        CompletableFuture<Lease> next = queued(mutex(client()));
        fixture().disconnect(client);
        await("the lease is suspect", () -> lease.state() == LeaseState.SUSPECT);
        reached(Situation.SUSPECT);
        assertEquals(ReleaseOutcome.PENDING, soon(inThread(lease::release).result()));
        assertFalse(lease.isValid());
        fixture().heal(client);
        soon(next).close();
    }

    @Guarantee(id = "LK-LEASE-19", says = "a release by an interrupted thread releases, and keeps the status")
    void interruptedRelease() throws Exception {
        Lease lease = acquired(mutex(client()));
        Caller<Boolean> caller = inThread(() -> {
            Thread.currentThread().interrupt();
            lease.close();
            return Thread.currentThread().isInterrupted();
        });
        assertTrue(soon(caller.result()), "the status is not set");
        assertFalse(lease.isValid());
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-20",
            says = "a holder whose request an operator deletes is notified of the loss",
            needs = Feature.OPERATOR,
            reaches = Situation.NODE_DELETED)
    void nodeDeleted() throws Exception {
        Lease lease = acquired(mutex(client()));
        fixture().deleteRequest(path(), 0);
        reached(Situation.NODE_DELETED);
        Lease next = acquired(mutex(client()));
        assertEquals(LossCause.NODE_DELETED, soon(lease.lost()));
        assertFalse(lease.isValid());
        assertTrue(next.isValid());
    }

    @Guarantee(
            id = "LK-LEASE-26",
            says = "a listening holder is notified of a release request and its sender, and keeps its lease",
            needs = Feature.ADMINISTRATION)
    void releaseRequested() throws Exception {
        Lease lease = acquired(mutex(client()));
        CompletableFuture<ReleaseRequest> wish = lease.releaseRequested();
        LockClient other = client();
        await("a listening holder", () -> first(other).requestRelease() == ReleaseRequestResult.DELIVERED);
        assertEquals(ProcessHandle.current().pid(), soon(wish).processId());
        assertEquals(LeaseState.HELD, lease.state());
        assertTrue(mutex(other).tryAcquire().isEmpty());
    }

    private Contender first(LockClient client) {
        return mutex(client).queue().get(0);
    }

    @Guarantee(
            id = "LK-LEASE-27",
            says = "a holder that does not listen cannot be asked",
            needs = Feature.ADMINISTRATION)
    void cannotBeAsked() throws Exception {
        Lease lease = acquired(mutex(client()));
        assertEquals(ReleaseRequestResult.NOT_LISTENING, first(client()).requestRelease());
        assertEquals(LeaseState.HELD, lease.state());
    }

    @Guarantee(
            id = "LK-LEASE-28",
            says = "an evicted holder is notified of its loss, and the next request is granted",
            needs = Feature.ADMINISTRATION,
            reaches = Situation.NODE_DELETED)
    void evicted() throws Exception {
        Lease lease = acquired(mutex(client()));
        CompletableFuture<LossCause> lost = lease.lost();
        CompletableFuture<Lease> next = queued(mutex(client()));
        assertEquals(Eviction.EVICTED, first(client()).evict());
        reached(Situation.NODE_DELETED);
        assertEquals(LossCause.NODE_DELETED, soon(lost));
        assertFalse(lease.isValid());
        assertTrue(soon(next).isValid());
    }

    @Guarantee(id = "LK-LEASE-29", says = "a waiter that is evicted waits at the end", needs = Feature.ADMINISTRATION)
    void evictedWhileItWaits() throws Exception {
        Lease lease = acquired(mutex(client()));
        LockClient operator = client();
        CompletableFuture<Lease> second = queued(mutex(client()));
        CompletableFuture<Lease> third = queued(mutex(client()));
        Contender evicted = mutex(operator).queue().get(1);
        assertEquals(Eviction.EVICTED, evicted.evict());
        awaitQueue(mutex(operator), 3);
        lease.close();
        Lease next = soon(third);
        assertFalse(second.isDone());
        next.close();
        assertTrue(soon(second).isValid());
    }

    @Guarantee(
            id = "LK-LEASE-30",
            says = "a release request or an eviction of a request that has left has no effect",
            needs = Feature.ADMINISTRATION)
    void administrationComesTooLate() throws Exception {
        Lease lease = acquired(mutex(client()));
        Contender gone = first(client());
        lease.close();
        Lease next = acquired(mutex(client()));
        assertEquals(ReleaseRequestResult.GONE, gone.requestRelease());
        assertEquals(Eviction.GONE, gone.evict());
        assertTrue(next.isValid());
    }

    @Guarantee(id = "LK-LEASE-21", says = "the leases of a closed client are lost")
    void clientClosed() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        client.close();
        assertEquals(LossCause.CLIENT_CLOSED, soon(lease.lost()));
        assertEquals(LeaseState.LOST, lease.state());
        assertEquals(
                LossCause.CLIENT_CLOSED,
                assertThrows(LeaseLostException.class, lease::ensureValid).lossCause());
        assertEquals(ReleaseOutcome.LOST, lease.release());
    }

    @Guarantee(
            id = "LK-LEASE-22",
            says = "a dependent stage of the future of a loss may acquire",
            reaches = Situation.LOST_WHILE_HELD)
    void stages() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        CompletableFuture<Lease> again =
                lease.lost().thenCompose(cause -> mutex(client).acquireAsync());
        fixture().expire(client);
        assertTrue(soon(again).isValid());
        reached(Situation.LOST_WHILE_HELD);
    }

    @Guarantee(id = "LK-LEASE-23", says = "the token of a lease does not change", needs = Feature.TOKENS)
    void token() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        long token = lease.token();
        acquired(client.mutex(path("other"))).close();
        assertEquals(token, lease.token());
        lease.close();
        assertEquals(token, lease.token());
    }

    @Guarantee(
            id = "LK-LEASE-24",
            says = "a body whose lease is lost continues, finds the loss when it checks, and its result is returned",
            reaches = Situation.LOST_WHILE_HELD)
    void lostInABody() throws Exception {
        LockClient client = client();
        String result = mutex(client).<String, Exception>call(lease -> {
            fixture().expire(client);
            soon(lease.lost());
            reached(Situation.LOST_WHILE_HELD);
            assertThrows(LeaseLostException.class, lease::ensureValid);
            return "done";
        });
        assertEquals("done", result);
    }

    @Guarantee(id = "LK-LEASE-25", says = "a loss is reported once", reaches = Situation.LOST_WHILE_HELD)
    void toldOnce() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        List<LossCause> told = Collections.synchronizedList(new ArrayList<>());
        CompletableFuture<Boolean> first = lease.lost().thenApply(told::add);
        fixture().expire(client);
        assertTrue(soon(first));
        reached(Situation.LOST_WHILE_HELD);
        acquired(mutex(client)).close();
        client.close();
        assertEquals(1, told.size());
        assertEquals(told.get(0), soon(lease.lost()));
    }

    private void untilInterruptIsPending() {
        long start = System.nanoTime();
        while (!Thread.currentThread().isInterrupted()) {
            assertTrue(System.nanoTime() - start < patience().toNanos(), "not interrupted within " + patience());
            LockSupport.parkNanos(MOMENT_NANOS);
        }
    }

    /** A call whose body is running, in a thread of its own. */
    private <T> Caller<T> running(CountDownLatch began, Callable<T> call) throws InterruptedException {
        Caller<T> caller = inThread(call);
        await("the body runs", () -> began.getCount() == 0 || caller.result().isDone());
        return caller;
    }

    /** A call whose body waits until it is interrupted. */
    private Caller<Object> waitingBody(LockClient client) throws InterruptedException {
        CountDownLatch began = new CountDownLatch(1);
        return running(began, () -> mutex(client).call(OnLoss.INTERRUPT, lease -> {
            began.countDown();
            new CountDownLatch(1).await();
            return lease;
        }));
    }

    @Guarantee(
            id = "LK-LEASE-32",
            says = "with INTERRUPT, the body is interrupted on loss, and its call throws with the cause of the loss",
            reaches = Situation.LOST_WHILE_HELD)
    void interruptedOnLoss() throws Exception {
        LockClient client = client();
        Caller<Object> caller = waitingBody(client);
        fixture().expire(client);
        LeaseLostException told = refused(LeaseLostException.class, caller.result());
        reached(Situation.LOST_WHILE_HELD);
        assertEquals(LossCause.SESSION_EXPIRED, told.lossCause());
        assertInstanceOf(InterruptedException.class, told.getCause());
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-33",
            says = "where sessions end by time, a body that stops when interrupted ends before the next grant",
            needs = Feature.DEADLINES,
            reaches = Situation.DEADLINE_PASSED)
    void lastStep() throws Exception {
        LockClient client = briefClient();
        CountDownLatch began = new CountDownLatch(1);
        AtomicLong lastStep = new AtomicLong();
        Caller<Object> caller = running(began, () -> mutex(client).call(OnLoss.INTERRUPT, lease -> {
            while (!Thread.currentThread().isInterrupted()) {
                lastStep.set(System.nanoTime());
                began.countDown();
            }
            return lease;
        }));
        CompletableFuture<Long> granted = queued(mutex(client())).thenApply(lease -> System.nanoTime());
        fixture().cutOff(client);
        long next = soon(granted);
        refused(LeaseLostException.class, caller.result());
        reached(Situation.DEADLINE_PASSED);
        assertTrue(lastStep.get() < next, () -> (lastStep.get() - next) / 1_000 + " us after the next grant");
    }

    @Guarantee(
            id = "LK-LEASE-34",
            says = "an interrupt that is pending when the lease is lost stays, and none is sent on top of it",
            reaches = Situation.LOST_WHILE_HELD)
    void pendingInterrupt() throws Exception {
        LockClient client = client();
        CompletableFuture<Lease> body = new CompletableFuture<>();
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        AtomicBoolean onTop = new AtomicBoolean();
        Caller<Boolean> caller = running(began, () -> {
            assertThrows(LeaseLostException.class, () -> mutex(client).run(OnLoss.INTERRUPT, lease -> {
                body.complete(lease);
                Thread.currentThread().interrupt();
                began.countDown();
                while (go.getCount() > 0) {
                    Thread.onSpinWait();
                }
                boolean pending = Thread.interrupted();
                assertTrue(pending, "the status was cleared");
                onTop.set(Thread.interrupted());
                Thread.currentThread().interrupt();
            }));
            return Thread.currentThread().isInterrupted();
        });
        fixture().expire(client);
        soon(soon(body).lost());
        reached(Situation.LOST_WHILE_HELD);
        go.countDown();
        assertTrue(soon(caller.result()), "the status is not set");
        assertFalse(onTop.get(), "interrupted twice");
    }

    @Guarantee(
            id = "LK-LEASE-35",
            says = "no interrupt of a call is pending after it has thrown",
            reaches = Situation.LOST_WHILE_HELD)
    void interruptIsTakenBack() throws Exception {
        LockClient client = client();
        CountDownLatch began = new CountDownLatch(1);
        Caller<Boolean> caller = running(began, () -> {
            assertThrows(LeaseLostException.class, () -> mutex(client).run(OnLoss.INTERRUPT, lease -> {
                began.countDown();
                untilInterruptIsPending();
            }));
            return Thread.currentThread().isInterrupted();
        });
        fixture().expire(client);
        assertFalse(soon(caller.result()), "the status is still set");
        reached(Situation.LOST_WHILE_HELD);
    }

    @Guarantee(
            id = "LK-LEASE-36",
            says = "a thread is not interrupted by the loss of a lease whose body has ended",
            reaches = Situation.LOST_WHILE_HELD)
    void endedBefore() throws Exception {
        LockClient client = client();
        Lease other = acquired(client.mutex(path("other")));
        boolean valid = mutex(client).call(OnLoss.INTERRUPT, Lease::isValid);
        assertTrue(valid);
        Lease released = mutex(client).call(OnLoss.INTERRUPT, lease -> {
            assertEquals(ReleaseOutcome.RELEASED, lease.release());
            expire(client);
            assertFalse(soon(other.lost()).name().isEmpty());
            return lease;
        });
        reached(Situation.LOST_WHILE_HELD);
        assertFalse(Thread.currentThread().isInterrupted());
        assertEquals(LeaseState.RELEASED, released.state());
    }

    @Guarantee(
            id = "LK-LEASE-37",
            says = "a body is interrupted when an operator deletes its request",
            needs = Feature.OPERATOR,
            reaches = Situation.NODE_DELETED)
    void interruptedOnDeletion() throws Exception {
        LockClient client = client();
        Caller<Object> caller = waitingBody(client);
        fixture().deleteRequest(path(), 0);
        reached(Situation.NODE_DELETED);
        assertEquals(
                LossCause.NODE_DELETED,
                refused(LeaseLostException.class, caller.result()).lossCause());
    }

    @Guarantee(
            id = "LK-LEASE-38",
            says = "of bodies that enclose each other each is interrupted",
            needs = Feature.OPERATOR,
            reaches = Situation.LOST_WHILE_HELD)
    void enclosingBodies() throws Exception {
        LockClient client = client();
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch innerIsLost = new CountDownLatch(1);
        Caller<Object> caller = running(began, () -> mutex(client).call(OnLoss.INTERRUPT, outer -> {
            assertThrows(
                    LeaseLostException.class, () -> client.mutex(path("inner")).run(OnLoss.INTERRUPT, inner -> {
                        began.countDown();
                        untilInterruptIsPending();
                        innerIsLost.countDown();
                        while (outer.isValid()) {
                            Thread.onSpinWait();
                        }
                    }));
            untilInterruptIsPending();
            return outer;
        }));
        fixture().deleteRequest(path("inner"), 0);
        await("the inner body is interrupted", () -> innerIsLost.getCount() == 0);
        fixture().expire(client);
        refused(LeaseLostException.class, caller.result());
        reached(Situation.LOST_WHILE_HELD);
    }

    @Guarantee(
            id = "LK-LEASE-39",
            says = "with CONTINUE, a body is not interrupted on loss",
            reaches = Situation.LOST_WHILE_HELD)
    void notInterrupted() throws Exception {
        LockClient client = client();
        String result = mutex(client).call(OnLoss.CONTINUE, lease -> {
            expire(client);
            assertFalse(soon(lease.lost()).name().isEmpty());
            assertFalse(Thread.currentThread().isInterrupted());
            return "done";
        });
        reached(Situation.LOST_WHILE_HELD);
        assertEquals("done", result);
    }

    private void expire(LockClient client) throws InterruptedException {
        fixture().expire(client);
    }

    @Guarantee(id = "LK-LEASE-40", says = "a body is interrupted when its client is closed")
    void interruptedOnClose() throws Exception {
        LockClient client = client();
        Caller<Object> caller = waitingBody(client);
        client.close();
        assertEquals(
                LossCause.CLIENT_CLOSED,
                refused(LeaseLostException.class, caller.result()).lossCause());
    }

    @Guarantee(
            id = "LK-LEASE-41",
            says = "a call throws if its body has returned and the release answers that the lease was lost",
            needs = {Feature.OPERATOR, Feature.WIRE_FAULTS, Feature.RELEASE_OUTCOMES},
            reaches = Situation.NODE_DELETED)
    void lossShownByTheRelease() throws Exception {
        LockClient client = client();
        CompletableFuture<Lease> began = new CompletableFuture<>();
        CountDownLatch go = new CountDownLatch(1);
        Caller<Object> caller = inThread(() -> mutex(client).call(OnLoss.INTERRUPT, lease -> {
            began.complete(lease);
            go.await();
            return lease;
        }));
        Lease lease = soon(began);
        assertFalse(mutex(client).queue().isEmpty()); // the watch on the node is set by now
        try (LockFixture.Held held = fixture().holdEvents(client)) {
            fixture().deleteRequest(path(), 0);
            soon(held.caught());
            reached(Situation.NODE_DELETED);
            go.countDown();
            await("the body has ended", () -> lease.state() == LeaseState.RELEASED);
        }
        assertEquals(
                LossCause.NODE_DELETED,
                refused(LeaseLostException.class, caller.result()).lossCause());
    }

    @Guarantee(
            id = "LK-LEASE-42",
            says = "an exception of a body after the loss is the cause of the exception of its call",
            reaches = Situation.LOST_WHILE_HELD)
    void whatABodyThrowsAfterTheLoss() throws Exception {
        LockClient client = client();
        IOException failure = new IOException("of the body");
        LeaseLostException told =
                assertThrows(LeaseLostException.class, () -> mutex(client).run(OnLoss.INTERRUPT, lease -> {
                    fixture().expire(client);
                    untilInterruptIsPending();
                    throw failure;
                }));
        reached(Situation.LOST_WHILE_HELD);
        assertSame(failure, told.getCause());
        assertSame(
                failure, assertThrows(IOException.class, () -> mutex(client()).run(OnLoss.INTERRUPT, lease -> {
                    throw failure;
                })));
    }

    @Guarantee(
            id = "LK-LEASE-43",
            says = "a client tells the state of its session, since when, and the session timeout",
            needs = Feature.SESSION_VIEWS)
    void session() throws Exception {
        LockClient client = client();
        acquired(mutex(client)).close();
        SessionView first = client.session();
        assertEquals(SessionState.CONNECTED, first.state());
        assertTrue(first.timeout().compareTo(Duration.ZERO) > 0);
        assertEquals(first, client.session());
        fixture().disconnect(client);
        await("it is disconnected", () -> client.session().state() == SessionState.DISCONNECTED);
        assertFalse(client.session().since().isBefore(first.since()));
        fixture().heal(client);
        await("it is connected", () -> client.session().isConnected());
        assertFalse(client.session().since().isBefore(first.since()));
        client.close();
        assertEquals(SessionState.CLOSED, client.session().state());
        assertEquals(first.timeout(), client.session().timeout());
    }

    @Guarantee(
            id = "LK-LEASE-44",
            says = "a lease is lost at its limit without a server as well",
            needs = Feature.LIMITS)
    void limitWithoutServer() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client).heldAtMost(moment()));
        CompletableFuture<LossCause> lost = lease.lost();
        fixture().cutOff(client);
        assertEquals(LossCause.HELD_TOO_LONG, soon(lost));
        assertEquals(LeaseState.LOST, lease.state());
        assertEquals(Duration.ZERO, lease.remaining());
        assertEquals(ReleaseOutcome.LOST, lease.release());
        fixture().heal(client);
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-45",
            says = "of limits on limits the smallest counts, and a body with INTERRUPT is interrupted at it",
            needs = Feature.LIMITS)
    void limitsOnLimits() {
        Mutex lock = mutex(client()).heldAtMost(HOUR).heldAtMost(moment()).heldAtMost(HOUR);
        LeaseLostException told = assertThrows(
                LeaseLostException.class,
                () -> lock.run(OnLoss.INTERRUPT, lease -> new CountDownLatch(1)
                        .await(patience().toNanos(), TimeUnit.NANOSECONDS)));
        assertEquals(LossCause.HELD_TOO_LONG, told.lossCause());
        assertInstanceOf(InterruptedException.class, told.getCause());
    }

    @Guarantee(
            id = "LK-LEASE-46",
            says = "after a loss the next request is granted when the stages of lost() have run, or a bound has passed",
            needs = {Feature.LIMITS, Feature.SESSION_VIEWS})
    void nextAfterTheNotice() throws Exception {
        assertNextIsAfterTheNotice(moment(), client -> {});
        assertNextIsAfterTheNotice(HOUR, LockClient::close);
    }

    private void assertNextIsAfterTheNotice(Duration limit, Consumer<LockClient> loss) throws Exception {
        LockClient client = client();
        long bound = client.session().timeout().dividedBy(20).toNanos();
        Mutex others = mutex(client());
        AtomicLong lossAtTheEarliest = new AtomicLong(System.nanoTime() + limit.toNanos());
        Lease lease = acquired(mutex(client).heldAtMost(limit));
        CompletableFuture<Boolean> early = new CompletableFuture<>();
        CompletableFuture<Lease> next = new CompletableFuture<>();
        var unused = lease.lost().thenRun(() -> {
            boolean granted = isDoneWithin(bound / 2, next);
            early.complete(granted && System.nanoTime() - lossAtTheEarliest.get() < bound);
        });
        var unused2 = queued(others).thenAccept(next::complete);
        if (limit.equals(HOUR)) {
            lossAtTheEarliest.set(System.nanoTime());
        }
        loss.accept(client);
        assertFalse(soon(early), "granted before the stage had ended");
        soon(next).close();
    }

    private static boolean isDoneWithin(long nanos, CompletableFuture<?> due) {
        try {
            return due.get(nanos, TimeUnit.NANOSECONDS) != null;
        } catch (InterruptedException | ExecutionException | TimeoutException notDone) {
            return false;
        }
    }

    @Guarantee(
            id = "LK-LEASE-47",
            says = "a stage of lost() that blocks delays the next grant only for a bounded time",
            needs = Feature.LIMITS)
    void blockingStage() throws Exception {
        Lease lease = acquired(mutex(client()).heldAtMost(moment()));
        CompletableFuture<Boolean> go = new CompletableFuture<>();
        CompletableFuture<Boolean> stage = lease.lost().thenApply(cause -> go.join());
        try {
            soon(queued(mutex(client()))).close();
            assertFalse(stage.isDone());
        } finally {
            go.complete(true);
        }
        assertTrue(soon(stage));
    }

    @Guarantee(
            id = "LK-LEASE-48",
            says = "a view whose lease reached its limit tells the loss",
            needs = {Feature.LIMITS, Feature.LOCK_VIEWS})
    @SuppressWarnings("LockNotBeforeTry") // the view is what is tested
    void limitOfAView() throws Exception {
        Mutex lock = mutex(client());
        Lock view = lock.heldAtMost(moment()).asLock();
        view.lock();
        Lease lease = lock.leaseOfView().orElseThrow();
        assertEquals(LossCause.HELD_TOO_LONG, soon(lease.lost()));
        assertThrows(LockOwnershipLostException.class, view::unlock);
        assertFree(mutex(client()));
    }

    /** Closes the client with this grace, in a thread that holds no lease of it. */
    private Caller<Boolean> closing(LockClient client, Duration grace) {
        return inThread(() -> {
            client.close(grace);
            return Thread.currentThread().isInterrupted();
        });
    }

    @Guarantee(
            id = "LK-LEASE-49",
            says = "close with a grace refuses new requests, ends waiting ones, and lets a holder finish",
            needs = Feature.GRACE)
    @SuppressWarnings("NullAway") // that is what it is about
    void closeWithAGrace() throws Exception {
        LockClient client = client();
        assertThrows(NullPointerException.class, () -> client.close(null));
        assertThrows(IllegalArgumentException.class, () -> client.close(Duration.ofNanos(-1)));
        Lease lease = acquired(mutex(client));
        CompletableFuture<Lease> waiting = queued(mutex(client));
        CompletableFuture<Lease> next = queued(mutex(client()));
        Caller<Boolean> closing = closing(client, HOUR);
        refused(ClientClosedException.class, waiting);
        assertThrows(
                ClientClosedException.class, () -> client.mutex(path("other")).acquire());
        assertTrue(lease.isValid());
        assertFalse(closing.result().isDone());
        assertEquals(ReleaseOutcome.RELEASED, lease.release());
        soon(closing.result());
        soon(next).close();
        client.close(HOUR);
    }

    @Guarantee(
            id = "LK-LEASE-50",
            says = "a lease that is held when the grace has passed is lost",
            needs = Feature.GRACE)
    void graceOver() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        soon(closing(client, moment()).result());
        assertEquals(LossCause.CLIENT_CLOSED, soon(lease.lost()));
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-51",
            says = "close with a grace asks holders that listen to release",
            needs = {Feature.GRACE, Feature.ADMINISTRATION})
    void holdersAreAsked() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        CompletableFuture<ReleaseRequest> asked = lease.releaseRequested();
        Caller<Boolean> closing = closing(client, HOUR);
        assertEquals(ProcessHandle.current().pid(), soon(asked).processId());
        assertTrue(lease.isValid());
        lease.close();
        soon(closing.result());
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-52",
            says = "close with a grace does not wait for the thread that calls it, in a body or in a callback",
            needs = Feature.GRACE)
    void closeFromABody() throws Exception {
        LockClient client = client();
        Caller<Boolean> body = inThread(() -> mutex(client).call(lease -> {
            client.close(HOUR);
            return lease.isValid();
        }));
        assertTrue(soon(body.result()));
        assertFree(mutex(client()));
        LockClient another = client();
        Lease blocking = acquired(mutex(client()));
        CompletableFuture<Boolean> stage = queued(mutex(another)).thenApply(lease -> {
            another.close(HOUR);
            boolean valid = lease.isValid();
            lease.close();
            return valid;
        });
        blocking.close();
        try {
            assertTrue(soon(stage));
        } finally {
            another.close(); // ends the wait of a stage that waits for itself
        }
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-53",
            says = "an interrupt ends the wait of close with a grace and not the grace, which close ends",
            needs = Feature.GRACE)
    void interruptedClose() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        CompletableFuture<Lease> waiting = queued(mutex(client));
        Caller<Boolean> closing = closing(client, HOUR);
        refused(ClientClosedException.class, waiting);
        closing.thread().interrupt();
        assertTrue(soon(closing.result()), "the interrupt status is not set");
        assertTrue(lease.isValid());
        client.close();
        assertEquals(LossCause.CLIENT_CLOSED, soon(lease.lost()));
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-54",
            says = "a thread locks a view again while its client waits for holders to close",
            needs = {Feature.GRACE, Feature.LOCK_VIEWS})
    @SuppressWarnings("LockNotBeforeTry") // the view is what is tested
    void viewWhileClosing() throws Exception {
        LockClient client = client();
        Lock view = mutex(client).asLock();
        view.lock();
        client.close(HOUR);
        view.lock();
        view.unlock();
        view.unlock();
        assertFree(mutex(client()));
    }
}
