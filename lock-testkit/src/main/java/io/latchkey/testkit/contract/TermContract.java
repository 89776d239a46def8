// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.BadPathException;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Leadership;
import io.latchkey.lock.Leadership.Next;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockException.Reason;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.SessionExpiredException;
import io.latchkey.testkit.contract.LockFixture.Feature;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Each end of a term of {@link Leadership}, with bodies and listeners that obey and that do not, and each refusal of
 * its mutex.
 */
// The class is long because each guarantee is a test of its own.
@SuppressWarnings("try") // Candidates that are closed early: that is what it is about.
public abstract class TermContract extends LockContract {
    private static final int REFUSALS = 3;

    /** For subclasses. */
    protected TermContract() {}

    private enum Form {
        BODY,
        LISTENER
    }

    /** What the first term of a candidate does when it is interrupted; later ones obey. */
    private enum Behaviour {
        /** Ends: a body by its exception. A listener returns before, and the leadership waits. */
        OBEYS,
        /** Clears the status and returns; a body that it is done for good, which counts only if it was not asked to end. */
        SWALLOWS,
        /** Clears the status and returns before anything has happened; a body waits until it is interrupted. */
        CLEARS,
        /** Waits again, and ends when it is interrupted a second time, or the test lets it end. */
        RETRIES,
        /** Throws an error. */
        THROWS,
        /** Goes on, however often it is interrupted, until the test lets it end. */
        BLOCKS;

        boolean endsAtOnce() {
            return this != RETRIES && this != BLOCKS;
        }
    }

    /** A candidate, and what is seen of it. */
    private final class Row implements Leadership.Listener {
        private final Form form;
        private final Behaviour behaviour;
        private final LockClient client;
        private final String path;
        private final AtomicInteger terms = new AtomicInteger();
        private final AtomicInteger overs = new AtomicInteger();
        private final AtomicInteger swallowed = new AtomicInteger();
        private final AtomicInteger interruptedOvers = new AtomicInteger();
        private final CountDownLatch mayEnd = new CountDownLatch(1);
        private final Queue<Throwable> dropped = new ConcurrentLinkedQueue<>();

        Row(Form form, Behaviour behaviour, LockClient client) {
            this.form = form;
            this.behaviour = behaviour;
            this.client = client;
            this.path = path(form + "-" + behaviour);
        }

        Leadership start() {
            Mutex mutex = client.mutex(path);
            return form == Form.LISTENER
                    ? Leadership.start(mutex, this)
                    : Leadership.start(mutex, (Lease lease) -> body(), (Leadership.Reports) this);
        }

        private Next body() throws InterruptedException {
            if (terms.incrementAndGet() == 1) {
                behave();
            } else {
                new CountDownLatch(1).await();
            }
            return behaviour == Behaviour.SWALLOWS ? Next.END : Next.QUEUE_AGAIN;
        }

        @Override
        public void elected(Lease lease) throws InterruptedException {
            if (terms.incrementAndGet() == 1 && behaviour != Behaviour.OBEYS) {
                if (behaviour == Behaviour.CLEARS) {
                    boolean unused = Thread.interrupted();
                } else {
                    behave();
                }
            }
        }

        @Override
        public void termOver(Lease lease) {
            interruptedOvers.addAndGet(Thread.interrupted() ? 1 : 0);
            overs.incrementAndGet();
        }

        @Override
        public void exceptionDropped(Lease lease, Throwable thrown) {
            dropped.add(thrown);
        }

        private void behave() throws InterruptedException {
            switch (behaviour) {
                case OBEYS -> new CountDownLatch(1).await();
                case SWALLOWS, CLEARS -> untilInterrupted();
                case RETRIES -> {
                    untilInterrupted();
                    mayEnd.await();
                }
                case THROWS -> {
                    untilInterrupted();
                    throw new AssertionError("of a body that was asked to end");
                }
                case BLOCKS -> {
                    while (mayEnd.getCount() > 0) {
                        untilInterruptedOrAllowed();
                    }
                }
            }
        }

        private void untilInterrupted() {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException interrupted) {
                swallowed.incrementAndGet();
            }
        }

        private void untilInterruptedOrAllowed() {
            try {
                mayEnd.await();
            } catch (InterruptedException interrupted) {
                swallowed.incrementAndGet();
            }
        }

        /** The mutex is free for others, and each term that began had its end. */
        void assertGone(Leadership candidate) throws Exception {
            await(
                    this + " has ended",
                    () -> candidate.ended().toCompletableFuture().isDone());
            assertEquals(Leadership.State.ENDED, candidate.state());
            assertEquals(form == Form.LISTENER ? terms.get() : 0, overs.get(), this::toString);
            assertEquals(0, interruptedOvers.get(), () -> this + ": the status was set when the term was over");
        }

        @Override
        public String toString() {
            return form + ", " + behaviour;
        }
    }

    /** What is done to a candidate that leads. */
    private interface TermEnd {
        void end(Row row, Leadership candidate) throws Exception;
    }

    /** All rows at a time, each in a thread and with a client of its own. */
    private void inEachRow(boolean brief, TermEnd test) throws Exception {
        List<Row> rows = new ArrayList<>();
        for (Form form : Form.values()) {
            for (Behaviour behaviour : Behaviour.values()) {
                rows.add(new Row(form, behaviour, brief ? briefClient() : client()));
            }
        }
        List<Caller<?>> callers = new ArrayList<>();
        for (Row row : rows) {
            callers.add(inThread(() -> {
                try (Leadership candidate = row.start();
                        AutoCloseable allowed = row.mayEnd::countDown) {
                    // Its first term has begun: a candidate leads before its listener knows.
                    await(row + " leads", () -> row.terms.get() > 0 && candidate.isLeader());
                    test.end(row, candidate);
                }
                return row;
            }));
        }
        for (Caller<?> caller : callers) {
            assertFalse(soon(caller.result()).toString().isEmpty());
        }
    }

    /** The candidate leads again when its first term has ended, and ends when it is closed. */
    private void assertLeadsAgain(Row row, Leadership candidate) throws Exception {
        if (!row.behaviour.endsAtOnce()) {
            await(row + " is to end", () -> candidate.state() == Leadership.State.ENDING);
            assertEquals(1, row.terms.get(), row::toString);
            if (row.behaviour == Behaviour.RETRIES) {
                await(row + " was interrupted", () -> row.swallowed.get() > 0);
                candidate.close(); // interrupts again
                row.assertGone(candidate);
                return;
            }
            row.mayEnd.countDown();
        }
        await(row + " leads again", () -> row.terms.get() > 1 && candidate.isLeader());
        assertEquals(row.behaviour == Behaviour.THROWS, !row.dropped.isEmpty(), row::toString);
        candidate.close();
        assertTrue(
                candidate.ended().toCompletableFuture().isDone()
                        && !candidate.ended().toCompletableFuture().isCompletedExceptionally(),
                row::toString);
        row.assertGone(candidate);
    }

    @Guarantee(id = "LK-TERM-01", says = "after stepDown() a candidate leads again once its body has ended")
    void stepDown() throws Exception {
        inEachRow(false, (row, candidate) -> {
            candidate.stepDown();
            assertLeadsAgain(row, candidate);
        });
    }

    @Guarantee(id = "LK-TERM-02", says = "after a forced expiry a candidate leads again once its body has ended")
    void lostByForce() throws Exception {
        inEachRow(false, (row, candidate) -> {
            fixture().expire(row.client);
            assertLeadsAgain(row, candidate);
        });
    }

    @Guarantee(
            id = "LK-TERM-03",
            says = "after the deletion of its node a candidate leads again once its body has ended",
            needs = Feature.OPERATOR)
    void lostByDeletion() throws Exception {
        inEachRow(false, (row, candidate) -> {
            fixture().deleteRequest(row.path, 0);
            assertLeadsAgain(row, candidate);
        });
    }

    @Guarantee(
            id = "LK-TERM-04",
            says = "a candidate that was cut off leads again once it is back and its body has ended",
            needs = Feature.DEADLINES)
    void lostByTime() throws Exception {
        inEachRow(true, (row, candidate) -> {
            fixture().cutOff(row.client);
            await(row + " does not lead", () -> !candidate.isLeader() && candidate.state() != Leadership.State.LEADING);
            fixture().heal(row.client);
            assertLeadsAgain(row, candidate);
        });
    }

    @Guarantee(
            id = "LK-TERM-05",
            says = "close() ends a candidate; where its body does not end, close(Duration) releases for it")
    void closed() throws Exception {
        LockClient other = client();
        inEachRow(false, (row, candidate) -> {
            if (row.behaviour.endsAtOnce()) {
                candidate.close();
            } else {
                assertFalse(candidate.close(moment()), row::toString);
                assertFalse(candidate.isLeader());
                assertEquals(Leadership.State.ENDING, candidate.state());
            }
            await(row + " has released", () -> other.mutex(row.path).queue().isEmpty());
            acquired(other.mutex(row.path)).close();
            row.mayEnd.countDown();
            row.assertGone(candidate);
            assertFalse(candidate.ended().toCompletableFuture().isCompletedExceptionally(), row::toString);
        });
    }

    @Guarantee(id = "LK-TERM-06", says = "a candidate whose client is closed ends once its body has ended")
    void clientClosed() throws Exception {
        inEachRow(false, (row, candidate) -> {
            row.client.close();
            if (row.behaviour == Behaviour.RETRIES) {
                await(row + " was interrupted", () -> row.swallowed.get() > 0);
                candidate.close();
            } else {
                row.mayEnd.countDown();
                ClientClosedException unused = refused(ClientClosedException.class, candidate.ended());
            }
            row.assertGone(candidate);
        });
    }

    @Guarantee(id = "LK-TERM-07", says = "a candidate that waits while its session ends leads later")
    void sessionRenewed() throws Exception {
        Lease held = acquired(client().mutex(path()));
        LockClient client = client();
        try (Leadership candidate =
                Leadership.start(client.mutex(path()), new Row(Form.LISTENER, Behaviour.OBEYS, client))) {
            awaitQueue(client.mutex(path()), 2);
            fixture().expire(client);
            held.close();
            await("it leads", candidate::isLeader);
        }
    }

    /** Refuses the first requests. */
    private static Mutex refusing(Mutex mutex, Throwable why) {
        AtomicInteger left = new AtomicInteger(REFUSALS);
        InvocationHandler handler = (proxy, method, args) -> {
            if (method.getName().equals("acquire") && left.getAndDecrement() > 0) {
                throw why;
            }
            try {
                return method.invoke(mutex, args);
            } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
            }
        };
        return (Mutex) Proxy.newProxyInstance(Mutex.class.getClassLoader(), new Class<?>[] {Mutex.class}, handler);
    }

    @Guarantee(
            id = "LK-TERM-08",
            says = "a candidate that is refused for now tries again after growing pauses, says so, and leads later")
    void refusalsThatPass() throws Exception {
        List<Throwable> all = List.of(
                new LockException("THROTTLEDOP"),
                new LockException("a quota", Reason.QUOTA_EXCEEDED),
                new LockException("a long queue", Reason.QUEUE_TOO_LONG),
                new LockServiceUnavailableException("no session", Reason.NO_SESSION),
                new LockServiceUnavailableException("no answer"),
                new IllegalStateException("of the engine"),
                new StackOverflowError("of the engine"));
        List<Caller<Void>> callers = new ArrayList<>();
        for (int each = 0; each < all.size(); each++) {
            Throwable why = all.get(each);
            Mutex mutex = refusing(client().mutex(path("" + each)), why);
            callers.add(inThread(() -> assertLeadsAfterRefusals(mutex, why)));
        }
        for (Caller<Void> caller : callers) {
            soon(caller.result());
        }
    }

    private Void assertLeadsAfterRefusals(Mutex mutex, Throwable why) throws Exception {
        Queue<Duration> pauses = new ConcurrentLinkedQueue<>();
        Queue<String> shown = new ConcurrentLinkedQueue<>();
        CountDownLatch made = new CountDownLatch(1);
        List<Leadership> itself = new ArrayList<>();
        Leadership.Listener listener = new Leadership.Listener() {
            @Override
            public void elected(Lease lease) {}

            @Override
            public void termOver(Lease lease) {}

            @Override
            public void mutexRefused(Throwable reason, Duration pause) {
                assertSame(why, reason);
                pauses.add(pause);
                try {
                    made.await();
                } catch (InterruptedException interrupted) {
                    throw new AssertionError(interrupted);
                }
                Leadership candidate = itself.get(0);
                assertSame(reason, candidate.refusal().orElseThrow());
                shown.add(candidate.state() + ": " + candidate);
                throw new IllegalStateException("of a report, which has no effect");
            }
        };
        try (Leadership candidate = Leadership.start(mutex, listener)) {
            itself.add(candidate);
            made.countDown();
            await("it leads after " + why, candidate::isLeader);
            assertTrue(candidate.refusal().isEmpty());
        }
        List<Duration> each = List.copyOf(pauses);
        assertEquals(REFUSALS, each.size());
        assertEquals(REFUSALS, shown.size());
        assertTrue(shown.stream().allMatch(text -> text.startsWith("PAUSING") && text.contains(why.toString())));
        assertTrue(each.get(0).compareTo(each.get(1)) < 0 && each.get(1).compareTo(each.get(2)) < 0, each::toString);
        return null;
    }

    @Guarantee(id = "LK-TERM-09", says = "a candidate whose request can only be refused again ends, and says why")
    void refusalsThatCannotPass() throws Exception {
        List<Throwable> all = List.of(
                new ClientClosedException("closed"),
                new SessionExpiredException("borrowed"),
                new BadPathException("bad"),
                new AccessDeniedException("denied"),
                new LockMismatchException("other", Reason.DIFFERENT_KIND, "mutex", "semaphore"),
                new LockException("ephemeral", Reason.EPHEMERAL_PARENT),
                new NoClassDefFoundError("of the class path"));
        for (int each = 0; each < all.size(); each++) {
            Throwable why = all.get(each);
            try (Leadership candidate =
                    Leadership.start(refusing(client().mutex(path("" + each)), why), lease -> Next.END)) {
                assertSame(why, refused(why.getClass(), candidate.ended()));
                assertTrue(candidate.toString().contains(why.toString()), candidate::toString);
            }
        }
    }

    @Guarantee(id = "LK-TERM-10", says = "a candidate that pauses after a refusal ends at once when it is closed")
    void closedInAPause() throws Exception {
        LockClient client = client();
        LockException refusal = new LockException("a quota", Reason.QUOTA_EXCEEDED);
        try (Leadership candidate = Leadership.start(refusing(client.mutex(path()), refusal), lease -> Next.END)) {
            await("it pauses", () -> candidate.state() == Leadership.State.PAUSING);
            candidate.close();
            assertTrue(candidate.ended().toCompletableFuture().isDone()
                    && !candidate.ended().toCompletableFuture().isCompletedExceptionally());
        }
        assertFree(client.mutex(path()));
    }
}
