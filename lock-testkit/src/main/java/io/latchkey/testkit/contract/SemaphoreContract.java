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
import io.latchkey.lock.LossCause;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.admin.Contender;
import io.latchkey.testkit.contract.LockFixture.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.function.Executable;

/**
 * The guarantees of {@link Semaphore}, beside {@link AcquirableContract} and {@link FaultyAcquiringContract}, which it
 * has with both of two permits as the lock.
 */
// The class is long because each guarantee is a test of its own.
public abstract class SemaphoreContract extends FaultyAcquiringContract {
    /** For subclasses. */
    protected SemaphoreContract() {}

    @Override
    final Acquirable lock(LockClient client) {
        return semaphore(client, 2).permits(2);
    }

    @Override
    final Acquirable blocker(LockClient client) {
        return semaphore(client, 2);
    }

    private Semaphore semaphore(LockClient client, int permits) {
        return client.semaphore(path(), permits);
    }

    @Guarantee(id = "LK-SEM-01", says = "as many permits are granted as there are, and no more")
    void bound() throws Exception {
        LockClient client = client();
        List<Lease> held = new ArrayList<>();
        for (int permit = 0; permit < 3; permit++) {
            held.add(acquired(semaphore(permit == 0 ? client() : client, 3)));
        }
        assertEquals(Optional.empty(), semaphore(client, 3).tryAcquire());
        CompletableFuture<Lease> next = queued(semaphore(client(), 3));
        assertWaits(next, semaphore(client, 3));
        held.get(1).close();
        soon(next).close();
        assertTrue(held.get(0).isValid() && held.get(2).isValid());
    }

    @Guarantee(id = "LK-SEM-02", says = "several permits are granted all or none, with one lease")
    void allOrNone() throws Exception {
        Lease one = acquired(semaphore(client(), 3));
        LockClient other = client();
        assertEquals(Optional.empty(), semaphore(other, 3).permits(3).tryAcquire());
        Lease two = acquired(semaphore(other, 3).permits(2));
        assertEquals(Optional.empty(), semaphore(client(), 3).tryAcquire());
        two.close();
        one.close();
        acquired(semaphore(other, 3).permits(3)).close();
    }

    @Guarantee(id = "LK-SEM-03", says = "requests are granted in their order, though a later one's permits are free")
    void strictOrder() throws Exception {
        Lease held = acquired(semaphore(client(), 3).permits(2));
        LockClient client = client();
        CompletableFuture<Lease> large = queued(semaphore(client, 3).permits(2));
        Semaphore other = semaphore(client(), 3);
        assertEquals(Optional.empty(), other.tryAcquire());
        CompletableFuture<Lease> small = queued(other);
        assertWaits(small, other);
        assertFalse(large.isDone());
        held.close();
        assertTrue(soon(large).isValid() && soon(small).isValid());
    }

    @Guarantee(id = "LK-SEM-04", says = "a permit is given back once")
    void givenBackOnce() throws Exception {
        Lease one = acquired(semaphore(client(), 2));
        Lease two = acquired(semaphore(client(), 2));
        one.close();
        one.close();
        Lease three = acquired(semaphore(client(), 2));
        assertEquals(Optional.empty(), semaphore(client(), 2).tryAcquire());
        assertTrue(two.isValid() && three.isValid());
    }

    @Guarantee(id = "LK-SEM-05", says = "a waiter behind a request that gives up is granted if its permits are free")
    void theLargeGivesUp() throws Exception {
        Lease held = acquired(semaphore(client(), 3).permits(2));
        CompletableFuture<Lease> large = queued(semaphore(client(), 3).permits(2));
        CompletableFuture<Lease> small = queued(semaphore(client(), 3));
        large.cancel(false);
        assertTrue(soon(small).isValid() && held.isValid());
    }

    @Guarantee(id = "LK-SEM-06", says = "all permits of an ended session are free")
    void holderOfSeveralExpires() throws Exception {
        LockClient expiring = client();
        Lease one = acquired(semaphore(expiring, 3));
        Lease two = acquired(semaphore(expiring, 3).permits(2));
        CompletableFuture<Lease> all = queued(semaphore(client(), 3).permits(3));
        assertTrue(one.isValid() && two.isValid());
        fixture().expire(expiring);
        assertTrue(soon(all).isValid());
        soon(one.lost());
        soon(two.lost());
    }

    @Guarantee(id = "LK-SEM-07", says = "the permits that an ended session waited for do not hold others up")
    void largeWaiterExpires() throws Exception {
        Lease held = acquired(semaphore(client(), 3).permits(2));
        LockClient expiring = client();
        CompletableFuture<Lease> large = queued(semaphore(expiring, 3).permits(2));
        CompletableFuture<Lease> small = queued(semaphore(client(), 3));
        fixture().expire(expiring);
        assertTrue(soon(small).isValid() && held.isValid());
        large.cancel(false);
    }

    @Guarantee(id = "LK-SEM-08", says = "two clients that ask for all permits at once are served one after the other")
    void bothAskForAll() throws Exception {
        assertTakeTurns(2, 2, 10, List.of(lock(client()), lock(client())));
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-SEM-09",
            says = "a client that declares another number of permits gets both numbers in the exception")
    void declaredOtherwise() throws Exception {
        Lease held = acquired(semaphore(client(), 2));
        Semaphore other = semaphore(client(), 5);
        LockMismatchException told = assertThrows(LockMismatchException.class, other::tryAcquire);
        assertTrue(told.requested().contains("5"), told.requested());
        assertTrue(told.found().contains("2"), told.found());
        assertTrue(held.isValid());
    }

    @Guarantee(
            id = "LK-SEM-10",
            says = "the capacity is the declared number; on a path that is not used, too",
            needs = Feature.RESIZING)
    void capacity() throws Exception {
        assertEquals(4, semaphore(client(), 4).capacity());
        acquired(semaphore(client(), 4)).close();
        assertEquals(4, semaphore(client(), 4).capacity());
    }

    @Guarantee(id = "LK-SEM-11", says = "available permits are those without a holder", needs = Feature.PERMIT_COUNTS)
    void availablePermits() throws Exception {
        Semaphore semaphore = semaphore(client(), 4);
        assertEquals(4, semaphore.availablePermits());
        Lease three = acquired(semaphore(client(), 4).permits(3));
        assertEquals(1, semaphore.availablePermits());
        CompletableFuture<Lease> waiting = queued(semaphore.permits(2));
        assertEquals(1, semaphore.availablePermits());
        waiting.cancel(false);
        three.close();
        await("all permits are there", () -> semaphore.availablePermits() == 4);
    }

    @Guarantee(id = "LK-SEM-12", says = "a larger capacity admits waiting requests", needs = Feature.RESIZING)
    void larger() throws Exception {
        for (int permits : new int[] {2, 20}) {
            String path = path("with " + permits);
            Lease held = acquired(client().semaphore(path, permits).permits(permits));
            CompletableFuture<Lease> one = queued(client().semaphore(path, permits));
            CompletableFuture<Lease> two =
                    queued(client().semaphore(path, permits).permits(2));
            Semaphore resizing = client().semaphore(path, permits);
            resizing.resize(permits + 1);
            assertTrue(soon(one).isValid());
            assertWaits(two, resizing);
            resizing.resize(permits + 3);
            assertTrue(soon(two).isValid() && held.isValid());
        }
    }

    @Guarantee(
            id = "LK-SEM-13",
            says = "a smaller capacity revokes no permits and admits no request until enough are released",
            needs = {Feature.RESIZING, Feature.PERMIT_COUNTS})
    void smaller() throws Exception {
        Semaphore semaphore = semaphore(client(), 3);
        Lease one = acquired(semaphore);
        Lease two = acquired(semaphore.permits(2));
        semaphore.resize(1);
        assertTrue(one.isValid() && two.isValid());
        assertEquals(0, semaphore.availablePermits());
        Semaphore other = semaphore(client(), 3);
        CompletableFuture<Lease> next = queued(other);
        two.close();
        assertWaits(next, other);
        one.close();
        assertTrue(soon(next).isValid());
        assertEquals(Optional.empty(), semaphore.tryAcquire());
    }

    @Guarantee(
            id = "LK-SEM-14",
            says = "a request that waits for more than a new capacity fails",
            needs = Feature.RESIZING)
    void tooLargeForTheNewCapacity() throws Exception {
        Lease held = acquired(semaphore(client(), 3));
        CompletableFuture<Lease> large = queued(semaphore(client(), 3).permits(3));
        CompletableFuture<Lease> small = queued(semaphore(client(), 3));
        semaphore(client(), 3).resize(2);
        LockMismatchException told = refused(LockMismatchException.class, large);
        assertTrue(told.requested().contains("3"), told.requested());
        assertTrue(told.found().contains("2"), told.found());
        assertTrue(soon(small).isValid() && held.isValid());
    }

    @Guarantee(id = "LK-SEM-15", says = "impossible numbers are refused before anything is sent")
    void badNumbers() throws InterruptedException {
        LockClient client = client();
        assertThrows(IllegalArgumentException.class, () -> semaphore(client, 0));
        assertThrows(IllegalArgumentException.class, () -> semaphore(client, -1));
        Semaphore semaphore = semaphore(client, 3);
        assertThrows(IllegalArgumentException.class, () -> semaphore.permits(0));
        assertThrows(IllegalArgumentException.class, () -> semaphore.permits(-1));
        assertThrows(IllegalArgumentException.class, () -> semaphore.resize(0));
        assertEquals(0, semaphore.queue().size());
    }

    @Guarantee(
            id = "LK-SEM-16",
            says = "a new capacity holds for every client",
            needs = {Feature.RESIZING, Feature.PERMIT_COUNTS})
    void resizedForAll() throws Exception {
        Semaphore semaphore = semaphore(client(), 2);
        Semaphore other = semaphore(client(), 2);
        acquired(semaphore).close();
        other.resize(4);
        assertEquals(4, semaphore.capacity());
        Lease all = acquired(semaphore.permits(4));
        assertEquals(0, other.availablePermits());
        all.close();
        semaphore.resize(1);
        assertEquals(1, other.capacity());
        Lease one = acquired(other);
        assertEquals(Optional.empty(), semaphore(client(), 2).tryAcquire());
        one.close();
    }

    @Guarantee(
            id = "LK-SEM-17",
            says = "the path of a semaphore acquired as another kind of lock is refused",
            needs = Feature.KINDS)
    void otherKinds() throws Exception {
        Lease held = acquired(semaphore(client(), 2));
        LockClient other = client();
        assertThrows(LockMismatchException.class, () -> other.mutex(path()).tryAcquire());
        assertThrows(
                LockMismatchException.class,
                () -> other.readWriteLock(path()).readLock().tryAcquire());
        assertTrue(held.isValid());
    }

    @Guarantee(
            id = "LK-SEM-18",
            says = "the queue shows the permits of each contender",
            needs = Feature.CONTENDER_DETAILS)
    void permitsInTheQueue() throws Exception {
        Semaphore semaphore = semaphore(client(), 3);
        Lease held = acquired(semaphore.permits(2));
        CompletableFuture<Lease> waiting = queued(semaphore.permits(3));
        assertEquals(2, semaphore.queue().get(0).permits());
        assertEquals(3, semaphore.queue().get(1).permits());
        assertTrue(held.isValid() && !waiting.isDone());
    }

    @Guarantee(id = "LK-SEM-19", says = "of many threads in several clients no more hold than there are permits")
    void crowd() throws Exception {
        assertTakeTurns(3, 1, 5, nine(client -> semaphore(client, 3)));
        acquired(semaphore(client(), 3).permits(3)).close();
    }

    @Guarantee(id = "LK-SEM-20", says = "no permit is lost to requests that were interrupted or ran out of time")
    void givingUp() throws Exception {
        Lease held = acquired(semaphore(client(), 2));
        LockClient client = client();
        for (int turn = 0; turn < 3; turn++) {
            assertEquals(Optional.empty(), lock(client).tryAcquire(moment().dividedBy(4)));
            Caller<Lease> caller = queuedInThread(lock(client));
            caller.thread().interrupt();
            refused(InterruptedException.class, caller.result());
            acquired(semaphore(client, 2)).close();
        }
        held.close();
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-SEM-21",
            says = "no permit is lost to requests whose answers were lost",
            needs = Feature.WIRE_FAULTS)
    void answersLost() throws Exception {
        LockClient client = client();
        acquired(semaphore(client, 2)).close();
        CompletableFuture<?> lost = fixture().loseAnswerOfNextCreate(client);
        Lease one = acquired(semaphore(client, 2));
        soon(lost);
        Lease two = acquired(semaphore(client(), 2));
        assertTrue(one.isValid() && two.isValid());
        one.close();
        two.close();
        assertFree(lock(client()));
    }

    @Guarantee(id = "LK-SEM-22", says = "a bad path is refused by the method that gets it", needs = Feature.PATH_RULES)
    void badPath() {
        LockClient client = client();
        assertThrows(BadPathException.class, () -> client.semaphore("a", 1));
    }

    @Guarantee(id = "LK-SEM-23", says = "a closed client's permits are free")
    void holderCloses() throws Exception {
        LockClient closing = client();
        Lease held = acquired(semaphore(closing, 3).permits(2));
        CompletableFuture<Lease> next = queued(semaphore(client(), 3).permits(2));
        assertTrue(held.isValid());
        closing.close();
        assertTrue(soon(next).isValid());
    }

    @Guarantee(
            id = "LK-SEM-24",
            says = "a capacity is changed without waiting, and a closed client says so by the future",
            needs = {Feature.RESIZING, Feature.ASYNC_QUESTIONS})
    void resizeAsync() throws Exception {
        LockClient client = client();
        Semaphore semaphore = semaphore(client, 2);
        Object unused = soon(semaphore.resizeAsync(3));
        assertEquals(3, semaphore(client(), 2).capacity());
        Lease all = acquired(semaphore(client(), 2).permits(3));
        assertThrows(IllegalArgumentException.class, () -> semaphore.resizeAsync(0));
        client.close();
        ClientClosedException unused2 = refused(ClientClosedException.class, semaphore.resizeAsync(4));
        assertTrue(all.isValid());
    }

    @Guarantee(
            id = "LK-SEM-25",
            says = "a semaphore with a label and a limit has both for several permits as well",
            needs = {Feature.LABELS, Feature.LIMITS, Feature.CONTENDER_DETAILS})
    void labelledAndLimited() throws Exception {
        Semaphore semaphore = semaphore(client(), 2);
        Semaphore lasting = semaphore.labelled("invoice 7").heldAtMost(Duration.ofHours(1));
        Lease labelled = acquired(lasting.permits(2));
        assertEquals("invoice 7", semaphore.queue().get(0).owner().label());
        labelled.close();
        Semaphore brief = semaphore.heldAtMost(moment()).labelled("invoice 7");
        Lease limited = acquired(brief.permits(2));
        assertEquals(LossCause.HELD_TOO_LONG, soon(limited.lost()));
        assertFree(lock(client()));
    }

    @Guarantee(
            id = "LK-SEM-26",
            says = "the queue shows the token and the label of each holder, whichever waited",
            needs = {Feature.TOKENS, Feature.LABELS, Feature.CONTENDER_DETAILS})
    void holdersThatWaited() throws Exception {
        for (int permits : new int[] {2, 20}) {
            String path = path("with " + permits);
            Semaphore semaphore = client().semaphore(path, permits);
            Lease all = acquired(semaphore.permits(permits));
            CompletableFuture<Lease> one =
                    queued(client().semaphore(path, permits).labelled("invoice 7"));
            CompletableFuture<Lease> two = queued(client().semaphore(path, permits));
            all.close();
            List<Long> tokens = List.of(soon(one).token(), soon(two).token());
            List<Contender> queue = semaphore.queue();
            assertEquals(tokens, queue.stream().map(Contender::token).toList());
            assertEquals("invoice 7", queue.get(0).owner().label());
            soon(one).close();
            soon(two).close();
        }
    }

    @Guarantee(
            id = "LK-SEM-27",
            says = "a question by an interrupted thread throws, clears the status, and changes no capacity",
            needs = Feature.RESIZING)
    void interruptedQuestions() throws Exception {
        Semaphore semaphore = semaphore(client(), 2);
        for (Executable question :
                List.<Executable>of(semaphore::capacity, semaphore::availablePermits, () -> semaphore.resize(3))) {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, question);
            assertFalse(Thread.interrupted(), "the status is still set");
        }
        assertEquals(2, semaphore.capacity());
    }
}
