// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockOwnershipLostException;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.contract.LockFixture.Feature;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/** The guarantees of the views of a mutex ({@link Mutex#asLock}). {@link MutexContract} has them too. */
@SuppressWarnings("LockNotBeforeTry") // the views are what is tested; a test that fails gives up its clients
abstract class MutexViewContract extends FaultyAcquiringContract {
    private Lock view(LockClient client) {
        return client.mutex(path()).asLock();
    }

    @Guarantee(id = "LK-MUTEX-12", says = "a view shuts out other clients, and leases", needs = Feature.LOCK_VIEWS)
    void view() throws Exception {
        LockClient client = client();
        Lock view = view(client);
        view.lock();
        assertEquals(Optional.empty(), lock(client).tryAcquire());
        assertFalse(view(client()).tryLock());
        assertEquals(Optional.empty(), lock(client()).tryAcquire());
        Lock elsewhere = client.mutex(path("elsewhere")).asLock();
        elsewhere.lock();
        assertFalse(client().mutex(path("elsewhere")).asLock().tryLock());
        elsewhere.unlock();
        view.unlock();
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-MUTEX-13",
            says = "a view is re-entrant, with one request whatever the depth",
            needs = Feature.LOCK_VIEWS)
    void reentry() throws Exception {
        Lock view = view(client());
        Acquirable other = lock(client());
        view.lock();
        view.lockInterruptibly();
        assertTrue(view.tryLock());
        assertTrue(view.tryLock(1, TimeUnit.SECONDS));
        assertEquals(1, other.queue().size());
        for (int depth = 0; depth < 3; depth++) {
            view.unlock();
            assertEquals(Optional.empty(), other.tryAcquire());
        }
        view.unlock();
        assertFree(other);
    }

    @Guarantee(id = "LK-MUTEX-14", says = "two views of a path in one client are one lock", needs = Feature.LOCK_VIEWS)
    void twoViews() throws Exception {
        LockClient client = client();
        view(client).lock();
        Lock other = view(client);
        assertTrue(other.tryLock());
        other.unlock();
        other.unlock();
        assertThrows(IllegalMonitorStateException.class, () -> view(client).unlock());
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-MUTEX-25",
            says = "views of a path with different labels in one client are one lock",
            needs = {Feature.LOCK_VIEWS, Feature.LABELS})
    @SuppressWarnings("LockNotBeforeTry") // the views are what is tested
    void viewsWithLabels() throws Exception {
        LockClient client = client();
        Mutex mutex = client.mutex(path());
        Lock labelled = mutex.labelled("invoice 7").asLock();
        labelled.lock();
        assertTrue(mutex.asLock().tryLock());
        view(client).unlock();
        labelled.unlock();
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-MUTEX-15",
            says = "a view is owned by its thread: another cannot lock or unlock it",
            needs = Feature.LOCK_VIEWS)
    void anotherThread() throws Exception {
        Lock view = view(client());
        view.lock();
        assertFalse(soon(inThread(view::tryLock).result()));
        refused(
                IllegalMonitorStateException.class,
                inThread(() -> {
                            view.unlock();
                            return null;
                        })
                        .result());
        view.unlock();
        assertThrows(IllegalMonitorStateException.class, view::unlock);
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-MUTEX-16",
            says = "a view's timed tryLock out of time is false and leaves nothing",
            needs = Feature.LOCK_VIEWS)
    void viewOutOfTime() throws Exception {
        Lease held = acquired(lock(client()));
        Lock view = view(client());
        assertFalse(view.tryLock(moment().toMillis(), TimeUnit.MILLISECONDS));
        assertFalse(view.tryLock(0, TimeUnit.MILLISECONDS));
        assertThrows(IllegalMonitorStateException.class, view::unlock);
        held.close();
        assertFree(lock(client()));
    }

    /** What a thread finds that asks for a view which is held, and is interrupted. */
    private Caller<Boolean> asking(Lock view) {
        return inThread(() -> {
            view.lock();
            boolean interrupted = Thread.currentThread().isInterrupted();
            view.unlock();
            return interrupted;
        });
    }

    @Guarantee(
            id = "LK-MUTEX-17",
            says = "interruption does not end a view's lock, and is kept",
            needs = Feature.LOCK_VIEWS)
    void uninterruptible() throws Exception {
        Lease held = acquired(lock(client()));
        Acquirable watching = lock(client());
        Caller<Boolean> caller = asking(view(client()));
        awaitQueue(watching, 2);
        caller.thread().interrupt();
        assertWaits(caller.result(), watching);
        held.close();
        assertTrue(soon(caller.result()), "the status is not set");
        assertFree(watching);
    }

    @Guarantee(
            id = "LK-MUTEX-18",
            says = "interruption ends a view's lockInterruptibly, and leaves nothing",
            needs = Feature.LOCK_VIEWS)
    void interruptible() throws Exception {
        Lease held = acquired(lock(client()));
        Acquirable watching = lock(client());
        Lock view = view(client());
        Caller<Void> caller = inThread(() -> {
            view.lockInterruptibly();
            return null;
        });
        awaitQueue(watching, 2);
        caller.thread().interrupt();
        refused(InterruptedException.class, caller.result());
        awaitQueue(watching, 1);
        held.close();
        assertFree(watching);
    }

    @Guarantee(id = "LK-MUTEX-19", says = "a view has no conditions", needs = Feature.LOCK_VIEWS)
    void noConditions() {
        assertThrows(UnsupportedOperationException.class, view(client())::newCondition);
    }

    /** A view locked twice, whose client has heard of the loss. */
    private Lock lost(LockClient client) throws Exception {
        Lock view = view(client);
        view.lock();
        view.lock();
        Lease heard = acquired(client.mutex(path("heard")));
        fixture().expire(client);
        soon(heard.lost());
        return view;
    }

    @Guarantee(
            id = "LK-MUTEX-20",
            says = "the holder of a view whose lease is lost cannot lock it again before it has unlocked it",
            needs = Feature.LOCK_VIEWS)
    void noReentryWhenLost() throws Exception {
        Lock view = lost(client());
        Lease next = acquired(lock(client()));
        assertThrows(LockOwnershipLostException.class, view::lock);
        assertThrows(LockOwnershipLostException.class, view::lockInterruptibly);
        assertThrows(LockOwnershipLostException.class, view::tryLock);
        assertThrows(LockOwnershipLostException.class, () -> view.tryLock(1, TimeUnit.SECONDS));
        assertTrue(next.isValid());
    }

    @Guarantee(
            id = "LK-MUTEX-21",
            says = "each unlock of a view whose lease is lost throws, and after the last one the thread may lock again",
            needs = Feature.LOCK_VIEWS)
    void unlockWhenLost() throws Exception {
        Lock view = lost(client());
        assertThrows(LockOwnershipLostException.class, view::unlock);
        assertThrows(LockOwnershipLostException.class, view::unlock);
        assertThrows(IllegalMonitorStateException.class, view::unlock);
        view.lock();
        view.unlock();
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-MUTEX-22",
            says = "the last unlock of a view says that the lease is lost also where only the release shows it",
            needs = {Feature.LOCK_VIEWS, Feature.OPERATOR, Feature.RELEASE_OUTCOMES})
    void unlockWhenTheReleaseShowsTheLoss() throws Exception {
        // Several times: where a heartbeat finds the loss between the deletion and the unlock, the release shows
        // nothing.
        for (int i = 0; i < 4; i++) {
            Lock view = view(client());
            view.lock();
            fixture().deleteRequest(path(), 0);
            Lease next = acquired(lock(client()));
            assertThrows(LockOwnershipLostException.class, view::unlock);
            assertThrows(IllegalMonitorStateException.class, view::unlock);
            assertTrue(next.isValid());
            next.close();
        }
    }
}
