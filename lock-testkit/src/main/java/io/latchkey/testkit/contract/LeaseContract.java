// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.SessionState;
import io.latchkey.lock.SessionStatus;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.Contender.Eviction;
import io.latchkey.lock.admin.Contender.ReleaseRequestResult;
import io.latchkey.testkit.contract.LockFixture.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

/**
 * The guarantees of {@link Lease}, tested with a mutex: of the lease itself, of a call's body, of a limit, and of a
 * client that closes with a grace.
 */
// The class is long because each guarantee is a test of its own, and an implementation gives them all.
public abstract class LeaseContract extends BodyContract {
    /** For subclasses. */
    protected LeaseContract() {}

    @Guarantee(
            id = "LK-LEASE-01",
            says = "a lease that was granted is held and valid, and has the path that was asked for")
    void granted() throws Exception {
        Lease lease = acquired(mutex(client()));
        assertEquals(LeaseState.HELD, lease.state());
        assertTrue(lease.isValid());
        assertEquals(path(), lease.path());
        assertFalse(lease.lost().toCompletableFuture().isDone());
        lease.ensureValid();
    }

    @Guarantee(id = "LK-LEASE-02", says = "a lease that was released is over for its holder")
    void released() throws Exception {
        Lease lease = acquired(mutex(client()));
        assertEquals(ReleaseOutcome.RELEASED, lease.release());
        assertEquals(LeaseState.RELEASED, lease.state());
        assertFalse(lease.isValid());
        assertEquals(Duration.ZERO, lease.remaining());
        assertThrows(IllegalStateException.class, lease::ensureValid);
    }

    @Guarantee(id = "LK-LEASE-03", says = "to release or close again does nothing")
    void releasedAgain() throws Exception {
        Lease lease = acquired(mutex(client()));
        lease.close();
        Lease next = acquired(mutex(client()));
        lease.close();
        assertEquals(ReleaseOutcome.ALREADY_RELEASED, lease.release());
        assertEquals(ReleaseOutcome.ALREADY_RELEASED, soon(lease.releaseAsync()));
        assertTrue(next.isValid());
        assertTrue(mutex(client()).tryAcquire().isEmpty());
    }

    @Guarantee(id = "LK-LEASE-04", says = "of several releases at once one releases")
    void releasedAtOnce() throws Exception {
        Lease lease = acquired(mutex(client()));
        CountDownLatch together = new CountDownLatch(1);
        List<Caller<ReleaseOutcome>> callers = IntStream.range(0, 6)
                .mapToObj(number -> inThread(() -> {
                    together.await();
                    return lease.release();
                }))
                .toList();
        together.countDown();
        List<ReleaseOutcome> outcomes = new ArrayList<>();
        for (Caller<ReleaseOutcome> caller : callers) {
            outcomes.add(soon(caller.result()));
        }
        assertEquals(1, Collections.frequency(outcomes, ReleaseOutcome.RELEASED), outcomes::toString);
        assertEquals(5, Collections.frequency(outcomes, ReleaseOutcome.ALREADY_RELEASED), outcomes::toString);
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-05",
            says = "an asynchronous release is over for the holder when the call returns, and tells the outcome")
    void releasedAsync() throws Exception {
        Lease lease = acquired(mutex(client()));
        CompletableFuture<ReleaseOutcome> outcome = lease.releaseAsync().toCompletableFuture();
        assertFalse(lease.isValid());
        assertEquals(LeaseState.RELEASED, lease.state());
        assertEquals(ReleaseOutcome.RELEASED, soon(outcome));
        assertFree(mutex(client()));
    }

    @Guarantee(id = "LK-LEASE-06", says = "any thread may release")
    void releasedByAnother() throws Exception {
        Lease lease = acquired(mutex(client()));
        assertEquals(ReleaseOutcome.RELEASED, soon(inThread(lease::release).result()));
        assertFree(mutex(client()));
    }

    @Guarantee(id = "LK-LEASE-07", says = "no loss is reported after a release")
    void noLossAfterRelease() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        CompletableFuture<LossCause> told = lease.lost().toCompletableFuture();
        lease.close();
        Lease other = acquired(client.mutex(path("other")));
        fixture().expire(client);
        soon(other.lost());
        assertFalse(told.isDone());
        assertFalse(lease.lost().toCompletableFuture().isDone());
        assertEquals(Optional.empty(), lease.lossCause());
        assertEquals(LeaseState.RELEASED, lease.state());
    }

    @Guarantee(id = "LK-LEASE-08", says = "completing or cancelling a future of the loss has no effect on others")
    void futuresOfOnesOwn() throws Exception {
        Lease lease = acquired(mutex(client()));
        CompletableFuture<LossCause> told = lease.lost().toCompletableFuture();
        told.complete(LossCause.NODE_DELETED);
        lease.lost().toCompletableFuture().cancel(false);
        assertFalse(lease.lost().toCompletableFuture().isDone());
        assertTrue(lease.isValid());
        assertTrue(mutex(client()).tryAcquire().isEmpty());
    }

    @Guarantee(id = "LK-LEASE-09", says = "a lease whose session has ended is lost for good, and tells the cause")
    void lost() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        CompletableFuture<LossCause> told = lease.lost().toCompletableFuture();
        assertEquals(Optional.empty(), lease.lossCause());
        fixture().expire(client);
        assertEquals(LossCause.SESSION_EXPIRED, soon(told));
        assertEquals(Optional.of(LossCause.SESSION_EXPIRED), lease.lossCause());
        assertEquals(LeaseState.LOST, lease.state());
        assertFalse(lease.isValid());
        assertEquals(Duration.ZERO, lease.remaining());
        assertEquals(
                LossCause.SESSION_EXPIRED,
                assertThrows(LeaseLostException.class, lease::ensureValid).lossCause());
    }

    @Guarantee(id = "LK-LEASE-10", says = "a loss is reported to later callers as well")
    void askedLater() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        fixture().expire(client);
        LossCause cause = soon(lease.lost());
        assertEquals(cause, soon(lease.lost()));
        acquired(mutex(client)).close();
        assertEquals(LeaseState.LOST, lease.state());
        assertEquals(cause, soon(lease.lost()));
    }

    @Guarantee(id = "LK-LEASE-11", says = "a client that has got the lock again finds its former lease lost")
    void lossBeforeTheNextHold() throws Exception {
        LockClient client = client();
        Lease former = acquired(mutex(client));
        fixture().expire(client);
        Lease next = acquired(mutex(client));
        assertEquals(LeaseState.LOST, former.state());
        assertTrue(next.isValid());
        soon(former.lost());
    }

    @Guarantee(id = "LK-LEASE-12", says = "all leases of a session are lost with it, those of others are not")
    void allLeasesOfTheSession() throws Exception {
        LockClient client = client();
        Lease one = acquired(client.mutex(path("one")));
        Lease two = acquired(client.mutex(path("two")));
        Lease ofAnother = acquired(client().mutex(path("three")));
        fixture().expire(client);
        soon(one.lost());
        soon(two.lost());
        assertFalse(one.isValid() || two.isValid());
        assertTrue(ofAnother.isValid());
        assertFalse(ofAnother.lost().toCompletableFuture().isDone());
    }

    @Guarantee(
            id = "LK-LEASE-13",
            says = "the release of a lost lease says that it was lost",
            needs = Feature.RELEASE_OUTCOMES)
    void releaseOfALostLease() throws Exception {
        LockClient client = client();
        Lease unheard = acquired(client.mutex(path("unheard")));
        Lease lease = acquired(mutex(client));
        fixture().expire(client);
        ReleaseOutcome early = unheard.release();
        assertTrue(Set.of(ReleaseOutcome.LOST, ReleaseOutcome.PENDING).contains(early), early::toString);
        soon(lease.lost());
        assertEquals(ReleaseOutcome.LOST, lease.release());
        assertEquals(ReleaseOutcome.LOST, lease.release());
        assertEquals(ReleaseOutcome.LOST, soon(lease.releaseAsync()));
        lease.close();
    }

    /** A lease that was lost before the first look is told apart from one that stays held. */
    private void awaitSuspect(Lease lease) throws InterruptedException {
        await("the lease is suspect", () -> lease.state() != LeaseState.HELD);
        assertEquals(LeaseState.SUSPECT, lease.state());
    }

    @Guarantee(
            id = "LK-LEASE-14",
            says = "a lease without a connection is suspect and valid, and held again when the connection is back")
    void suspect() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        fixture().disconnect(client);
        awaitSuspect(lease);
        assertTrue(lease.isValid());
        lease.ensureValid();
        fixture().heal(client);
        await("the lease is held", () -> lease.state() == LeaseState.HELD);
        assertTrue(lease.isValid());
        assertFalse(lease.lost().toCompletableFuture().isDone());
    }

    @Guarantee(
            id = "LK-LEASE-15",
            says = "without a server the time left falls; with one it rises again",
            needs = Feature.DEADLINES)
    void remaining() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        fixture().disconnect(client);
        awaitSuspect(lease);
        Duration once = lease.remaining();
        Duration less = once.multipliedBy(2).dividedBy(3);
        await("a third less is left", () -> lease.remaining().compareTo(less) < 0);
        assertFalse(lease.remaining().isNegative());
        fixture().heal(client);
        await("more time is left", () -> lease.remaining().compareTo(less) > 0);
    }

    @Guarantee(
            id = "LK-LEASE-16",
            says = "where sessions end by time, a holder that is cut off finds its lease lost before the next grant")
    void lostInTime() throws Exception {
        LockClient client = briefClient();
        Lease lease = acquired(mutex(client));
        CompletableFuture<Boolean> overlap = queued(mutex(client())).thenApply(next -> lease.isValid());
        fixture().cutOff(client);
        assertFalse(soon(overlap), "valid when the next was granted");
        assertEquals(LeaseState.LOST, lease.state());
    }

    @Guarantee(
            id = "LK-LEASE-17",
            says = "a holder that is cut off is notified of its loss while no server can be reached")
    void toldWithoutAServer() throws Exception {
        LockClient client = briefClient();
        Lease lease = acquired(mutex(client));
        fixture().cutOff(client);
        soon(lease.lost());
        assertFalse(lease.isValid());
        fixture().heal(client);
        acquired(mutex(client)).close();
        assertFalse(lease.isValid());
    }

    @Guarantee(
            id = "LK-LEASE-31",
            says = "a loss without a server is reported when the remaining time has passed, for leases of any age",
            needs = Feature.DEADLINES)
    void toldWhenDue() throws Exception {
        Duration left = Duration.ZERO;
        long late = Long.MAX_VALUE;
        for (int holder = 0; holder < 3 && late > left.toNanos() / 2; holder++) {
            LockClient client = briefClient();
            Lease lease = acquired(client.mutex(path("of " + holder)));
            long granted = System.nanoTime();
            Duration first = lease.remaining();
            await("what was left first has passed", () -> System.nanoTime() - granted > first.toNanos());
            fixture().disconnect(client);
            // Asked once: to look again may be what tells of the loss.
            left = lease.remaining();
            late = late(left, () -> null, lease.lost().toCompletableFuture()::join);
        }
        assertInTime(late, left);
    }

    @Guarantee(
            id = "LK-LEASE-18",
            says = "a release without a connection is pending, and the next is let in when the connection is back",
            needs = Feature.RELEASE_OUTCOMES)
    void releaseWithoutAConnection() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        CompletableFuture<Lease> next = queued(mutex(client()));
        fixture().disconnect(client);
        awaitSuspect(lease);
        assertEquals(ReleaseOutcome.PENDING, soon(inThread(lease::release).result()));
        assertFalse(lease.isValid());
        fixture().heal(client);
        soon(next).close();
    }

    @Guarantee(id = "LK-LEASE-19", says = "a release by an interrupted thread releases, and keeps the status")
    void interruptedRelease() throws Exception {
        Lease lease = acquired(mutex(client()));
        Caller<Boolean> caller = inThread(() -> {
            Thread.currentThread().interrupt();
            lease.close();
            return Thread.currentThread().isInterrupted();
        });
        assertTrue(soon(caller.result()), "the status is not set");
        assertFalse(lease.isValid());
        assertFree(mutex(client()));
    }

    @Guarantee(
            id = "LK-LEASE-55",
            says = "an interrupt ends the wait of a release for the server, and its status stays",
            needs = Feature.RELEASE_OUTCOMES)
    void interruptDuringRelease() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        fixture().cutOff(client);
        CompletableFuture<ReleaseOutcome> outcome = new CompletableFuture<>();
        Caller<Boolean> caller = inThread(() -> {
            outcome.complete(lease.release());
            return Thread.currentThread().isInterrupted();
        });
        await("the release waits", () -> !lease.isValid() && isWaiting(caller.thread()));
        caller.thread().interrupt();
        assertTrue(soon(caller.result()), "the status is not set");
        assertEquals(ReleaseOutcome.PENDING, soon(outcome));
        fixture().heal(client);
        assertFree(mutex(client()));
    }

    private static boolean isWaiting(Thread thread) {
        return thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING;
    }

    @Guarantee(
            id = "LK-LEASE-20",
            says = "a holder whose request an operator deletes is notified of the loss",
            needs = Feature.OPERATOR)
    void nodeDeleted() throws Exception {
        Lease lease = acquired(mutex(client()));
        fixture().deleteRequest(path(), 0);
        Lease next = acquired(mutex(client()));
        assertEquals(LossCause.NODE_DELETED, soon(lease.lost()));
        assertFalse(lease.isValid());
        assertTrue(next.isValid());
    }

    @Guarantee(
            id = "LK-LEASE-26",
            says = "a listening holder is notified of a release request and its sender, and keeps its lease",
            needs = Feature.ADMINISTRATION)
    void releaseRequested() throws Exception {
        Lease lease = acquired(mutex(client()));
        CompletableFuture<ReleaseRequest> wish = lease.releaseRequested().toCompletableFuture();
        LockClient other = client();
        await("a listening holder", () -> first(other).requestRelease() == ReleaseRequestResult.STORED);
        assertEquals(ProcessHandle.current().pid(), soon(wish).by().processId());
        assertEquals(LeaseState.HELD, lease.state());
        assertTrue(mutex(other).tryAcquire().isEmpty());
    }

    private Contender first(LockClient client) throws InterruptedException {
        return mutex(client).queue().get(0);
    }

    @Guarantee(
            id = "LK-LEASE-27",
            says = "a holder that does not listen cannot be asked",
            needs = Feature.ADMINISTRATION)
    void cannotBeAsked() throws Exception {
        Lease lease = acquired(mutex(client()));
        assertEquals(ReleaseRequestResult.NOT_LISTENING, first(client()).requestRelease());
        assertEquals(LeaseState.HELD, lease.state());
    }

    @Guarantee(
            id = "LK-LEASE-28",
            says = "an evicted holder is notified of its loss, and the next request is granted",
            needs = Feature.ADMINISTRATION)
    void evicted() throws Exception {
        Lease lease = acquired(mutex(client()));
        CompletableFuture<LossCause> lost = lease.lost().toCompletableFuture();
        CompletableFuture<Lease> next = queued(mutex(client()));
        assertEquals(Eviction.EVICTED, first(client()).evict());
        assertEquals(LossCause.NODE_DELETED, soon(lost));
        assertFalse(lease.isValid());
        assertTrue(soon(next).isValid());
    }

    @Guarantee(id = "LK-LEASE-29", says = "a waiter that is evicted waits at the end", needs = Feature.ADMINISTRATION)
    void evictedWhileItWaits() throws Exception {
        Lease lease = acquired(mutex(client()));
        LockClient operator = client();
        CompletableFuture<Lease> second = queued(mutex(client()));
        CompletableFuture<Lease> third = queued(mutex(client()));
        Contender evicted = mutex(operator).queue().get(1);
        assertEquals(Eviction.EVICTED, evicted.evict());
        awaitQueue(mutex(operator), 3);
        lease.close();
        Lease next = soon(third);
        assertFalse(second.isDone());
        next.close();
        assertTrue(soon(second).isValid());
    }

    @Guarantee(
            id = "LK-LEASE-30",
            says = "a release request or an eviction of a request that has left has no effect",
            needs = Feature.ADMINISTRATION)
    void administrationComesTooLate() throws Exception {
        Lease lease = acquired(mutex(client()));
        Contender gone = first(client());
        lease.close();
        Lease next = acquired(mutex(client()));
        assertEquals(ReleaseRequestResult.GONE, gone.requestRelease());
        assertEquals(Eviction.GONE, gone.evict());
        assertTrue(next.isValid());
    }

    @Guarantee(id = "LK-LEASE-21", says = "the leases of a closed client are lost")
    void clientClosed() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        client.close();
        assertEquals(LossCause.CLIENT_CLOSED, soon(lease.lost()));
        assertEquals(LeaseState.LOST, lease.state());
        assertEquals(
                LossCause.CLIENT_CLOSED,
                assertThrows(LeaseLostException.class, lease::ensureValid).lossCause());
        assertEquals(ReleaseOutcome.LOST, lease.release());
    }

    @Guarantee(id = "LK-LEASE-22", says = "a dependent stage of the future of a loss may acquire")
    void stages() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        CompletableFuture<Lease> again =
                lease.lost().thenCompose(cause -> mutex(client).acquireAsync()).toCompletableFuture();
        fixture().expire(client);
        assertTrue(soon(again).isValid());
    }

    @Guarantee(id = "LK-LEASE-23", says = "the token of a lease does not change", needs = Feature.TOKENS)
    void token() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        long token = lease.token();
        acquired(client.mutex(path("other"))).close();
        assertEquals(token, lease.token());
        lease.close();
        assertEquals(token, lease.token());
    }

    @Guarantee(id = "LK-LEASE-25", says = "a loss is reported once")
    void toldOnce() throws Exception {
        LockClient client = client();
        Lease lease = acquired(mutex(client));
        List<LossCause> told = Collections.synchronizedList(new ArrayList<>());
        CompletableFuture<Boolean> first = lease.lost().thenApply(told::add).toCompletableFuture();
        fixture().expire(client);
        assertTrue(soon(first));
        acquired(mutex(client)).close();
        client.close();
        assertEquals(1, told.size());
        assertEquals(told.get(0), soon(lease.lost()));
    }

    @Guarantee(
            id = "LK-LEASE-43",
            says = "a client tells the state of its session, since when, and the session timeout",
            needs = Feature.SESSION_VIEWS)
    void session() throws Exception {
        LockClient client = client();
        acquired(mutex(client)).close();
        SessionStatus first = client.session();
        assertEquals(SessionState.CONNECTED, first.state());
        assertTrue(first.id() != 0);
        assertTrue(first.timeout().compareTo(Duration.ZERO) > 0);
        assertEquals(first, client.session());
        fixture().disconnect(client);
        await("it is disconnected", () -> client.session().state() == SessionState.DISCONNECTED);
        assertFalse(client.session().since().isBefore(first.since()));
        fixture().heal(client);
        await("it is connected", () -> client.session().isConnected());
        assertFalse(client.session().since().isBefore(first.since()));
        client.close();
        assertEquals(SessionState.CLOSED, client.session().state());
        assertEquals(first.id(), client.session().id());
        assertEquals(first.timeout(), client.session().timeout());
    }
}
