// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockOwnershipLostException;
import io.latchkey.testkit.proxy.FaultProxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
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

    ReadWriteViewTest() throws InterruptedException {}

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

    // ---- re-entrancy

    @Test
    void viewsOfOnePathInOneClientAreTheSameLock() throws Exception {
        write.lock();
        ReadWriteLock view = one.readWriteLock(PATH).asReadWriteLock();
        assertTrue(view.writeLock().tryLock());
        ReadWriteLock labelled = one.readWriteLock(PATH)
                .labelled("invoice 7")
                .heldAtMost(Duration.ofHours(1))
                .asReadWriteLock();
        assertTrue(labelled.readLock().tryLock());
        assertEquals(1, requestsUnder(PATH).size());
        write.unlock();
        write.unlock();
        assertTrue(othersRead(), "the other view's lock is what was downgraded");
        read.unlock();
        assertTrue(othersWrite());
    }

    // ---- from write to read

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

    // ---- loss

    @Test
    void lostView_throwsAtEachUnlockAndCanBeLockedAgain() throws Exception {
        write.lock();
        write.lock();
        read.lock();
        lose();
        for (Executable form : List.<Executable>of(
                write::lock, read::lock, write::tryLock, read::tryLock, write::unlock, write::unlock, read::unlock)) {
            LockOwnershipLostException told = assertThrows(LockOwnershipLostException.class, form);
            assertTrue(
                    told.getMessage().matches(".* \\((SESSION_EXPIRED|DEADLINE_PASSED)\\) before .*"),
                    told.getMessage());
        }
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
        assertThrows(LockOwnershipLostException.class, write::lock, "it learns of the loss first");
        assertThrows(LockOwnershipLostException.class, read::unlock);
        assertThrows(IllegalMonitorStateException.class, read::unlock);
        write.lock();
        write.unlock();
    }

    /** The client may only find out by the downgrade itself. */
    @Test
    void downgradeThrows_whenTheLockWasLost() throws Exception {
        write.lock();
        read.lock();
        deleteRequest(PATH, 0);
        for (Executable form : List.<Executable>of(write::unlock, read::unlock)) {
            LockOwnershipLostException told = assertThrows(LockOwnershipLostException.class, form);
            assertTrue(told.getMessage().contains(" (NODE_DELETED"), told.getMessage());
        }
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
}
