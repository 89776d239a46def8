// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.BadPathException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LockOwnershipLostException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.Contender.Access;
import io.latchkey.testkit.contract.LockFixture.Feature;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/**
 * The guarantees of {@link ReadWriteLock}, beside {@link AcquirableContract} and {@link FaultyAcquiringContract}, which
 * it has with the write lock as the lock.
 */
// The class is long because each guarantee is a test of its own, and readers, writers and downgrades meet in most.
@SuppressWarnings("LockNotBeforeTry") // the views are what is tested; a test that fails gives up its clients
public abstract class ReadWriteLockContract extends FaultyAcquiringContract {
    /** For subclasses. */
    protected ReadWriteLockContract() {}

    @Override
    final Acquirable lock(LockClient client) {
        return write(client);
    }

    @Override
    final Acquirable blocker(LockClient client) {
        return read(client);
    }

    private Acquirable write(LockClient client) {
        return client.readWriteLock(path()).writeLock();
    }

    private Acquirable read(LockClient client) {
        return client.readWriteLock(path()).readLock();
    }

    @Guarantee(id = "LK-RW-01", says = "readers hold side by side, of one client and of several")
    void readersShare() throws Exception {
        LockClient client = client();
        Lease one = acquired(read(client));
        Lease two = acquired(read(client));
        Lease three = acquired(read(client()));
        assertTrue(one.isValid() && two.isValid() && three.isValid());
        one.close();
        assertTrue(two.isValid());
        assertEquals(Optional.empty(), write(client()).tryAcquire());
    }

    @Guarantee(id = "LK-RW-02", says = "a writer waits for every reader")
    void writerWaits() throws Exception {
        Lease one = acquired(read(client()));
        Lease two = acquired(read(client()));
        Acquirable write = write(client());
        CompletableFuture<Lease> writer = queued(write);
        assertWaits(writer, write);
        one.close();
        assertWaits(writer, write);
        two.close();
        soon(writer).close();
    }

    @Guarantee(id = "LK-RW-03", says = "readers wait for the writer, and come in together")
    void readersWait() throws Exception {
        Lease writer = acquired(write(client()));
        Acquirable read = read(client());
        CompletableFuture<Lease> one = queued(read);
        CompletableFuture<Lease> two = queued(read(client()));
        assertWaits(one, read);
        assertWaits(two, read);
        writer.close();
        assertTrue(soon(one).isValid() && soon(two).isValid());
        assertTrue(soon(one).isValid());
    }

    @Guarantee(id = "LK-RW-04", says = "a reader that comes after a waiting writer waits for it")
    void noOvertaking() throws Exception {
        Lease reader = acquired(read(client()));
        CompletableFuture<Lease> writer = queued(write(client()));
        Acquirable read = read(client());
        assertEquals(Optional.empty(), read.tryAcquire());
        CompletableFuture<Lease> behind = queued(read);
        assertWaits(behind, read);
        reader.close();
        Lease written = soon(writer);
        assertWaits(behind, read);
        written.close();
        soon(behind).close();
    }

    @Guarantee(id = "LK-RW-05", says = "readers and writers are served in the order in which they came")
    void servedInOrder() throws Exception {
        LockClient one = client();
        LockClient two = client();
        Lease first = acquired(write(client()));
        CompletableFuture<Lease> reader = queued(read(one));
        CompletableFuture<Lease> writer = queued(write(two));
        CompletableFuture<Lease> last = queued(read(one));
        first.close();
        Lease reading = soon(reader);
        assertWaits(writer, write(two));
        assertWaits(last, read(one));
        reading.close();
        Lease writing = soon(writer);
        assertWaits(last, read(one));
        writing.close();
        soon(last).close();
    }

    @Guarantee(id = "LK-RW-06", says = "readers behind a writer that gives up come in")
    void writerGivesUp() throws Exception {
        Lease reader = acquired(read(client()));
        CompletableFuture<Lease> writer = queued(write(client()));
        CompletableFuture<Lease> one = queued(read(client()));
        CompletableFuture<Lease> two = queued(read(client()));
        writer.cancel(false);
        assertTrue(soon(one).isValid() && soon(two).isValid());
        assertTrue(reader.isValid());
    }

    @Guarantee(id = "LK-RW-07", says = "readers behind a waiting writer whose session ends come in")
    void writerExpires() throws Exception {
        Lease reader = acquired(read(client()));
        LockClient expiring = client();
        CompletableFuture<Lease> writer = queued(write(expiring));
        CompletableFuture<Lease> behind = queued(read(client()));
        assertFalse(writer.isDone());
        fixture().expire(expiring);
        assertTrue(soon(behind).isValid());
        assertTrue(reader.isValid());
        writer.cancel(false);
    }

    @Guarantee(id = "LK-RW-08", says = "a writer comes in when the session of the last reader has ended")
    void readerExpires() throws Exception {
        LockClient expiring = client();
        Lease reader = acquired(read(expiring));
        CompletableFuture<Lease> writer = queued(write(client()));
        assertTrue(reader.isValid());
        fixture().expire(expiring);
        soon(writer).close();
    }

    @Guarantee(id = "LK-RW-09", says = "a read lock that is held is no write lock, for the same client neither")
    void noUpgrade() throws Exception {
        LockClient client = client();
        Lease reader = acquired(read(client));
        assertEquals(Optional.empty(), write(client).tryAcquire());
        reader.close();
        Lease writer = acquired(write(client));
        assertEquals(Optional.empty(), read(client).tryAcquire());
        writer.close();
    }

    @Guarantee(id = "LK-RW-10", says = "the queue shows the readers that hold, and the writer that waits")
    void standings() throws Exception {
        Acquirable read = read(client());
        Lease unused = acquired(read);
        Lease other = acquired(read(client()));
        CompletableFuture<Lease> writer = queued(write(client()));
        assertEquals(
                List.of("HOLDING", "HOLDING", "WAITING"),
                read.queue().stream().map(contender -> contender.state().name()).toList());
        assertEquals(
                List.of(Access.SHARED, Access.SHARED, Access.EXCLUSIVE),
                write(client()).queue().stream().map(Contender::access).toList());
        assertTrue(unused.isValid() && other.isValid() && !writer.isDone());
    }

    @Guarantee(id = "LK-RW-11", says = "tokens of writers grow", needs = Feature.TOKENS)
    void tokens() throws Exception {
        LockClient client = client();
        Lease first = acquired(write(client));
        first.close();
        Lease reader = acquired(read(client));
        assertTrue(reader.token() > first.token());
        reader.close();
        assertTrue(acquired(write(client())).token() > reader.token());
    }

    @Guarantee(
            id = "LK-RW-12",
            says = "the path of a read-write lock acquired as another kind of lock is refused",
            needs = Feature.KINDS)
    void otherKinds() throws Exception {
        Lease reader = acquired(read(client()));
        LockClient other = client();
        LockMismatchException told = assertThrows(
                LockMismatchException.class, () -> other.mutex(path()).acquire());
        assertFalse(told.requested().equals(told.found()));
        assertTrue(reader.isValid());
        acquired(read(other)).close();
    }

    @Guarantee(id = "LK-RW-13", says = "a bad path is refused by the method that gets it", needs = Feature.PATH_RULES)
    void badPath() {
        LockClient client = client();
        assertThrows(BadPathException.class, () -> client.readWriteLock("a"));
        assertThrows(BadPathException.class, () -> client.readWriteLock("/a/../b"));
    }

    @Guarantee(
            id = "LK-RW-14",
            says = "a downgrade ends the write lease and gives a read lease with its token",
            needs = {Feature.DOWNGRADES, Feature.TOKENS})
    void downgrade() throws Exception {
        LockClient client = client();
        Lease write = acquired(write(client));
        Lease read = client.readWriteLock(path()).downgrade(write);
        assertEquals(LeaseState.RELEASED, write.state());
        assertEquals(LeaseState.HELD, read.state());
        assertEquals(write.token(), read.token());
        assertEquals(path(), read.path());
        acquired(read(client())).close();
        read.close();
        assertFree(write(client()));
    }

    @Guarantee(
            id = "LK-RW-27",
            says = "a downgraded lease keeps the limit of its write lease",
            needs = {Feature.DOWNGRADES, Feature.LIMITS})
    void limitOfADowngradedLease() throws Exception {
        LockClient client = client();
        // Long enough for the downgrade to be answered, with other tests beside it.
        Lease write = acquired(write(client).heldAtMost(moment().multipliedBy(5)));
        Lease read = client.readWriteLock(path()).downgrade(write);
        assertEquals(LossCause.HELD_TOO_LONG, soon(read.lost()));
        assertEquals(LeaseState.RELEASED, write.state());
        assertFree(write(client()));
    }

    @Guarantee(
            id = "LK-RW-30",
            says = "a read-write lock with a label and a limit has both for readers, for writers and in its views",
            needs = {Feature.LABELS, Feature.LIMITS, Feature.CONTENDER_DETAILS, Feature.LOCK_VIEWS})
    @SuppressWarnings("LockNotBeforeTry") // the views are what is tested
    void labelledAndLimited() throws Exception {
        LockClient client = client();
        ReadWriteLock lasting =
                client.readWriteLock(path()).labelled("invoice 7").heldAtMost(Duration.ofHours(1));
        ReadWriteLock brief = client.readWriteLock(path()).heldAtMost(moment()).labelled("invoice 7");
        for (boolean writes : new boolean[] {false, true}) {
            Lease labelled = acquired(writes ? lasting.writeLock() : lasting.readLock());
            assertEquals("invoice 7", labelOfHolder());
            labelled.close();
            Lease limited = acquired(writes ? brief.writeLock() : brief.readLock());
            assertEquals(LossCause.HELD_TOO_LONG, soon(limited.lost()));

            Lock lastingView = view(lasting, writes);
            lastingView.lock();
            assertEquals("invoice 7", labelOfHolder());
            lastingView.unlock();
            Lock briefView = view(brief, writes);
            briefView.lock();
            Lease ofView = brief.leaseOfView().orElseThrow();
            assertTrue(ofView.remaining().compareTo(moment()) <= 0);
            assertEquals(LossCause.HELD_TOO_LONG, soon(ofView.lost()));
            assertThrows(LockOwnershipLostException.class, briefView::unlock);
        }
        assertFree(write(client()));
        assertThrows(IllegalArgumentException.class, () -> lasting.labelled("two\nlines"));
        assertThrows(IllegalArgumentException.class, () -> lasting.heldAtMost(Duration.ZERO));
    }

    private static Lock view(ReadWriteLock lock, boolean writes) {
        var view = lock.asReadWriteLock();
        return writes ? view.writeLock() : view.readLock();
    }

    private String labelOfHolder() throws InterruptedException {
        return read(client()).queue().get(0).owner().label();
    }

    @Guarantee(
            id = "LK-RW-28",
            says = "a write lease is downgraded while its client waits for holders to close",
            needs = {Feature.DOWNGRADES, Feature.GRACE})
    void downgradeWhileClosing() throws Exception {
        LockClient client = client();
        Lease write = acquired(write(client));
        client.close(Duration.ofHours(1)); // called by the holder: does not wait
        Lease read = client.readWriteLock(path()).downgrade(write);
        assertEquals(LeaseState.HELD, read.state());
        acquired(read(client())).close();
        read.close();
        assertFree(write(client()));
    }

    @Guarantee(id = "LK-RW-15", says = "writers that wait stay behind a downgraded lease", needs = Feature.DOWNGRADES)
    void downgradeKeepsWritersOut() throws Exception {
        LockClient client = client();
        Lease write = acquired(write(client));
        Acquirable other = write(client());
        CompletableFuture<Lease> writer = queued(other);
        Lease read = client.readWriteLock(path()).downgrade(write);
        assertWaits(writer, other);
        assertTrue(read.isValid());
        read.close();
        soon(writer).close();
    }

    @Guarantee(id = "LK-RW-16", says = "readers right behind a downgraded lease come in", needs = Feature.DOWNGRADES)
    void downgradeLetsReadersIn() throws Exception {
        LockClient client = client();
        Lease write = acquired(write(client));
        CompletableFuture<Lease> one = queued(read(client()));
        CompletableFuture<Lease> two = queued(read(client()));
        Lease read = client.readWriteLock(path()).downgrade(write);
        assertTrue(soon(one).isValid() && soon(two).isValid() && read.isValid());
    }

    @Guarantee(
            id = "LK-RW-17",
            says = "a lease that is none of this path's write lock, from this client, cannot be downgraded",
            needs = Feature.DOWNGRADES)
    void notToBeDowngraded() throws Exception {
        LockClient client = client();
        ReadWriteLock lock = client.readWriteLock(path());
        Lease reader = acquired(read(client));
        Lease elsewhere = acquired(client.readWriteLock(path("other")).writeLock());
        Lease mutex = acquired(client.mutex(path("mutex")));
        Lease ofAnother = acquired(client().readWriteLock(path("another")).writeLock());
        assertThrows(IllegalArgumentException.class, () -> lock.downgrade(reader));
        assertThrows(IllegalArgumentException.class, () -> lock.downgrade(elsewhere));
        assertThrows(IllegalArgumentException.class, () -> lock.downgrade(mutex));
        assertThrows(IllegalArgumentException.class, () -> client.readWriteLock(path("another"))
                .downgrade(ofAnother));
        assertTrue(reader.isValid() && elsewhere.isValid() && mutex.isValid() && ofAnother.isValid());
    }

    @Guarantee(id = "LK-RW-18", says = "a released lease cannot be downgraded", needs = Feature.DOWNGRADES)
    void releasedBeforeDowngrade() throws Exception {
        LockClient client = client();
        Lease write = acquired(write(client));
        write.close();
        assertThrows(
                IllegalStateException.class, () -> client.readWriteLock(path()).downgrade(write));
        assertFree(write(client()));
    }

    @Guarantee(id = "LK-RW-19", says = "a lost lease cannot be downgraded", needs = Feature.DOWNGRADES)
    void lostBeforeDowngrade() throws Exception {
        LockClient client = client();
        Lease write = acquired(write(client));
        fixture().expire(client);
        Caller<Lease> caller = inThread(() -> client.readWriteLock(path()).downgrade(write));
        refused(LeaseLostException.class, caller.result());
        assertFalse(write.isValid());
        assertFree(write(client()));
    }

    @Guarantee(
            id = "LK-RW-20",
            says = "to release the write lease after its downgrade does nothing",
            needs = Feature.DOWNGRADES)
    void releaseAfterDowngrade() throws Exception {
        LockClient client = client();
        Lease write = acquired(write(client));
        Lease read = client.readWriteLock(path()).downgrade(write);
        assertEquals(ReleaseOutcome.ALREADY_RELEASED, write.release());
        write.close();
        assertTrue(read.isValid());
        assertEquals(Optional.empty(), write(client()).tryAcquire());
    }

    private java.util.concurrent.locks.ReadWriteLock view(LockClient client) {
        return client.readWriteLock(path()).asReadWriteLock();
    }

    @Guarantee(
            id = "LK-RW-21",
            says = "both locks of a view are re-entrant, and exclude conflicting holders",
            needs = Feature.READ_WRITE_VIEWS)
    void views() throws Exception {
        java.util.concurrent.locks.ReadWriteLock view = view(client());
        Acquirable read = read(client());
        Acquirable write = write(client());
        view.readLock().lock();
        assertTrue(view.readLock().tryLock());
        assertEquals(1, read.queue().size());
        assertEquals(Optional.empty(), write.tryAcquire());
        acquired(read).close();
        view.readLock().unlock();
        assertEquals(Optional.empty(), write.tryAcquire());
        view.readLock().unlock();
        view.writeLock().lock();
        view.writeLock().lock();
        assertEquals(Optional.empty(), read.tryAcquire());
        view.writeLock().unlock();
        assertEquals(Optional.empty(), read.tryAcquire());
        view.writeLock().unlock();
        assertFree(write);
    }

    @Guarantee(
            id = "LK-RW-22",
            says =
                    "a thread with a view's write lock may lock its read lock, and keeps it when it unlocks the write lock",
            needs = Feature.READ_WRITE_VIEWS)
    void viewDowngrade() throws Exception {
        java.util.concurrent.locks.ReadWriteLock view = view(client());
        view.writeLock().lock();
        view.readLock().lock();
        assertEquals(Optional.empty(), read(client()).tryAcquire());
        view.writeLock().unlock();
        acquired(read(client())).close();
        assertEquals(Optional.empty(), write(client()).tryAcquire());
        view.readLock().unlock();
        assertFree(write(client()));
    }

    @Guarantee(id = "LK-RW-23", says = "such a downgrade of a view lets no writer in", needs = Feature.READ_WRITE_VIEWS)
    void viewDowngradeKeepsWritersOut() throws Exception {
        java.util.concurrent.locks.ReadWriteLock view = view(client());
        view.writeLock().lock();
        Acquirable other = write(client());
        CompletableFuture<Lease> writer = queued(other);
        view.readLock().lock();
        view.writeLock().unlock();
        assertWaits(writer, other);
        view.readLock().unlock();
        soon(writer).close();
    }

    @Guarantee(
            id = "LK-RW-24",
            says = "a thread that only reads is refused the write lock at once, in every form, and keeps reading",
            needs = Feature.READ_WRITE_VIEWS)
    void viewUpgrade() throws Exception {
        java.util.concurrent.locks.ReadWriteLock view = view(client());
        view.readLock().lock();
        assertThrows(IllegalStateException.class, () -> view.writeLock()
                .tryLock(moment().toMillis(), TimeUnit.MILLISECONDS));
        assertThrows(IllegalStateException.class, () -> view.writeLock().tryLock());
        Caller<Boolean> upgrading = inThread(() -> {
            view.readLock().lock();
            view.writeLock().lock();
            return true;
        });
        refused(IllegalStateException.class, upgrading.result());
        assertEquals(Optional.empty(), write(client()).tryAcquire());
        view.readLock().unlock();
    }

    @Guarantee(
            id = "LK-RW-25",
            says = "a request to read whose answer was lost is granted, and stands in the queue once",
            needs = Feature.WIRE_FAULTS)
    void answerToReaderLost() throws Exception {
        LockClient client = client();
        acquired(read(client)).close();
        CompletableFuture<?> lost = fixture().loseAnswerOfNextCreate(client);
        Lease held = acquired(read(client));
        soon(lost);
        assertEquals(1, read(client).queue().size());
        held.close();
        assertFree(write(client()));
    }

    @Guarantee(id = "LK-RW-26", says = "a view is owned by its thread", needs = Feature.READ_WRITE_VIEWS)
    void viewsOwner() throws Exception {
        java.util.concurrent.locks.ReadWriteLock view = view(client());
        view.readLock().lock();
        for (Lock lock : List.of(view.readLock(), view.writeLock())) {
            Caller<Boolean> other = inThread(() -> {
                lock.unlock();
                return true;
            });
            refused(IllegalMonitorStateException.class, other.result());
        }
        assertEquals(Optional.empty(), write(client()).tryAcquire());
        view.readLock().unlock();
        assertFree(write(client()));
    }

    @Guarantee(
            id = "LK-RW-29",
            says = "a write lease is downgraded without waiting, and an ended one says so by the future",
            needs = {Feature.DOWNGRADES, Feature.ASYNC_QUESTIONS})
    void downgradeAsync() throws Exception {
        LockClient client = client();
        Lease write = acquired(write(client));
        Lease read = soon(client.readWriteLock(path()).downgradeAsync(write));
        assertEquals(LeaseState.RELEASED, write.state());
        assertEquals(LeaseState.HELD, read.state());
        acquired(read(client())).close();
        IllegalStateException unused = refused(
                IllegalStateException.class, client.readWriteLock(path()).downgradeAsync(write));
        assertThrows(IllegalArgumentException.class, () -> client.readWriteLock(path("other"))
                .downgradeAsync(write));
        read.close();
        assertFree(write(client()));
    }

    @Guarantee(
            id = "LK-RW-31",
            says = "the read lease of a downgrade that was cancelled is released",
            needs = {Feature.DOWNGRADES, Feature.ASYNC_QUESTIONS, Feature.WIRE_FAULTS})
    void cancelledDowngrade() throws Exception {
        LockClient client = client();
        Lease write = acquired(write(client));
        try (LockFixture.MessageHold held = fixture().holdAnswersOfCreates(client)) {
            CompletableFuture<Lease> downgrade = client.readWriteLock(path()).downgradeAsync(write);
            soon(held.caught());
            downgrade.cancel(false);
        }
        assertFree(write(client()));
    }
}
