// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.admin.Contender;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.function.ThrowingSupplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Scenarios from the javadoc of {@link Lock}, {@link ReentrantLock} and {@link ReentrantReadWriteLock}, each for the
 * views of Latchkey's locks and for the platform's own fair locks. docs/juc.md lists them, and what does not apply to
 * the views.
 */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // what is tested is when a lock is held
class JucLockTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    /** Which lock is tested. */
    enum Kind {
        MUTEX,
        READ,
        WRITE
    }

    /** Whose lock it is, and where its other users are. */
    enum Place {
        ONE_CLIENT,
        TWO_CLIENTS,
        JDK
    }

    static Stream<Subject> subjects() {
        return of(Kind.values());
    }

    static Stream<Subject> exclusive() {
        return of(Kind.MUTEX, Kind.WRITE);
    }

    static Stream<Subject> pairs() {
        return of(Kind.READ);
    }

    private static Stream<Subject> of(Kind... kinds) {
        return Stream.of(Place.values()).flatMap(place -> Stream.of(kinds).map(kind -> new Subject(kind, place)));
    }

    /** The lock as two threads see it. JUnit closes it after its test. */
    static final class Subject implements AutoCloseable {
        private final Kind kind;
        private final Place place;
        private SimulatedLocks locks;
        private ReadWriteLock ours;
        private ReadWriteLock theirs;
        private Lock lock;
        private Lock theirLock;
        private WaitingCall waiting;

        Subject(Kind kind, Place place) {
            this.kind = kind;
            this.place = place;
            if (place == Place.JDK) {
                openJdk();
            } else {
                locks = SimulatedLocks.startWithTimePassing();
                LockClient one = locks.client();
                openViews(one, place == Place.ONE_CLIENT ? one : locks.client());
            }
            if (kind != Kind.MUTEX) {
                lock = kind == Kind.READ ? ours.readLock() : ours.writeLock();
                theirLock = kind == Kind.READ ? theirs.readLock() : theirs.writeLock();
            }
        }

        private void openJdk() {
            if (kind == Kind.MUTEX) {
                ReentrantLock mutex = new ReentrantLock(true);
                lock = mutex;
                theirLock = mutex;
                waiting = mutex::getQueueLength;
            } else {
                ReentrantReadWriteLock pair = new ReentrantReadWriteLock(true);
                ours = pair;
                theirs = pair;
                waiting = pair::getQueueLength;
            }
        }

        private void openViews(LockClient one, LockClient two) {
            if (kind == Kind.MUTEX) {
                lock = one.mutex("/juc").asLock();
                theirLock = two.mutex("/juc").asLock();
                waiting = () -> waiters(one.mutex("/juc"));
            } else {
                ours = one.readWriteLock("/juc").asReadWriteLock();
                theirs = two.readWriteLock("/juc").asReadWriteLock();
                waiting = () -> waiters(one.readWriteLock("/juc").readLock());
            }
        }

        @FunctionalInterface
        private interface WaitingCall {
            int count() throws InterruptedException;
        }

        private static int waiters(Acquirable lock) throws InterruptedException {
            return (int) lock.queue().stream()
                    .filter(each -> each.state() == Contender.State.WAITING)
                    .count();
        }

        /** A lock that keeps others from {@link #lock} while another thread holds it. */
        Lock conflicting() {
            return kind == Kind.READ ? theirs.writeLock() : theirLock;
        }

        void awaitWaiters(int number) throws InterruptedException {
            Eventually.holds(number + " waiters", SOON, () -> waiting.count() == number);
        }

        @Override
        public void close() {
            if (locks != null) {
                locks.close();
            }
        }

        @Override
        public String toString() {
            return kind + " of " + place;
        }
    }

    /** A thread that does one thing after the other. */
    private final class OtherThread {
        private final ExecutorService executor = Executors.newSingleThreadExecutor();
        private final Thread thread;

        OtherThread() throws Exception {
            executors.add(executor);
            thread = executor.submit(Thread::currentThread).get();
        }

        <T> T gets(Callable<T> what) throws Exception {
            return starts(what).get(SOON.toSeconds(), TimeUnit.SECONDS);
        }

        void does(Executable what) throws Exception {
            var unused = gets(() -> done(what));
        }

        <T> Future<T> starts(Callable<T> what) {
            return executor.submit(what);
        }

        Future<Boolean> startsTo(Executable what) {
            return starts(() -> done(what));
        }
    }

    private final List<ExecutorService> executors = new ArrayList<>();

    @AfterEach
    void endThreads() {
        executors.forEach(ExecutorService::shutdownNow);
    }

    private static boolean done(Executable what) throws Exception {
        try {
            what.execute();
            return true;
        } catch (Exception | Error thrown) {
            throw thrown;
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static boolean result(Future<Boolean> future) throws Exception {
        return future.get(SOON.toSeconds(), TimeUnit.SECONDS);
    }

    private static Throwable failure(Future<?> future) {
        return assertThrows(ExecutionException.class, () -> future.get(SOON.toSeconds(), TimeUnit.SECONDS))
                .getCause();
    }

    private static boolean isFree(Lock lock) {
        boolean taken = lock.tryLock();
        if (taken) {
            lock.unlock();
        }
        return taken;
    }

    /** Each form of acquiring. */
    private static List<ThrowingSupplier<Boolean>> forms(Lock lock) {
        return List.of(
                () -> done(lock::lock),
                () -> done(lock::lockInterruptibly),
                lock::tryLock,
                () -> lock.tryLock(1, TimeUnit.SECONDS),
                () -> lock.tryLock(0, TimeUnit.SECONDS),
                () -> lock.tryLock(-1, TimeUnit.SECONDS));
    }

    // ---- Lock

    @ParameterizedTest
    @MethodSource("subjects")
    void lockIsAcquired_inEveryForm_whenFree(Subject subject) throws Throwable {
        OtherThread other = new OtherThread();
        for (ThrowingSupplier<Boolean> form : forms(subject.lock)) {
            assertTrue(form.get());
            assertFalse(other.gets(() -> isFree(subject.conflicting())));
            subject.lock.unlock();
            assertTrue(other.gets(() -> isFree(subject.conflicting())));
        }
    }

    @ParameterizedTest
    @MethodSource("subjects")
    void lockWaitsOn_whenInterrupted_andKeepsTheStatus(Subject subject) throws Exception {
        OtherThread other = new OtherThread();
        OtherThread waiter = new OtherThread();
        other.does(subject.conflicting()::lock);
        Future<Boolean> interrupted = waiter.starts(() -> {
            subject.lock.lock();
            return Thread.interrupted();
        });
        subject.awaitWaiters(1);
        waiter.thread.interrupt();
        subject.awaitWaiters(1);
        assertFalse(interrupted.isDone());
        other.does(subject.conflicting()::unlock);
        assertTrue(result(interrupted));
        waiter.does(subject.lock::unlock);
    }

    @ParameterizedTest
    @MethodSource("subjects")
    void lockAndTryLockSucceed_whenInterruptedOnEntry_andKeepTheStatus(Subject subject) {
        Thread.currentThread().interrupt();
        subject.lock.lock();
        assertTrue(Thread.interrupted());
        subject.lock.unlock();
        Thread.currentThread().interrupt();
        assertTrue(subject.lock.tryLock());
        assertTrue(Thread.interrupted());
        subject.lock.unlock();
    }

    /**
     * "If the current thread has its interrupted status set on entry": also where the lock is free, and where the
     * thread holds it.
     */
    @ParameterizedTest
    @MethodSource("subjects")
    void interruptibleFormsThrowAndClearTheStatus_whenInterruptedOnEntry(Subject subject) throws Exception {
        for (int holds = 0; holds < 2; holds++) {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, subject.lock::lockInterruptibly);
            assertFalse(Thread.interrupted());
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, () -> subject.lock.tryLock(1, TimeUnit.SECONDS));
            assertFalse(Thread.interrupted());
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, () -> subject.lock.tryLock(0, TimeUnit.SECONDS));
            assertFalse(Thread.interrupted());
            subject.lock.lock();
        }
        subject.lock.unlock();
        subject.lock.unlock();
        assertThrows(IllegalMonitorStateException.class, subject.lock::unlock);
    }

    @ParameterizedTest
    @MethodSource("subjects")
    void interruptibleFormsThrowAndLeaveTheQueue_whenInterruptedWhileWaiting(Subject subject) throws Exception {
        OtherThread other = new OtherThread();
        OtherThread waiter = new OtherThread();
        other.does(subject.conflicting()::lock);
        List<Executable> forms =
                List.of(subject.lock::lockInterruptibly, () -> subject.lock.tryLock(1, TimeUnit.MINUTES));
        for (Executable form : forms) {
            Future<Boolean> waits = waiter.startsTo(form);
            subject.awaitWaiters(1);
            waiter.thread.interrupt();
            assertInstanceOf(InterruptedException.class, failure(waits));
            subject.awaitWaiters(0);
            assertFalse(waiter.gets(() -> Thread.currentThread().isInterrupted()));
            assertInstanceOf(IllegalMonitorStateException.class, failure(waiter.startsTo(subject.lock::unlock)));
        }
        other.does(subject.conflicting()::unlock);
    }

    @ParameterizedTest
    @MethodSource("subjects")
    void triesReturnFalse_whenAnotherThreadHolds(Subject subject) throws Exception {
        OtherThread other = new OtherThread();
        other.does(subject.conflicting()::lock);
        assertFalse(subject.lock.tryLock());
        assertFalse(subject.lock.tryLock(0, TimeUnit.NANOSECONDS));
        assertFalse(subject.lock.tryLock(Long.MIN_VALUE, TimeUnit.DAYS));
        long start = System.nanoTime();
        assertFalse(subject.lock.tryLock(50, TimeUnit.MILLISECONDS));
        assertTrue(System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(50));
        assertThrows(IllegalMonitorStateException.class, subject.lock::unlock);
        subject.awaitWaiters(0);
        other.does(subject.conflicting()::unlock);
        assertTrue(isFree(subject.lock));
    }

    @ParameterizedTest
    @MethodSource("subjects")
    void timedTryAcquires_whenUnlockedInTime(Subject subject) throws Exception {
        OtherThread other = new OtherThread();
        OtherThread waiter = new OtherThread();
        other.does(subject.conflicting()::lock);
        Future<Boolean> waits = waiter.starts(() -> subject.lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS));
        subject.awaitWaiters(1);
        other.does(subject.conflicting()::unlock);
        assertTrue(result(waits));
        waiter.does(subject.lock::unlock);
    }

    @ParameterizedTest
    @MethodSource("subjects")
    void timedTryIsRefused_withoutAUnit(Subject subject) {
        assertThrows(NullPointerException.class, () -> subject.lock.tryLock(1, null));
        assertThrows(IllegalMonitorStateException.class, subject.lock::unlock);
    }

    /** Plain variables, guarded by the lock alone; between processes only a store can give such an order. */
    @ParameterizedTest
    @MethodSource("exclusive")
    void nextHolderSeesTheWrites_ofTheHolderBefore(Subject subject) throws Exception {
        assumeTrue(subject.place != Place.TWO_CLIENTS, "happens-before is promised within one client");
        int[] counter = new int[1];
        List<OtherThread> others = List.of(new OtherThread(), new OtherThread(), new OtherThread());
        List<Future<Boolean>> all = new ArrayList<>();
        for (OtherThread each : others) {
            all.add(each.startsTo(() -> {
                for (int i = 0; i < 100; i++) {
                    subject.lock.lock();
                    try {
                        counter[0]++;
                    } finally {
                        subject.lock.unlock();
                    }
                }
            }));
        }
        for (Future<Boolean> each : all) {
            assertTrue(result(each));
        }
        assertEquals(300, counter[0]);
    }

    // ---- ReentrantLock, and the two locks of ReentrantReadWriteLock

    @ParameterizedTest
    @MethodSource("subjects")
    void unlockThrows_whenTheThreadDoesNotHold(Subject subject) throws Exception {
        assertThrows(IllegalMonitorStateException.class, subject.lock::unlock);
        OtherThread other = new OtherThread();
        other.does(subject.lock::lock);
        assertThrows(IllegalMonitorStateException.class, subject.lock::unlock);
        assertFalse(isFree(subject.conflicting()), "still held");
        other.does(subject.lock::unlock);
        assertInstanceOf(IllegalMonitorStateException.class, failure(other.startsTo(subject.lock::unlock)));
    }

    @ParameterizedTest
    @MethodSource("subjects")
    void holderReentersInEveryForm_andOthersWaitForTheLastUnlock(Subject subject) throws Throwable {
        OtherThread other = new OtherThread();
        subject.lock.lock();
        List<ThrowingSupplier<Boolean>> forms = forms(subject.lock);
        for (ThrowingSupplier<Boolean> form : forms) {
            assertTrue(form.get());
        }
        for (int level = 0; level < forms.size(); level++) {
            subject.lock.unlock();
            assertFalse(other.gets(() -> isFree(subject.conflicting())), "level " + level);
        }
        subject.lock.unlock();
        assertTrue(other.gets(() -> isFree(subject.conflicting())));
        assertThrows(IllegalMonitorStateException.class, subject.lock::unlock);
    }

    /** A re-entry does not queue, so a waiter is no reason to wait for. */
    @ParameterizedTest
    @MethodSource("subjects")
    void holderReenters_whileAnotherThreadWaits(Subject subject) throws Throwable {
        OtherThread waiter = new OtherThread();
        subject.lock.lock();
        Future<Boolean> waits = waiter.startsTo(subject.conflicting()::lock);
        subject.awaitWaiters(1);
        for (ThrowingSupplier<Boolean> form : forms(subject.lock)) {
            assertTrue(form.get());
            subject.lock.unlock();
        }
        assertFalse(waits.isDone());
        subject.lock.unlock();
        assertTrue(result(waits));
        waiter.does(subject.conflicting()::unlock);
    }

    /** The order of the platform's fair locks. */
    @ParameterizedTest
    @MethodSource("exclusive")
    void longestWaiterIsGrantedFirst(Subject subject) throws Exception {
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        subject.lock.lock();
        List<Future<Boolean>> all = new ArrayList<>();
        for (int i : IntStream.range(0, 5).toArray()) {
            all.add(new OtherThread().startsTo(() -> {
                subject.lock.lock();
                order.add(i);
                subject.lock.unlock();
            }));
            subject.awaitWaiters(i + 1);
        }
        subject.lock.unlock();
        for (Future<Boolean> each : all) {
            assertTrue(result(each));
        }
        assertEquals(List.of(0, 1, 2, 3, 4), order);
    }

    // ---- ReentrantReadWriteLock

    @ParameterizedTest
    @MethodSource("pairs")
    void readerWaits_behindAWaitingWriter(Subject subject) throws Exception {
        OtherThread writer = new OtherThread();
        OtherThread reader = new OtherThread();
        subject.ours.readLock().lock();
        Future<Boolean> writes = writer.startsTo(subject.theirs.writeLock()::lock);
        subject.awaitWaiters(1);
        Future<Boolean> reads = reader.startsTo(subject.theirs.readLock()::lock);
        subject.awaitWaiters(2);
        assertFalse(new OtherThread().gets(() -> subject.theirs.readLock().tryLock(0, TimeUnit.SECONDS)), "in order");
        subject.ours.readLock().unlock();
        assertTrue(result(writes));
        assertFalse(reads.isDone());
        writer.does(subject.theirs.writeLock()::unlock);
        assertTrue(result(reads));
        reader.does(subject.theirs.readLock()::unlock);
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void writerDowngrades_byUnlockingWriteAfterLockingRead(Subject subject) throws Throwable {
        OtherThread other = new OtherThread();
        for (ThrowingSupplier<Boolean> form : forms(subject.ours.readLock())) {
            subject.ours.writeLock().lock();
            assertTrue(form.get());
            subject.ours.writeLock().unlock();
            assertTrue(other.gets(() -> isFree(subject.theirs.readLock())), "others read beside it");
            assertFalse(other.gets(() -> isFree(subject.theirs.writeLock())), "it still reads");
            assertThrows(IllegalMonitorStateException.class, subject.ours.writeLock()::unlock);
            subject.ours.readLock().unlock();
            assertTrue(other.gets(() -> isFree(subject.theirs.writeLock())));
        }
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void writerStays_whenItUnlocksTheReadLockFirst(Subject subject) throws Exception {
        OtherThread other = new OtherThread();
        subject.ours.writeLock().lock();
        subject.ours.readLock().lock();
        subject.ours.readLock().unlock();
        assertFalse(other.gets(() -> isFree(subject.theirs.readLock())));
        assertThrows(IllegalMonitorStateException.class, subject.ours.readLock()::unlock);
        subject.ours.writeLock().unlock();
        assertTrue(other.gets(() -> isFree(subject.theirs.writeLock())));
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void readLockHasNoConditions(Subject subject) {
        assertThrows(UnsupportedOperationException.class, subject.lock::newCondition);
    }

    /** Where the views differ: the platform's reader gets false from a try, and waits for itself in the other forms. */
    @ParameterizedTest
    @MethodSource("pairs")
    void readerDoesNotBecomeTheWriter(Subject subject) throws Exception {
        subject.ours.readLock().lock();
        if (subject.place == Place.JDK) {
            assertFalse(subject.ours.writeLock().tryLock());
        } else {
            assertThrows(IllegalStateException.class, subject.ours.writeLock()::tryLock);
            assertThrows(IllegalStateException.class, subject.ours.writeLock()::lock);
        }
        assertFalse(new OtherThread().gets(() -> isFree(subject.theirs.writeLock())), "it still reads");
        subject.ours.readLock().unlock();
    }
}
