// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.MultiLock;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.contract.LockFixture.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * The guarantees of {@link MultiLock}, beside {@link AcquirableContract} and {@link FaultyAcquiringContract}, which it
 * has with two mutexes as the lock.
 */
public abstract class MultiLockContract extends FaultyAcquiringContract {
    /** For subclasses. */
    protected MultiLockContract() {}

    @Override
    final Acquirable lock(LockClient client) {
        return both(client);
    }

    @Override
    final Acquirable blocker(LockClient client) {
        return b(client);
    }

    private Acquirable a(LockClient client) {
        return client.mutex(path());
    }

    private Acquirable b(LockClient client) {
        return client.mutex(path("b"));
    }

    private MultiLock both(LockClient client) {
        return client.multiLock(a(client), b(client));
    }

    @Guarantee(id = "LK-MULTI-01", says = "the holder of a multi-lock holds every member")
    void everyMember() throws Exception {
        Lease held = acquired(both(client()));
        LockClient other = client();
        assertEquals(Optional.empty(), a(other).tryAcquire());
        assertEquals(Optional.empty(), b(other).tryAcquire());
        assertEquals(path(), held.path());
    }

    @Guarantee(
            id = "LK-MULTI-02",
            says = "a multi-lock that cannot hold one member holds none and leaves nothing on any")
    void allOrNone() throws Exception {
        Lease held = acquired(b(client()));
        LockClient client = client();
        assertEquals(Optional.empty(), both(client).tryAcquire());
        assertFree(a(client()));
        assertEquals(Optional.empty(), both(client).tryAcquire(moment()));
        assertFree(a(client()));
        CompletableFuture<Lease> asked = queued(both(client));
        asked.cancel(false);
        assertFree(a(client()));
        held.close();
        acquired(both(client)).close();
    }

    @Guarantee(id = "LK-MULTI-03", says = "the members have one deadline together")
    void oneDeadline() throws Exception {
        Duration time = moment().multipliedBy(5);
        LockClient client = client();
        List<String> names = List.of("1", "2", "3", "4");
        Acquirable[] members =
                names.stream().map(name -> client.mutex(path(name))).toArray(Acquirable[]::new);
        Acquirable last = client().mutex(path("4"));
        Lease held = acquired(last);
        List<Lease> before = new ArrayList<>();
        for (String name : names.subList(0, 3)) {
            before.add(acquired(client().mutex(path(name))));
        }
        // They are released late: an implementation that counts the timeout for each member again is late with each.
        for (int place = 0; place < 3; place++) {
            Duration late = time.multipliedBy(place + 1).dividedBy(2);
            Executor later = CompletableFuture.delayedExecutor(late.toMillis(), TimeUnit.MILLISECONDS);
            var unused = CompletableFuture.runAsync(before.get(place)::close, later);
        }
        assertInTime(late(client.multiLock(members), time, () -> null), time);
        held.close();
        acquired(client().mutex(path("4"))).close();
    }

    @Guarantee(id = "LK-MULTI-04", says = "multi-locks in opposite orders do not wait for each other")
    void oppositeOrders() throws Exception {
        LockClient one = client();
        LockClient other = client();
        assertTakeTurns(1, 1, 15, List.of(one.multiLock(a(one), b(one)), other.multiLock(b(other), a(other))));
        assertFree(both(client()));
    }

    @Guarantee(
            id = "LK-MULTI-05",
            says = "members of every kind",
            needs = {Feature.READ_WRITE_LOCKS, Feature.SEMAPHORES})
    void everyKind() throws Exception {
        LockClient one = client();
        LockClient other = client();
        Lease held = acquired(mixed(one));
        assertEquals(Optional.empty(), a(other).tryAcquire());
        Lease reader = acquired(other.readWriteLock(path("rw")).readLock());
        assertEquals(
                Optional.empty(), other.readWriteLock(path("rw")).writeLock().tryAcquire());
        assertEquals(Optional.empty(), other.semaphore(path("s"), 3).permits(2).tryAcquire());
        acquired(other.semaphore(path("s"), 3)).close();
        held.close();
        Lease written =
                acquired(other.multiLock(a(other), other.semaphore(path("s"), 3).permits(3)));
        assertTrue(written.isValid() && reader.isValid());
    }

    private MultiLock mixed(LockClient client) {
        return client.multiLock(
                a(client),
                client.readWriteLock(path("rw")).readLock(),
                client.semaphore(path("s"), 3).permits(2));
    }

    @Guarantee(
            id = "LK-MULTI-06",
            says = "no members, a repeated, a foreign or a nested member are each refused at once")
    void badMembers() {
        LockClient client = client();
        LockClient other = client();
        assertThrows(IllegalArgumentException.class, () -> client.multiLock(a(client), a(client)));
        assertThrows(IllegalArgumentException.class, () -> client.multiLock(a(client), b(other)));
        assertThrows(IllegalArgumentException.class, () -> client.multiLock(both(client)));
        assertThrows(IllegalArgumentException.class, client::multiLock);
    }

    @Guarantee(id = "LK-MULTI-07", says = "a release frees every member")
    void releaseFreesAll() throws Exception {
        Lease held = acquired(both(client()));
        CompletableFuture<Lease> a = queued(a(client()));
        CompletableFuture<Lease> b = queued(b(client()));
        assertEquals(ReleaseOutcome.RELEASED, held.release());
        assertTrue(soon(a).isValid() && soon(b).isValid());
    }

    @Guarantee(
            id = "LK-MULTI-08",
            says = "a multi-lock that loses one member is lost as a whole",
            needs = Feature.OPERATOR)
    void oneMemberLost() throws Exception {
        Lease held = acquired(both(client()));
        fixture().deleteRequest(path("b"), 0);
        assertEquals(LossCause.NODE_DELETED, soon(held.lost()));
        assertEquals(LeaseState.LOST, held.state());
        held.close();
        assertFree(both(client()));
    }

    @Guarantee(id = "LK-MULTI-09", says = "a multi-lock is lost with its session, and every member is free")
    void sessionLost() throws Exception {
        LockClient expiring = client();
        Lease held = acquired(both(expiring));
        CompletableFuture<Lease> a = queued(a(client()));
        CompletableFuture<Lease> b = queued(b(client()));
        assertTrue(held.isValid());
        fixture().expire(expiring);
        assertTrue(soon(a).isValid() && soon(b).isValid());
        soon(held.lost());
        assertEquals(LeaseState.LOST, held.state());
    }

    @Guarantee(
            id = "LK-MULTI-10",
            says = "its token is higher than those of former holders of each member",
            needs = Feature.TOKENS)
    void tokens() throws Exception {
        Lease a = acquired(a(client()));
        Lease b = acquired(b(client()));
        a.close();
        b.close();
        Lease both = acquired(both(client()));
        assertTrue(both.token() > Math.max(a.token(), b.token()));
        both.close();
        assertTrue(acquired(b(client())).token() > both.token());
    }

    @Guarantee(id = "LK-MULTI-11", says = "the queue is that of each member, one after the other")
    void queues() throws Exception {
        LockClient client = client();
        Lease a = acquired(a(client));
        CompletableFuture<Lease> next = queued(a(client()));
        Lease b = acquired(b(client));
        assertEquals(
                List.of("HOLDING", "WAITING", "HOLDING"),
                both(client()).queue().stream()
                        .map(contender -> contender.state().name())
                        .toList());
        assertTrue(a.isValid() && b.isValid() && !next.isDone());
    }

    @Guarantee(
            id = "LK-MULTI-15",
            says = "of limits of a multi-lock and its members the smallest ends the lease of all",
            needs = Feature.LIMITS)
    void limitOfOneMember() throws Exception {
        LockClient client = client();
        Duration hour = Duration.ofHours(1);
        for (MultiLock multi : List.of(
                client.multiLock(a(client).heldAtMost(hour), b(client).heldAtMost(moment())),
                client.multiLock(a(client).heldAtMost(moment()), b(client).heldAtMost(hour)),
                client.multiLock(a(client).heldAtMost(hour), b(client)).heldAtMost(moment()),
                client.multiLock(a(client), b(client).heldAtMost(moment())).heldAtMost(hour))) {
            assertEquals(LossCause.HELD_TOO_LONG, soon(acquired(multi).lost()));
            assertFree(a(client()));
            assertFree(b(client()));
        }
    }

    @Guarantee(
            id = "LK-MULTI-12",
            says = "the members are those that were given, in their order, and cannot be changed")
    void members() {
        LockClient client = client();
        Acquirable[] given = {b(client), a(client)};
        List<Acquirable> expected = List.of(given.clone());
        MultiLock multi = client.multiLock(given);
        given[0] = client.mutex(path("other"));
        assertEquals(expected, multi.members());
        assertEquals(expected, client.multiLock(expected).members());
        assertThrows(UnsupportedOperationException.class, () -> multi.members().clear());
    }

    @Guarantee(
            id = "LK-MULTI-13",
            says = "if one member is refused, nothing is acquired",
            needs = {Feature.KINDS, Feature.READ_WRITE_LOCKS})
    void oneRefused() throws Exception {
        acquired(client().readWriteLock(path("b")).readLock()).close();
        LockClient client = client();
        assertThrows(LockMismatchException.class, () -> both(client).acquire());
        assertFree(a(client()));
        acquired(client.readWriteLock(path("b")).writeLock()).close();
    }

    @Guarantee(id = "LK-MULTI-14", says = "a request that is made earlier is served earlier, on every member")
    void earlierFirst() throws Exception {
        Lease held = acquired(both(client()));
        LockClient one = client();
        LockClient other = client();
        CompletableFuture<Lease> first = queued(one.multiLock(b(one), a(one)));
        CompletableFuture<Lease> second = queued(both(other));
        CompletableFuture<Lease> third = queued(b(one));
        held.close();
        Lease leaseOfFirst = soon(first);
        assertWaits(second, both(other));
        leaseOfFirst.close();
        Lease leaseOfSecond = soon(second);
        assertWaits(third, b(one));
        leaseOfSecond.close();
        soon(third).close();
    }
}
