// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LockOwnershipLostException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The {@link Lock} view of a mutex. */
@Timeout(30)
@SuppressWarnings("LockNotBeforeTry") // What happens without is the very thing under test.
class LockViewTest extends OnOneServer {
    private final ZkLockClient one = client("one");
    private final Lock lock = one.mutex("/m").asLock();
    private final ExecutorService other = Executors.newSingleThreadExecutor();

    @AfterEach
    void endThreads() {
        other.shutdownNow();
    }

    @Test
    void reentersWithOneNodeWhateverTheDepth() throws Exception {
        lock.lock();
        lock.lockInterruptibly();
        assertTrue(lock.tryLock());
        assertTrue(one.mutex("/m").asLock().tryLock(1, TimeUnit.SECONDS), "another view of the same path");
        assertEquals(1, requestsUnder("/m").size());
        for (int i = 0; i < 3; i++) {
            lock.unlock();
            assertFalse(anotherGetsIt(), "still held after " + (i + 1) + " of 4 unlocks");
        }
        one.mutex("/m").asLock().unlock();
        assertTrue(anotherGetsIt());
    }

    @Test
    void onlyTheHolderMayUnlock() throws Exception {
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
        lock.lock();
        ExecutionException refused = assertThrows(
                ExecutionException.class,
                () -> byAnother(() -> {
                    lock.unlock();
                    return null;
                }));
        assertEquals(IllegalMonitorStateException.class, refused.getCause().getClass());
        lock.unlock();
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
    }

    @Test
    void hasNoConditions() {
        assertThrows(UnsupportedOperationException.class, lock::newCondition);
    }

    @Test
    void aTimedTryGivesUpAndAnInterruptibleOneIsInterrupted() throws Exception {
        lock.lock();
        boolean soon = byAnother(() -> lock.tryLock(100, TimeUnit.MILLISECONDS));
        assertFalse(soon);
        boolean ever = byAnother(() -> lock.tryLock(-1, TimeUnit.MILLISECONDS));
        assertFalse(ever);
        Future<?> waiting = other.submit(() -> {
            lock.lockInterruptibly();
            return null;
        });
        awaitQueue(one.mutex("/m"), 2);
        other.shutdownNow();
        ExecutionException ended = assertThrows(ExecutionException.class, () -> soon(waiting));
        assertEquals(InterruptedException.class, ended.getCause().getClass());
        awaitQueue(one.mutex("/m"), 1);
    }

    @Test
    void lockWaitsOnWhenInterruptedAndKeepsTheFlag() throws Exception {
        lock.lock();
        AtomicBoolean flag = new AtomicBoolean();
        List<String> nodesAtLast = new CopyOnWriteArrayList<>();
        CountDownLatch done = new CountDownLatch(1);
        Thread waiter = new Thread(() -> {
            lock.lock();
            flag.set(Thread.currentThread().isInterrupted());
            requestsUnder("/m").forEach(node -> nodesAtLast.add(node.name()));
            lock.unlock();
            done.countDown();
        });
        waiter.start();
        awaitQueue(one.mutex("/m"), 2);
        String node = requestsUnder("/m").get(1).name();
        waiter.interrupt();
        lock.unlock();
        assertTrue(done.await(5, TimeUnit.SECONDS));
        assertTrue(flag.get());
        assertTrue(nodesAtLast.contains(node), "kept its place: " + node + " in " + nodesAtLast);
    }

    @Test
    void afterALossReentryAndUnlockAreRefused() throws Exception {
        lock.lock();
        lock.lock();
        server().expireSession(requestsUnder("/m").get(0).session());
        awaitUntil("the loss", () -> !lockIsValid());

        assertThrows(LockOwnershipLostException.class, lock::lock);
        assertThrows(LockOwnershipLostException.class, lock::tryLock);
        assertThrows(LockOwnershipLostException.class, lock::unlock);
        assertThrows(LockOwnershipLostException.class, lock::unlock);
        assertThrows(IllegalMonitorStateException.class, lock::unlock);

        lock.lock();
        assertDoesNotThrow(lock::unlock);
    }

    @Test
    void unlockTellsTheLoss_whenOnlyTheReleaseShowsIt() throws Exception {
        lock.lock();
        deleteRequest("/m", 0);
        assertThrows(LockOwnershipLostException.class, lock::unlock);
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
    }

    /** A further level is refused on a lost lease; while it is held, it is given back at once. */
    private boolean lockIsValid() {
        try {
            lock.lock();
            lock.unlock();
            return true;
        } catch (LockOwnershipLostException lost) {
            return false;
        }
    }

    private boolean anotherGetsIt() throws Exception {
        return byAnother(() -> lock.tryLock());
    }

    private <T> T byAnother(Callable<T> action) throws Exception {
        return soon(other.submit(action));
    }
}
