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
import org.junit.jupiter.api.function.Executable;

/**
 * The guarantees of {@link Mutex} and {@link StripedMutex}, beside {@link AcquirableContract} and
 * {@link FaultyAcquiringContract}.
 */
public abstract class MutexContract extends MutexViewContract {
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
