// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockOwnershipLostException;
import io.latchkey.testkit.Stopwatch;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.Wire;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** The {@link ReadWriteLock} view of a read-write lock, beyond what the contracts ask of every implementation. */
@Timeout(30)
@SuppressWarnings("LockNotBeforeTry") // What happens without is the very thing under test.
class ReadWriteViewTest extends OnOneServer {
    private static final String PATH = "/rw";

    private final FaultProxy proxy = proxy();
    private final ZkLockClient one = patient(proxy);
    private final ZkLockClient two = client("two");
    private final Lock read = one.readWriteLock(PATH).asReadWriteLock().readLock();
    private final Lock write = one.readWriteLock(PATH).asReadWriteLock().writeLock();
    private final ExecutorService other = Executors.newSingleThreadExecutor();

    @AfterEach
    void endThreads() {
        other.shutdownNow();
    }

    private boolean othersRead() throws Exception {
        return two.readWriteLock(PATH)
                .readLock()
                .tryAcquire()
                .map(ReadWriteViewTest::released)
                .isPresent();
    }

    private boolean othersWrite() throws Exception {
        return two.readWriteLock(PATH)
                .writeLock()
                .tryAcquire()
                .map(ReadWriteViewTest::released)
                .isPresent();
    }

    private static Lease released(Lease lease) {
        lease.close();
        return lease;
    }

    private <T> T byAnother(Callable<T> action) throws Exception {
        return soon(other.submit(action));
    }

    private <E extends Throwable> E refusedToAnother(Class<E> type, Runnable action) {
        return refusal(type, other.submit(action));
    }

    // ---- re-entrancy

    @Test
    void bothLocksReenterWithoutAnotherRequest() throws Exception {
        for (Lock lock : List.of(read, write)) {
            lock.lock();
            Wire.Mark before = proxy.mark();
            lock.lockInterruptibly();
            assertTrue(lock.tryLock());
            assertTrue(lock.tryLock(1, TimeUnit.SECONDS));
            assertEquals(0, proxy.since(before).requestsButHeartbeats());
            assertEquals(1, requestsUnder(PATH).size());
            for (int i = 0; i < 3; i++) {
                lock.unlock();
                assertFalse(othersWrite(), "still held after " + (i + 1) + " of 4 unlocks");
            }
            lock.unlock();
            assertTrue(othersWrite());
            assertThrows(IllegalMonitorStateException.class, lock::unlock);
        }
    }

    @Test
    void localReadersShare_withSeparateHolds() throws Exception {
        read.lock();
        boolean shared = byAnother(() -> read.tryLock());
        assertTrue(shared);
        read.unlock();
        assertFalse(othersWrite(), "the other thread still reads");
        assertThrows(IllegalMonitorStateException.class, read::unlock);
        byAnother(() -> {
            read.unlock();
            return null;
        });
        assertTrue(othersWrite());
    }

    @Test
    void writerExcludesOtherThreadsOfItsClient() throws Exception {
        write.lock();
        boolean wrote = byAnother(() -> write.tryLock());
        boolean didRead = byAnother(() -> read.tryLock());
        assertFalse(wrote || didRead);
        write.unlock();
        wrote = byAnother(() -> write.tryLock());
        assertTrue(wrote);
    }

    @Test
    void viewsOfOnePathInOneClientAreTheSameLock() throws Exception {
        write.lock();
        ReadWriteLock view = one.readWriteLock(PATH).asReadWriteLock();
        assertTrue(view.writeLock().tryLock());
        assertTrue(view.readLock().tryLock());
        assertEquals(1, requestsUnder(PATH).size());
        write.unlock();
        write.unlock();
        assertTrue(othersRead(), "the other view's lock is what was downgraded");
        read.unlock();
        assertTrue(othersWrite());
    }

    // ---- from write to read

    @Test
    void unlockingReadFirstLeavesTheWriter() throws Exception {
        write.lock();
        read.lock();
        read.unlock();
        assertThrows(IllegalMonitorStateException.class, read::unlock);
        assertFalse(othersRead());
        write.unlock();
        assertTrue(othersWrite());
    }

    @Test
    void onlyTheLastUnlockOfTheWriterDowngrades() throws Exception {
        write.lock();
        read.lock();
        write.lock();
        read.lock();
        write.unlock();
        assertFalse(othersRead());
        read.unlock();
        assertFalse(othersRead());
        write.unlock();
        assertTrue(othersRead());
        assertFalse(othersWrite());
        read.unlock();
        assertTrue(othersWrite());
    }

    @Test
    void writerLocksTheReadLock_inEveryForm() throws Exception {
        write.lock();
        read.lockInterruptibly();
        assertTrue(read.tryLock());
        assertTrue(read.tryLock(1, TimeUnit.SECONDS));
        assertTrue(read.tryLock(0, TimeUnit.SECONDS));
        assertEquals(1, requestsUnder(PATH).size());
        write.unlock();
        for (int i = 0; i < 4; i++) {
            assertFalse(othersWrite());
            read.unlock();
        }
        assertTrue(othersWrite());
    }

    @Test
    void downgradeWaitsForTheConnection() throws Exception {
        write.lock();
        read.lock();
        proxy.cut();
        write.unlock();
        assertTrue(othersRead());
        assertFalse(othersWrite());
        read.unlock();
        assertTrue(othersWrite());
    }

    // ---- from read to write

    @Test
    void readerIsRefusedTheWriteLock_inEveryForm() throws Exception {
        read.lock();
        List<Executable> forms = List.of(
                write::lock,
                write::lockInterruptibly,
                write::tryLock,
                () -> write.tryLock(5, TimeUnit.SECONDS),
                () -> write.tryLock(0, TimeUnit.SECONDS));
        for (Executable form : forms) {
            Wire.Mark before = proxy.mark();
            Stopwatch watch = Stopwatch.start();
            IllegalStateException refused = assertThrows(IllegalStateException.class, form);
            long took = watch.stop();
            assertNotNull(refused.getMessage());
            assertTrue(refused.getMessage().contains(PATH), refused.getMessage());
            assertTrue(took < 1000, took + " ms");
            assertEquals(0, proxy.since(before).requestsButHeartbeats());
            assertThrows(IllegalMonitorStateException.class, write::unlock);
        }
        assertFalse(othersWrite(), "the read lock stays held");
        assertTrue(othersRead());
        read.unlock();
        write.lock();
        write.unlock();
        assertTrue(othersWrite());
    }

    @Test
    void writerIsAReader_afterADowngrade() throws Exception {
        write.lock();
        read.lock();
        write.unlock();
        assertThrows(IllegalStateException.class, write::lock);
        assertThrows(IllegalStateException.class, write::tryLock);
        assertThrows(IllegalMonitorStateException.class, write::unlock);
        read.lock();
        read.unlock();
        assertFalse(othersWrite());
        read.unlock();
        assertTrue(write.tryLock());
        write.unlock();
    }

    @Test
    void writeLockIsNotRefused_whenAnotherThreadReads() throws Exception {
        byAnother(() -> {
            read.lock();
            return null;
        });
        assertFalse(write.tryLock());
        assertFalse(write.tryLock(50, TimeUnit.MILLISECONDS));
        byAnother(() -> {
            read.unlock();
            return null;
        });
        assertTrue(write.tryLock());
        write.unlock();
    }

    // ---- as every view

    @Test
    void onlyTheHolderMayUnlock() throws Exception {
        assertThrows(IllegalMonitorStateException.class, read::unlock);
        assertThrows(IllegalMonitorStateException.class, write::unlock);
        write.lock();
        refusedToAnother(IllegalMonitorStateException.class, write::unlock);
        refusedToAnother(IllegalMonitorStateException.class, read::unlock);
        assertThrows(IllegalMonitorStateException.class, read::unlock);
        write.unlock();
        read.lock();
        refusedToAnother(IllegalMonitorStateException.class, read::unlock);
        assertThrows(IllegalMonitorStateException.class, write::unlock);
        assertFalse(othersWrite());
        read.unlock();
    }

    @Test
    void timedTryTimesOut_andInterruptibleLockIsInterrupted() throws Exception {
        write.lock();
        for (Lock lock : List.of(read, write)) {
            boolean soon = byAnother(() -> lock.tryLock(100, TimeUnit.MILLISECONDS));
            assertFalse(soon);
            boolean ever = byAnother(() -> lock.tryLock(-1, TimeUnit.MILLISECONDS));
            assertFalse(ever);
            CountDownLatch interrupted = new CountDownLatch(1);
            Thread waiter = new Thread(() -> {
                try {
                    lock.lockInterruptibly();
                } catch (InterruptedException expected) {
                    interrupted.countDown();
                }
            });
            waiter.start();
            awaitRequests(PATH, 2);
            waiter.interrupt();
            assertTrue(interrupted.await(5, TimeUnit.SECONDS));
            awaitRequests(PATH, 1);
        }
        write.unlock();
    }

    @Test
    void lockWaitsOn_whenInterrupted() throws Exception {
        write.lock();
        AtomicBoolean flag = new AtomicBoolean();
        CountDownLatch done = new CountDownLatch(1);
        Thread waiter = new Thread(() -> {
            read.lock();
            flag.set(Thread.currentThread().isInterrupted());
            read.unlock();
            done.countDown();
        });
        waiter.start();
        awaitRequests(PATH, 2);
        String node = requestsUnder(PATH).get(1).name();
        waiter.interrupt();
        settle(one.readWriteLock(PATH).readLock());
        assertEquals(node, requestsUnder(PATH).get(1).name(), "keeps its place");
        write.unlock();
        assertTrue(done.await(5, TimeUnit.SECONDS));
        assertTrue(flag.get());
    }

    // ---- loss

    @Test
    void lostView_throwsAtEachUnlockAndCanBeLockedAgain() throws Exception {
        write.lock();
        write.lock();
        read.lock();
        lose();
        for (Executable form : List.<Executable>of(write::lock, read::lock, write::tryLock, read::tryLock)) {
            assertThrows(LockOwnershipLostException.class, form);
        }
        assertThrows(LockOwnershipLostException.class, write::unlock);
        assertThrows(LockOwnershipLostException.class, write::unlock);
        assertThrows(LockOwnershipLostException.class, read::unlock);
        assertThrows(IllegalMonitorStateException.class, read::unlock);
        assertThrows(IllegalMonitorStateException.class, write::unlock);
        write.lock();
        assertDoesNotThrow(write::unlock);
        read.lock();
        assertDoesNotThrow(read::unlock);
        awaitRequests(PATH, 0);
    }

    @Test
    void lossOfADowngradedLock_isReported() throws Exception {
        write.lock();
        read.lock();
        write.unlock();
        lose();
        assertThrows(LockOwnershipLostException.class, read::lock);
        assertThrows(LockOwnershipLostException.class, read::unlock);
        assertThrows(IllegalMonitorStateException.class, read::unlock);
        write.lock();
        write.unlock();
    }

    @Test
    void lossOfAReadersLock_isReported() throws Exception {
        read.lock();
        lose();
        assertThrows(LockOwnershipLostException.class, read::tryLock);
        assertThrows(LockOwnershipLostException.class, read::unlock);
        read.lock();
        read.unlock();
    }

    /** The client may only find out by the downgrade itself. */
    @Test
    void downgradeThrows_whenTheLockWasLost() throws Exception {
        write.lock();
        read.lock();
        deleteRequest(PATH, 0);
        assertThrows(LockOwnershipLostException.class, write::unlock);
        assertThrows(LockOwnershipLostException.class, read::unlock);
        assertThrows(IllegalMonitorStateException.class, read::unlock);
        assertTrue(othersWrite());
        awaitRequests(PATH, 0);
    }

    /** A further level is refused on a lost lease; while it is held, it is given back at once. */
    private void lose() throws Exception {
        boolean reads = requestsUnder(PATH).get(0).name().startsWith("read-");
        Lock lock = reads ? read : write;
        server().expireSession(proxy.session().orElseThrow());
        awaitUntil("the loss", () -> {
            try {
                lock.lock();
                lock.unlock();
                return false;
            } catch (LockOwnershipLostException lost) {
                return true;
            }
        });
    }

    @Test
    void leaseOfViewIsTheReadLease_whenTheThreadHasDowngraded() {
        ReadWriteLock view = one.readWriteLock(PATH).asReadWriteLock();
        view.writeLock().lock();
        Lease write = one.readWriteLock(PATH).leaseOfView().orElseThrow();
        view.readLock().lock();
        view.writeLock().unlock();
        Lease read = one.readWriteLock(PATH).leaseOfView().orElseThrow();
        assertEquals(write.token(), read.token());
        assertFalse(write.isValid());
        assertTrue(read.isValid());
        view.readLock().unlock();
        assertEquals(Optional.empty(), one.readWriteLock(PATH).leaseOfView());
    }

    @Test
    void downgradersAndReadersNeverMeetAWriter() throws Exception {
        ExecutorService crowd = Executors.newFixedThreadPool(8);
        int[] value = {0};
        List<Future<Boolean>> all = new java.util.ArrayList<>();
        for (int i = 0; i < 8; i++) {
            ReadWriteLock view = (i % 2 == 0 ? one : two).readWriteLock(PATH).asReadWriteLock();
            all.add(crowd.submit(() -> {
                boolean steady = true;
                for (int round = 0; round < 25; round++) {
                    view.writeLock().lock();
                    view.readLock().lock();
                    int mine = ++value[0];
                    view.writeLock().unlock();
                    steady &= view.readLock().tryLock() && mine == value[0];
                    view.readLock().unlock();
                    view.readLock().unlock();
                }
                return steady;
            }));
        }
        for (Future<Boolean> done : all) {
            assertTrue(done.get(20, TimeUnit.SECONDS), "another client wrote between downgrade and unlock");
        }
        crowd.shutdown();
        assertEquals(200, value[0]);
        awaitNothingLeft(PATH);
    }
}
