// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.OnLoss;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.contract.LockFixture.Feature;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The guarantees of the body of a call, tested with a mutex. {@link LeaseContract} has them too. */
abstract class BodyContract extends LimitContract {
    private static final long MOMENT_NANOS = 100_000;

    @Guarantee(
            id = "LK-LEASE-24",
            says = "a body whose lease is lost runs to its end, and then its call throws with the cause of the loss")
    void lostInABody() throws Exception {
        for (Optional<IOException> thrown : List.of(Optional.<IOException>empty(), Optional.of(new IOException()))) {
            LockClient client = client();
            AtomicBoolean ended = new AtomicBoolean();
            LeaseLostException told =
                    assertThrows(LeaseLostException.class, () -> mutex(client).call(lease -> {
                        fixture().expire(client);
                        soon(lease.lost());
                        assertEquals(Optional.of(LossCause.SESSION_EXPIRED), lease.lossCause());
                        assertThrows(LeaseLostException.class, lease::ensureValid);
                        ended.set(true);
                        if (thrown.isPresent()) {
                            throw thrown.get();
                        }
                        return "done";
                    }));
            assertTrue(ended.get());
            assertEquals(LossCause.SESSION_EXPIRED, told.lossCause());
            assertSame(thrown.orElse(null), told.getCause());
            assertFree(mutex(client()));
        }
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
            says = "with INTERRUPT, the body is interrupted on loss, and its call throws with the cause of the loss")
    void interruptedOnLoss() throws Exception {
        LockClient client = client();
        Caller<Object> caller = waitingBody(client);
        fixture().expire(client);
        LeaseLostException told = refused(LeaseLostException.class, caller.result());
        assertEquals(LossCause.SESSION_EXPIRED, told.lossCause());
        assertInstanceOf(InterruptedException.class, told.getCause());
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-33",
            says = "where sessions end by time, a body that stops when interrupted ends before the next grant",
            needs = Feature.DEADLINES)
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
        assertTrue(lastStep.get() < next, () -> (lastStep.get() - next) / 1_000 + " us after the next grant");
    }

    @Guarantee(
            id = "LK-LEASE-34",
            says = "an interrupt that is pending when the lease is lost stays, and none is sent on top of it")
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
        go.countDown();
        assertTrue(soon(caller.result()), "the status is not set");
        assertFalse(onTop.get(), "interrupted twice");
    }

    @Guarantee(id = "LK-LEASE-35", says = "no interrupt of a call is pending after it has thrown")
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
    }

    @Guarantee(id = "LK-LEASE-36", says = "a thread is not interrupted by the loss of a lease whose body has ended")
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
        assertFalse(Thread.currentThread().isInterrupted());
        assertEquals(LeaseState.RELEASED, released.state());
    }

    @Guarantee(
            id = "LK-LEASE-37",
            says = "a body is interrupted when an operator deletes its request",
            needs = Feature.OPERATOR)
    void interruptedOnDeletion() throws Exception {
        LockClient client = client();
        Caller<Object> caller = waitingBody(client);
        fixture().deleteRequest(path(), 0);
        assertEquals(
                LossCause.NODE_DELETED,
                refused(LeaseLostException.class, caller.result()).lossCause());
    }

    @Guarantee(
            id = "LK-LEASE-38",
            says = "of bodies that enclose each other each is interrupted",
            needs = Feature.OPERATOR)
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
    }

    @Guarantee(id = "LK-LEASE-39", says = "with IGNORE, a body is not interrupted on loss, and its result is returned")
    void notInterrupted() throws Exception {
        LockClient client = client();
        String result = mutex(client).call(OnLoss.IGNORE, lease -> {
            expire(client);
            assertFalse(soon(lease.lost()).name().isEmpty());
            assertFalse(Thread.currentThread().isInterrupted());
            return "done";
        });
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
            needs = {Feature.OPERATOR, Feature.WIRE_FAULTS, Feature.RELEASE_OUTCOMES})
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
        try (LockFixture.MessageHold held = fixture().holdEvents(client)) {
            fixture().deleteRequest(path(), 0);
            soon(held.caught());
            go.countDown();
            await("the body has ended", () -> lease.state() == LeaseState.RELEASED);
        }
        assertEquals(
                LossCause.NODE_DELETED,
                refused(LeaseLostException.class, caller.result()).lossCause());
    }

    @Guarantee(
            id = "LK-LEASE-42",
            says = "an exception of a body after the loss is the cause of the exception of its call")
    void whatABodyThrowsAfterTheLoss() throws Exception {
        LockClient client = client();
        IOException failure = new IOException("of the body");
        CountDownLatch began = new CountDownLatch(1);
        Caller<Object> caller = running(began, () -> {
            mutex(client).run(OnLoss.INTERRUPT, lease -> {
                began.countDown();
                untilInterruptIsPending();
                throw failure;
            });
            return "";
        });
        fixture().expire(client); // not by the body: it would be interrupted in there
        LeaseLostException told = refused(LeaseLostException.class, caller.result());
        assertSame(failure, told.getCause());
        assertSame(
                failure, assertThrows(IOException.class, () -> mutex(client()).run(OnLoss.INTERRUPT, lease -> {
                    throw failure;
                })));
    }
}
