// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.BadPathException;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockOwnershipLostException;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.StripedMutex;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.lock.admin.LockSummary;
import io.latchkey.testkit.contract.LockFixture.Feature;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.function.Executable;

/**
 * The guarantees of {@link Mutex} and {@link StripedMutex}, beside {@link AcquirableContract} and
 * {@link FaultyAcquiringContract}.
 */
// The class is long because each guarantee is a test of its own, and the views of a mutex have theirs here as well.
@SuppressWarnings("LockNotBeforeTry") // the views are what is tested; a test that fails gives up its clients
public abstract class MutexContract extends FaultyAcquiringContract {
    /** For subclasses. */
    protected MutexContract() {}

    @Override
    Acquirable lock(LockClient client) {
        return client.mutex(path());
    }

    @Override
    final Acquirable blocker(LockClient client) {
        return lock(client);
    }

    @Guarantee(
            id = "LK-MUTEX-01",
            says = "tokens are positive and grow with each grant, to any client",
            needs = Feature.TOKENS)
    void tokens() throws Exception {
        List<LockClient> clients = List.of(client(), client());
        long last = 0;
        for (int turn = 0; turn < 6; turn++) {
            try (Lease lease = acquired(lock(clients.get(turn % 2)))) {
                assertTrue(lease.token() > last, lease.token() + " after " + last);
                last = lease.token();
            }
        }
    }

    @Guarantee(
            id = "LK-MUTEX-02",
            says = "the next holder's token is higher also when the former one's session has ended",
            needs = Feature.TOKENS)
    void tokensOverExpiry() throws Exception {
        LockClient expiring = client();
        Lease held = acquired(lock(expiring));
        fixture().expire(expiring);
        Lease next = acquired(lock(client()));
        assertTrue(next.token() > held.token());
        next.close();
        assertTrue(acquired(lock(expiring)).token() > next.token());
    }

    @Guarantee(
            id = "LK-MUTEX-03",
            says = "a store that checks tokens refuses a former holder that does not know of its loss",
            needs = Feature.TOKENS)
    void fencing() throws Exception {
        boolean isValid = false;
        // Where the first answers are slow, a lease may have no time left when the next is granted.
        for (int holder = 0; holder < 3 && !isValid; holder++) {
            LockClient expiring = client();
            Lease zombie = acquired(lock(expiring));
            fixture().cutOff(expiring); // so that it cannot hear
            fixture().expire(expiring);
            Lease next = acquired(lock(client()));
            isValid = zombie.isValid();
            long highestSeen = next.token();
            assertTrue(zombie.token() < highestSeen);
            next.close();
        }
        assertTrue(isValid, "no former holder found its lease valid when the next was granted");
    }

    @Guarantee(
            id = "LK-MUTEX-04",
            says = "the queue tells each contender's token, access and permits, and since when",
            needs = {Feature.TOKENS, Feature.CONTENDER_DETAILS})
    void contenders() throws Exception {
        Acquirable lock = lock(client());
        Lease held = acquired(lock);
        CompletableFuture<Lease> next = queued(lock);
        List<Contender> queue = lock.queue();
        assertEquals(held.token(), queue.get(0).token());
        held.close();
        assertEquals(soon(next).token(), queue.get(1).token());
        assertTrue(queue.stream().allMatch(contender -> contender.permits() == 1));
        assertTrue(queue.stream().allMatch(contender -> contender.access() == Contender.Access.EXCLUSIVE));
        assertFalse(queue.get(0).requestedAt().isAfter(queue.get(1).requestedAt()));
        assertTrue(queue.stream()
                .allMatch(contender ->
                        contender.owner().processId() == ProcessHandle.current().pid()));
    }

    @Guarantee(id = "LK-MUTEX-05", says = "mutexes at different paths do not shut each other out")
    void paths() throws Exception {
        LockClient client = client();
        Lease held = acquired(client.mutex(path()));
        acquired(client.mutex(path("other"))).close();
        acquired(client().mutex(path("third"))).close();
        acquired(client().mutex(path() + "/below")).close();
        assertTrue(held.isValid());
    }

    @Guarantee(
            id = "LK-MUTEX-06",
            says = "a bad path is refused by the method that gets it",
            needs = Feature.PATH_RULES)
    void badPaths() {
        LockClient client = client();
        for (String bad :
                List.of("", "/", "a", "/a/", "/a//b", "/./a", "/a/..", "/a\u0000", "/zookeeper/a", "/\ud800")) {
            assertThrows(BadPathException.class, () -> client.mutex(bad), bad);
        }
    }

    @Guarantee(
            id = "LK-MUTEX-07",
            says = "a mutex's path acquired as another kind of lock is refused, and stays usable",
            needs = {Feature.KINDS, Feature.READ_WRITE_LOCKS, Feature.SEMAPHORES})
    void otherKinds() throws Exception {
        LockClient client = client();
        Lease held = acquired(lock(client));
        LockClient other = client();
        assertThrows(
                LockMismatchException.class,
                () -> other.readWriteLock(path()).readLock().acquire());
        assertThrows(
                LockMismatchException.class, () -> other.semaphore(path(), 2).tryAcquire());
        refused(
                LockMismatchException.class,
                other.readWriteLock(path()).writeLock().acquireAsync());
        assertTrue(held.isValid());
        held.close();
        assertFree(lock(other));
    }

    @Guarantee(
            id = "LK-MUTEX-08",
            says = "a key picks the same of a striped mutex's mutexes on every client",
            needs = Feature.STRIPED_MUTEXES)
    void stripes() throws Exception {
        StripedMutex one = client().stripedMutex(path(), 8);
        StripedMutex other = client().stripedMutex(path(), 8);
        assertEquals(8, one.stripes());
        for (Object key : List.of("order-17", 42, 42L, 'x')) {
            try (Lease held = acquired(one.forKey(key))) {
                assertEquals(Optional.empty(), other.forKey(key).tryAcquire());
                assertEquals(Optional.empty(), other.forKey(String.valueOf(key)).tryAcquire());
                assertTrue(held.path().startsWith(path() + "/"), held.path());
            }
        }
    }

    @Guarantee(
            id = "LK-MUTEX-09",
            says = "keys of a striped mutex spread over all its mutexes",
            needs = Feature.STRIPED_MUTEXES)
    void spread() throws Exception {
        StripedMutex striped = client().stripedMutex(path(), 4);
        List<Lease> held = new ArrayList<>();
        for (int key = 0; key < 200 && held.size() < 4; key++) {
            striped.forKey("key-" + key).tryAcquire().ifPresent(held::add);
        }
        assertEquals(4, held.stream().map(Lease::path).distinct().count());
    }

    @Guarantee(
            id = "LK-MUTEX-10",
            says = "a striped mutex without stripes or with a bad path is refused",
            needs = {Feature.STRIPED_MUTEXES, Feature.PATH_RULES})
    void badStripes() {
        LockClient client = client();
        assertThrows(IllegalArgumentException.class, () -> client.stripedMutex(path(), 0));
        assertThrows(IllegalArgumentException.class, () -> client.stripedMutex(path(), -1));
        assertThrows(BadPathException.class, () -> client.stripedMutex("relative", 1));
    }

    @Guarantee(id = "LK-MUTEX-11", says = "of many threads in several clients one holds at a time, and tokens grow")
    void crowd() throws Exception {
        assertTakeTurns(1, 1, 15, nine(this::lock));
        assertFree(lock(client()));
    }

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

    @Guarantee(
            id = "LK-MUTEX-23",
            says = "the locks at and below a path are listed, each with its holders and waiters in order",
            needs = {Feature.LISTINGS, Feature.CONTENDER_DETAILS})
    void listing() throws Exception {
        LockClient client = client();
        String upper = path() + "/b";
        String lower = path() + "/a/deep";
        assertEquals(List.of(), client.listLocks(path()).locks());
        Lease one = acquired(client.mutex(upper));
        Lease two = acquired(client.mutex(lower));
        CompletableFuture<Lease> waiting = queued(client().mutex(upper));
        LockClient other = client();
        for (LockListing seen : List.of(other.listLocks(path()), soon(other.listLocksAsync(path())))) {
            assertTrue(seen.isComplete(), seen::toString);
            assertEquals(
                    List.of(lower, upper),
                    seen.locks().stream().map(LockSummary::path).toList());
            for (LockSummary lock : seen.locks()) {
                assertEquals(LockSummary.Kind.MUTEX, lock.kind());
                assertEquals(OptionalInt.of(1), lock.capacity());
                assertEquals(1, lock.holders());
                assertEquals(lock.path().equals(upper) ? 1 : 0, lock.waiters());
            }
            assertEquals(one.token(), seen.locks().get(1).queue().get(0).token());
            assertEquals(two.token(), seen.locks().get(0).queue().get(0).token());
        }
        assertEquals(1, other.listLocks(lower).locks().size());
        one.close();
        soon(waiting).close();
        two.close();
    }

    @Guarantee(
            id = "LK-MUTEX-24",
            says = "a bad path is refused by the listing that gets it, and a closed client lists nothing",
            needs = {Feature.LISTINGS, Feature.PATH_RULES})
    void badListing() throws Exception {
        LockClient client = client();
        assertThrows(BadPathException.class, () -> client.listLocks("no/slash"));
        assertThrows(BadPathException.class, () -> client.listLocksAsync(path() + "/"));
        client.close();
        assertThrows(ClientClosedException.class, () -> client.listLocks(path()));
        ClientClosedException unused = refused(ClientClosedException.class, client.listLocksAsync(path()));
    }

    @Guarantee(
            id = "LK-MUTEX-26",
            says = "a question by an interrupted thread throws, clears the status, and changes nothing",
            needs = {Feature.ADMINISTRATION, Feature.LISTINGS})
    void interruptedQuestions() throws Exception {
        LockClient client = client();
        Lease held = acquired(lock(client));
        Contender holder = lock(client()).queue().get(0);
        for (Executable question : List.<Executable>of(
                lock(client)::queue,
                holder::requestRelease,
                holder::evict,
                () -> client.listLocks(path()),
                () -> client.listLocksAt(path()))) {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, question);
            assertFalse(Thread.interrupted(), "the status is still set");
        }
        assertEquals(1, lock(client).queue().size());
        assertTrue(held.isValid());
    }
}
