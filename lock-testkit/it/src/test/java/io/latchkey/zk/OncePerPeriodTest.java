// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.OnLoss;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZooKeeperResults;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Work once per period, with losses between the work and its record. */
@Timeout(60)
class OncePerPeriodTest extends OnOneServer {
    private static final String JOB = "/jobs/report";
    private static final String RECORD = JOB + ".period";
    private static final Duration DAY = Duration.ofDays(1);
    private static final Instant MIDNIGHT = Instant.parse("2026-11-24T00:00:00Z");
    private static final Instant DAY_BEFORE = MIDNIGHT.minus(DAY);

    private final FaultProxy proxy = fastProxy();
    private final ZkLockClient first = client(builder -> builder.connectString(proxy.connectString()));
    private final ZkLockClient second = client("second");
    private final List<Instant> done = new ArrayList<>();

    OncePerPeriodTest() throws InterruptedException {}

    private enum Mode {
        AT_MOST_ONCE,
        AT_LEAST_ONCE;

        <X extends Throwable> boolean run(OncePerPeriod periods, Lease lease, OncePerPeriod.Work<X> work)
                throws X, InterruptedException {
            return this == AT_MOST_ONCE ? periods.atMostOnce(lease, work) : periods.atLeastOnce(lease, work);
        }
    }

    private static OncePerPeriod days(Instant now) {
        return OncePerPeriod.calendar(DAY).withClock(() -> now);
    }

    private boolean run(LockClient client, Mode mode, OncePerPeriod periods) throws InterruptedException {
        return client.mutex(JOB).call(lease -> mode.run(periods, lease, turn -> done.add(turn.period())));
    }

    private Optional<Instant> last() throws InterruptedException {
        return second.mutex(JOB).call(lease -> days(MIDNIGHT).last(lease));
    }

    // ---- without faults

    @ParameterizedTest
    @EnumSource(Mode.class)
    void workIsDoneOnceInAPeriod_byTwoClients(Mode mode) throws Exception {
        assertEquals(Optional.empty(), last());
        assertTrue(run(first, mode, days(MIDNIGHT)));
        assertFalse(run(second, mode, days(MIDNIGHT.plusSeconds(1))));
        assertFalse(run(first, mode, days(MIDNIGHT.plus(DAY).minusMillis(1))));
        assertTrue(run(second, mode, days(MIDNIGHT.plus(DAY))));
        assertFalse(run(first, mode, days(MIDNIGHT.plus(DAY))));
        assertEquals(List.of(MIDNIGHT, MIDNIGHT.plus(DAY)), done);
        assertEquals(Optional.of(MIDNIGHT.plus(DAY)), last());
    }

    /** The first client's clock is two seconds ahead of the second's. */
    @ParameterizedTest
    @EnumSource(Mode.class)
    void clocksThatDiffer_repeatNoPeriod(Mode mode) throws Exception {
        assertTrue(run(second, mode, days(MIDNIGHT.minusSeconds(3))));
        assertFalse(run(first, mode, days(MIDNIGHT.minusMillis(1))));
        assertTrue(run(first, mode, days(MIDNIGHT.plusSeconds(1))));
        assertFalse(run(second, mode, days(MIDNIGHT.minusSeconds(1))), "a period that is over for others");
        assertFalse(run(second, mode, days(MIDNIGHT)));
        assertEquals(List.of(DAY_BEFORE, MIDNIGHT), done);
        assertEquals(Optional.of(MIDNIGHT), last());
    }

    @Test
    void intervalCountsFromTheBeginningOfTheWork() throws Exception {
        Instant began = MIDNIGHT.plusSeconds(5);
        OncePerPeriod hours = OncePerPeriod.interval(Duration.ofHours(1));
        assertTrue(run(first, Mode.AT_LEAST_ONCE, hours.withClock(() -> began)));
        assertFalse(run(second, Mode.AT_LEAST_ONCE, hours.withClock(() -> began.plusSeconds(3600)
                .minusMillis(1))));
        assertEquals(Optional.of(began), last());
        for (int times = 0; times < 2; times++) {
            Instant late = began.plusSeconds(3600 + times);
            assertThrows(IOException.class, () -> second.mutex(JOB)
                    .run(lease -> hours.withClock(() -> late).atLeastOnce(lease, turn -> {
                        done.add(turn.period());
                        throw new IOException("of the work");
                    })));
        }
        assertTrue(run(second, Mode.AT_LEAST_ONCE, hours.withClock(() -> began.plusSeconds(9000))));
        Instant due = began.plusSeconds(3600);
        assertEquals(List.of(Instant.EPOCH, due, due, due), done, "the key of repeated work is the same");
        assertEquals(Optional.of(began.plusSeconds(9000)), last());
    }

    /** As a machine's clock shows it before it is set. */
    @Test
    void periodHasBegunInThePast_whenTheClockIsBefore1970() throws Exception {
        assertTrue(run(first, Mode.AT_MOST_ONCE, days(Instant.EPOCH.minusMillis(1))));
        assertTrue(run(first, Mode.AT_MOST_ONCE, days(Instant.EPOCH)));
        assertEquals(List.of(Instant.EPOCH.minus(DAY), Instant.EPOCH), done);
    }

    @Test
    void recordStays_whenThePathOfTheLockIsRemoved() throws Exception {
        assertTrue(run(first, Mode.AT_MOST_ONCE, days(MIDNIGHT)));
        awaitRequests(JOB, 0);
        assertEquals(List.of(JOB), reapAll());
        assertFalse(run(second, Mode.AT_MOST_ONCE, days(MIDNIGHT)));
        assertEquals(
                1,
                server().nodesUnder("/jobs").stream()
                        .filter(node -> node.path().equals(RECORD) && !node.isEphemeral())
                        .count());
    }

    @Test
    void resultsAreThoseOfTheEffects_inTheirOrder() throws Exception {
        ZooKeeper operator = handle();
        makeNode("/balance", new byte[] {0});
        Op add = Op.setData("/balance", new byte[] {1}, 0);
        Op book = Op.create("/entry-", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL);
        List<OpResult> results = new ArrayList<>();
        OncePerPeriod days = days(MIDNIGHT);
        first.mutex(JOB).run(lease -> days.atLeastOnce(lease, turn -> results.addAll(turn.guarded(add, book))));
        assertEquals(2, results.size());
        OpResult.SetDataResult added = assertInstanceOf(OpResult.SetDataResult.class, results.get(0));
        assertEquals(operator.exists("/balance", false), added.getStat());
        OpResult.CreateResult booked = assertInstanceOf(OpResult.CreateResult.class, results.get(1));
        assertTrue(booked.getPath().startsWith("/entry-"), booked.getPath());
    }

    private boolean runAsWriter(LockClient client) throws InterruptedException {
        return client.readWriteLock(JOB).writeLock().call(lease -> days(MIDNIGHT)
                .atLeastOnce(lease, turn -> done.add(turn.period())));
    }

    @Test
    void recordIsBesideTheWholePath_whenTheClientHasABasePath() throws Exception {
        ZkLockClient tenant = client(builder -> builder.basePath("/tenant"));
        assertTrue(runAsWriter(tenant));
        assertFalse(runAsWriter(tenant));
        assertTrue(run(first, Mode.AT_LEAST_ONCE, days(MIDNIGHT)), "the job outside is another");
        assertEquals(
                List.of("/tenant" + RECORD),
                server().nodesUnder("/tenant").stream()
                        .map(ServerNode::path)
                        .filter(path -> path.endsWith(RECORD))
                        .toList());
        assertEquals(List.of(MIDNIGHT, MIDNIGHT), done);
        handle().setData("/tenant" + RECORD, new byte[0], -1);
        LockException unknown = assertThrows(LockException.class, () -> runAsWriter(tenant));
        assertTrue(unknown.getMessage().startsWith("The node " + RECORD + " "), unknown.getMessage());
    }

    /** The first period has no record before it; the later one has. */
    @Test
    void periodIsDueAgain_whenTheWorkTakesItsRecordBack() throws Exception {
        for (Instant now : List.of(MIDNIGHT, MIDNIGHT.plus(DAY))) {
            Optional<Instant> before = last();
            boolean ran = first.mutex(JOB).call(lease -> days(now).atMostOnce(lease, OncePerPeriod.Turn::takeBack));
            assertTrue(ran);
            assertEquals(before, last());
            assertTrue(run(second, Mode.AT_MOST_ONCE, days(now)));
            assertEquals(Optional.of(now), last());
        }
        assertEquals(List.of(MIDNIGHT, MIDNIGHT.plus(DAY)), done);
    }

    /** Another holder has recorded since. */
    @Test
    void recordIsNotTakenBack_whenTheLeaseIsLost() throws Exception {
        assertThrows(LeaseLostException.class, () -> first.mutex(JOB)
                .run(lease -> days(MIDNIGHT).atMostOnce(lease, turn -> {
                    evictHolder();
                    turn.takeBack();
                })));
        assertEquals(Optional.of(MIDNIGHT), last());
    }

    // ---- losses

    @Test
    void periodStaysWithoutItsWork_whenTheHolderFailsAfterTheRecord() throws Exception {
        assertThrows(IOException.class, () -> first.mutex(JOB)
                .run(lease -> days(MIDNIGHT).atMostOnce(lease, turn -> {
                    throw new IOException("of the work");
                })));
        assertFalse(run(second, Mode.AT_MOST_ONCE, days(MIDNIGHT)));
        assertEquals(List.of(), done);
    }

    @Test
    void workIsRepeatedWithTheSameKey_whenTheLeaseIsLostBeforeTheRecord() throws Exception {
        assertThrows(LeaseLostException.class, () -> first.mutex(JOB)
                .run(lease -> days(MIDNIGHT).atLeastOnce(lease, turn -> {
                    done.add(turn.period());
                    evictHolder();
                })));
        assertEquals(Optional.empty(), last());
        assertTrue(run(second, Mode.AT_LEAST_ONCE, days(MIDNIGHT.plusSeconds(60))));
        assertEquals(List.of(MIDNIGHT, MIDNIGHT), done);
    }

    private void evictHolder() throws InterruptedException {
        second.mutex(JOB).queue().get(0).evict();
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void lateHolderRecordsNothing_whenTheNextHasDoneTheWork(Mode mode) throws Exception {
        Lease stale = first.mutex(JOB).acquire();
        evictHolder();
        if (mode == Mode.AT_MOST_ONCE) {
            assertThrows(LeaseLostException.class, () -> mode.run(days(MIDNIGHT), stale, turn -> done.add(MIDNIGHT)));
            assertTrue(run(second, mode, days(MIDNIGHT)));
        } else {
            assertThrows(
                    Exception.class,
                    () -> mode.run(days(MIDNIGHT), stale, turn -> assertTrue(run(second, mode, days(MIDNIGHT)))));
        }
        assertEquals(List.of(MIDNIGHT), done);
        assertEquals(Optional.of(MIDNIGHT), last());
    }

    /** The first holder has done the work before its record, or not at all. */
    @ParameterizedTest
    @CsvSource({"AT_MOST_ONCE, false, 1", "AT_MOST_ONCE, true, 0", "AT_LEAST_ONCE, false, 2", "AT_LEAST_ONCE, true, 1"})
    void workIsDoneAsOftenAsPromised_whenTheAnswerToTheRecordIsLost(Mode mode, boolean applied, int times)
            throws Exception {
        Lease lease = first.mutex(JOB).acquire();
        cutAtTheRecord(applied);
        assertThrows(
                LockServiceUnavailableException.class,
                () -> mode.run(days(MIDNIGHT), lease, turn -> done.add(turn.period())));
        lease.close();
        assertEquals(applied ? Optional.of(MIDNIGHT) : Optional.empty(), last());
        assertEquals(!applied, run(second, mode, days(MIDNIGHT)));
        assertEquals(times, done.size());
    }

    /** Whichever code a server gives: a text that says that nothing is recorded is true. */
    @ParameterizedTest
    @EnumSource(
            value = KeeperException.Code.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"OK", "THROTTLEDOP", "UNKNOWNSESSION"})
    void errorSaysWhetherThePeriodMayBeRecorded(KeeperException.Code code) throws Exception {
        boolean open = ZooKeeperResults.status(KeeperException.create(code)).outcome() == Status.Outcome.OPEN;
        Lease lease = first.mutex(JOB).acquire();
        RequestMatch record = RequestMatch.multi().butHeartbeats();
        Fault strange = open ? proxy.answerWith(record, 1, code) : proxy.refuseRequest(record, 1, code);
        LockException told = assertThrows(
                LockException.class, () -> days(MIDNIGHT).atMostOnce(lease, turn -> done.add(turn.period())));
        var unused = strange.await(LONG_SESSION);
        assertEquals(!open, told.getMessage().contains("Nothing is recorded"), told.getMessage());
        assertEquals(open, told instanceof LockServiceUnavailableException, told.toString());
        assertEquals(
                code == KeeperException.Code.QUOTAEXCEEDED,
                told.reason() == LockException.Reason.QUOTA_EXCEEDED,
                told.toString());
        lease.close();
        assertEquals(open ? Optional.of(MIDNIGHT) : Optional.empty(), last());
        assertEquals(List.of(), done);
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void workIsDone_whenTheServerThrottlesTheReadAndTheRecord(Mode mode) throws Exception {
        RequestMatch read = RequestMatch.getData().under(RECORD);
        for (RequestMatch each : List.of(read, RequestMatch.multi().path("of the record", RECORD::equals))) {
            for (int number = 1; number <= 2; number++) {
                var unused = proxy.refuseRequest(each, number, KeeperException.Code.THROTTLEDOP);
            }
        }
        assertTrue(run(first, mode, days(MIDNIGHT)));
        assertEquals(List.of(MIDNIGHT), done);
        assertEquals(Optional.of(MIDNIGHT), last());
    }

    /** ZooKeeper's client answers what it still has to send by the end of the session, which is no refusal. */
    @Test
    void itIsUnknownWhetherThePeriodIsRecorded_whenTheSessionEndsBeforeTheAnswer() throws Exception {
        @SuppressWarnings("try") // of its close, which may be interrupted
        ZooKeeper ending = new ZooKeeper(server().connectString(), (int) LONG_SESSION.toMillis(), event -> {}) {
            @Override
            public List<OpResult> multi(Iterable<Op> ops) throws InterruptedException, KeeperException {
                close();
                return super.multi(ops);
            }
        };
        try (ZkLockClient borrower = borrowing(ending)) {
            LeaseLostException lost =
                    assertThrows(LeaseLostException.class, () -> run(borrower, Mode.AT_LEAST_ONCE, days(MIDNIGHT)));
            assertInstanceOf(LockServiceUnavailableException.class, lost.getCause());
        }
        assertEquals(List.of(MIDNIGHT), done);
        assertEquals(Optional.empty(), last());
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void workIsNotDone_whenTheAnswerAboutTheLastPeriodIsLost(Mode mode) throws Exception {
        assertTrue(run(second, mode, days(MIDNIGHT)));
        Lease lease = first.mutex(JOB).acquire();
        var unused = proxy.cutAfter(RequestMatch.getData().under(RECORD), 1);
        assertThrows(
                LockServiceUnavailableException.class,
                () -> mode.run(days(MIDNIGHT), lease, turn -> done.add(turn.period())));
        assertEquals(List.of(MIDNIGHT), done);
        lease.close();
    }

    @ParameterizedTest
    @EnumSource(Mode.class)
    void nothingIsRecorded_whenTheClientMayNotCreateTheRecord(Mode mode) throws Exception {
        ZooKeeper operator = handle();
        Lease lease = first.mutex(JOB).acquire();
        operator.setACL(
                "/jobs",
                Collections.singletonList(new ACL(Perms.ALL & ~Perms.CREATE, ZooDefs.Ids.ANYONE_ID_UNSAFE)),
                -1);
        AccessDeniedException denied = assertThrows(
                AccessDeniedException.class, () -> mode.run(days(MIDNIGHT), lease, turn -> done.add(turn.period())));
        assertTrue(denied.getMessage().contains(RECORD), denied.getMessage());
        assertEquals(mode == Mode.AT_MOST_ONCE ? List.of() : List.of(MIDNIGHT), done);
        operator.setACL("/jobs", ZooDefs.Ids.OPEN_ACL_UNSAFE, -1);
        lease.close();
        assertEquals(Optional.empty(), last());
    }

    /** Loses the transaction with the record, or the answer to it. */
    private void cutAtTheRecord(boolean applied) {
        RequestMatch record = RequestMatch.multi().butHeartbeats();
        var unused = applied ? proxy.cutAfter(record, 1) : proxy.cutBefore(record, 1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void effectInTheSameTransaction_isAppliedOnce(boolean applied) throws Exception {
        ZooKeeper operator = handle();
        makeNode("/balance", new byte[] {0});
        Op add = Op.setData("/balance", new byte[] {1}, 0);
        Lease lease = first.mutex(JOB).acquire();
        cutAtTheRecord(applied);
        assertThrows(KeeperException.ConnectionLossException.class, () -> days(MIDNIGHT)
                .atLeastOnce(lease, turn -> turn.guarded(add)));
        lease.close();
        boolean again = second.mutex(JOB).call(next -> days(MIDNIGHT).atLeastOnce(next, turn -> {
            assertEquals(1, turn.guarded(add).size());
            assertThrows(IllegalStateException.class, () -> turn.guarded(add));
        }));
        assertEquals(!applied, again);
        assertEquals(1, operator.exists("/balance", false).getVersion(), "one write");
        assertEquals(Optional.of(MIDNIGHT), last());
    }

    /** As work that only logs the error: the servers may have its effect or not, and the record says which. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void periodIsRecordedOnlyWithItsEffect_whenTheWorkGoesOnAfterALostAnswer(boolean applied) throws Exception {
        ZooKeeper operator = handle();
        makeNode("/balance", new byte[] {0});
        Op add = Op.setData("/balance", new byte[] {1}, 0);
        Lease lease = first.mutex(JOB).acquire();
        cutAtTheRecord(applied);
        boolean ran = days(MIDNIGHT).atLeastOnce(lease, turn -> {
            assertThrows(KeeperException.ConnectionLossException.class, () -> turn.guarded(add));
        });
        assertTrue(ran);
        lease.close();
        assertEquals(applied ? Optional.of(MIDNIGHT) : Optional.empty(), last());
        assertEquals(applied ? 1 : 0, operator.exists("/balance", false).getVersion(), "writes of the effect");
    }

    /** The servers have the write and the record together, so to record again would be refused. */
    @Test
    void nothingElseIsRecorded_whenTheWorkGoesOnAfterAnInterruptedWrite() throws Exception {
        makeNode("/balance", new byte[] {0});
        boolean ran = first.mutex(JOB).call(lease -> days(MIDNIGHT).atLeastOnce(lease, turn -> {
            HeldFrames answers = proxy.holdAnswers(RequestMatch.multi().butHeartbeats());
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, () -> turn.guarded(Op.setData("/balance", new byte[] {1}, 0)));
            answers.close();
        }));
        assertTrue(ran);
        assertEquals(Optional.of(MIDNIGHT), last());
    }

    @Test
    void nothingElseIsRecorded_whenTheWorkGoesOnAfterALossThatItsWriteHasFound() throws Exception {
        boolean ran = first.mutex(JOB)
                .call(OnLoss.IGNORE, lease -> days(MIDNIGHT).atLeastOnce(lease, turn -> {
                    evictHolder();
                    assertThrows(LeaseLostException.class, turn::guarded);
                }));
        assertTrue(ran);
        assertEquals(Optional.empty(), last());
    }

    @Test
    void nothingIsRecorded_whenAnEffectIsRefused() throws Exception {
        assertThrows(
                KeeperException.NoNodeException.class, () -> first.mutex(JOB).run(lease -> days(MIDNIGHT)
                        .atLeastOnce(lease, turn -> turn.guarded(Op.setData("/missing", new byte[0], -1)))));
        assertEquals(Optional.empty(), last());
    }

    @Test
    void periodIsRecorded_whenTheWorkGoesOnAfterARefusedEffect() throws Exception {
        Op missing = Op.setData("/missing", new byte[0], -1);
        boolean ran = first.mutex(JOB).call(lease -> days(MIDNIGHT).atLeastOnce(lease, turn -> {
            assertThrows(KeeperException.NoNodeException.class, () -> turn.guarded(missing));
            assertThrows(IllegalArgumentException.class, () -> turn.guarded(Op.setData("no path", new byte[0], -1)));
            assertThrows(KeeperException.NoNodeException.class, () -> turn.guarded(missing), "not recorded yet");
        }));
        assertTrue(ran);
        assertEquals(Optional.of(MIDNIGHT), last());
    }

    // ---- arguments

    /** Any bytes, and times that no clock shows: all are errors of the lock, and nothing is done. */
    @Test
    void recordOfAnotherIsATypedError() throws Exception {
        ZooKeeper operator = handle();
        makeNode("/jobs");
        makeNode(RECORD);
        List<byte[]> records = new ArrayList<>();
        for (String text : List.of(
                "",
                "?",
                "latchkey-period/1 yesterday",
                "latchkey-period/1 ",
                "latchkey-period/1 +1000000000-12-31T23:59:59.999999999Z",
                "latchkey-period/1 -1000000000-01-01T00:00:00Z",
                "latchkey-period/1 +10000-01-01T00:00:00Z",
                "latchkey-period/1 +99999999999-01-01T00:00:00Z",
                "latchkey-period/1 2026-13-01T00:00:00Z",
                "latchkey-period/1 2026-11-24T00:00:00Z\n",
                "latchkey-period/1 2026-11-24",
                "latchkey-period/2 2026-11-24T00:00:00Z")) {
            records.add(text.getBytes(StandardCharsets.UTF_8));
        }
        Random random = new Random(1);
        for (int i = 0; i < 100; i++) {
            byte[] any = new byte[random.nextInt(40)];
            random.nextBytes(any);
            records.add(any);
        }
        for (byte[] record : records) {
            operator.setData(RECORD, record, -1);
            first.mutex(JOB).run(lease -> {
                for (OncePerPeriod periods : List.of(days(MIDNIGHT), OncePerPeriod.interval(DAY))) {
                    for (Mode mode : Mode.values()) {
                        LockException unknown = assertThrows(
                                LockException.class, () -> mode.run(periods, lease, turn -> done.add(turn.period())));
                        assertTrue(unknown.getMessage().contains(RECORD), unknown.getMessage());
                    }
                    assertThrows(LockException.class, () -> periods.last(lease));
                }
            });
        }
        assertEquals(List.of(), done);
        operator.delete(RECORD, -1);
        assertThrows(IllegalStateException.class, () -> run(first, Mode.AT_LEAST_ONCE, days(Instant.MAX)));
        assertThrows(IllegalStateException.class, () -> run(first, Mode.AT_LEAST_ONCE, days(Instant.MIN)));
    }

    @Test
    void badArguments_areRefusedBeforeTheWork() throws Exception {
        Duration shortest = Duration.ofMillis(1);
        Duration longest = Duration.ofDays(36_525);
        var unused = List.of(OncePerPeriod.calendar(shortest), OncePerPeriod.interval(longest));
        for (Duration length : List.of(
                Duration.ZERO,
                DAY.negated(),
                shortest.minusNanos(1),
                shortest.plusNanos(500_000),
                DAY.plusNanos(1),
                longest.plusNanos(1))) {
            assertThrows(IllegalArgumentException.class, () -> OncePerPeriod.calendar(length));
            assertThrows(IllegalArgumentException.class, () -> OncePerPeriod.interval(length));
        }
        OncePerPeriod days = days(MIDNIGHT);
        List<Lease> unfit = List.of(
                first.readWriteLock("/rw").readLock().acquire(),
                first.semaphore("/s", 2).acquire(),
                first.multiLock(first.mutex("/a"), first.mutex("/b")).acquire());
        for (Lease lease : unfit) {
            assertThrows(IllegalArgumentException.class, () -> days.atMostOnce(lease, turn -> done.add(turn.period())));
            lease.close();
        }
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            Lease simulated = locks.client().mutex("/a").acquire();
            assertThrows(IllegalArgumentException.class, () -> days.last(simulated));
            assertThrows(IllegalArgumentException.class, () -> ZkLocks.guarded(simulated));
        }
        Lease released = first.mutex(JOB).acquire();
        released.close();
        assertThrows(IllegalStateException.class, () -> days.atLeastOnce(released, turn -> done.add(turn.period())));
        assertThrows(NullPointerException.class, () -> days.atLeastOnce(released, null));
        assertThrows(NullPointerException.class, () -> days.atMostOnce(released, null));
        assertEquals(List.of(), done);
    }
}
