// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LossCause;
import io.latchkey.testkit.LiveObjects;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Heartbeats and watches of an engine, in moments that no server can be held in. */
@Timeout(30)
class HeartbeatTest extends OnSimulatedServer {
    private static final Duration LATE = SESSION.dividedBy(4);

    /** The executor is not kept for all of a beat over thousands of nodes. */
    @Test
    void otherTasksRunBetweenTheParts_whenABeatHasSeveral() throws Exception {
        List<String> order = new ArrayList<>();
        List<Client> clients = new ArrayList<>();
        Client client = new Client(0, checks -> {
            order.add("part of " + checks.size());
            clients.get(0).engine.context().execute(() -> order.add("other"));
        });
        clients.add(client);
        for (int i = 0; i < 1_200; i++) {
            client.acquire("/many/" + i).ensureValid();
        }
        BoundedLoop.until(() -> !order.isEmpty(), leader.time()::runNext);
        assertEquals(List.of("part of 500", "other", "part of 500", "other", "part of 200", "other"), order);
    }

    /** A transaction of 500 such checks would fit no packet, and break the connection each time. */
    @Test
    void beatHasSeveralParts_whenItsPathsAreLong() throws Exception {
        List<Integer> parts = new ArrayList<>();
        Client client = new Client(
                0,
                checks -> parts.add(checks.stream()
                        .mapToInt(
                                check -> ((ZnodeStore.Write.Check) check).path().length())
                        .sum()));
        String name = "/" + "x".repeat(2_500);
        for (int i = 0; i < 150; i++) {
            client.acquire(name + i).ensureValid();
        }
        BoundedLoop.until(() -> !parts.isEmpty(), leader.time()::runNext);
        assertEquals(2, parts.size(), parts::toString);
        assertTrue(parts.stream().allMatch(bytes -> bytes <= 250_000), parts::toString);
    }

    /**
     * Bytes count what a beat walks over, whatever else the machine does; the time is printed for the figures in
     * docs/archive/testing-record.md.
     */
    @ParameterizedTest
    @Tag("once")
    @CsvSource({"500, 0", "500, 9000", "10000, 0"})
    void calmBeatCosts500Checks_whateverIsHeldOrWasUsed(int held, int used) throws Exception {
        List<Integer> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(checks.size()));
        useAndRelease(client, used);
        List<CompletableFuture<Optional<ZkLease>>> asked = new ArrayList<>();
        for (int i = 0; i < held; i++) {
            asked.add(client.asks("/held/" + i));
        }
        client.settle();
        // A thousand nodes a beat are left to watches.
        steps(client, SESSION.multipliedBy(3));
        beats.clear();

        Steps calm = steps(client, SESSION);

        System.out.printf(
                Locale.ROOT,
                "%d locks held, %d paths used before: %d beats of %s checks; longest step %.2f ms of the processor, %d bytes%n",
                held,
                used,
                beats.size(),
                Set.copyOf(beats),
                calm.nanos() / 1e6,
                calm.bytes());
        assertEquals(List.of(500, 500, 500, 500, 500, 500), beats);
        assertTrue(calm.bytes() < 200_000, () -> calm.bytes() + " bytes");
        for (CompletableFuture<Optional<ZkLease>> each : asked) {
            granted(each).ensureValid();
        }
    }

    /** Else a client whose paths are named by its work would keep all that it ever used. */
    @Test
    @Tag("once")
    void unusedPathsAreForgotten_beyondTenThousand() throws Exception {
        String queue = "io.latchkey.zk.internal.path.SessionQueue";
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/held");
        // JUnit may keep the instance of the test before, and its client with it.
        long before = LiveObjects.count(queue::equals).getOrDefault(queue, 0L);
        useAndRelease(client, 11_000);
        long known = LiveObjects.count(queue::equals).getOrDefault(queue, 0L) - before;
        assertTrue(known < 10_500, () -> known + " paths");
        held.ensureValid();
    }

    /**
     * Its requests hand over to each other without waiting for the server. On a borrowed handle the close waits for the
     * deletion of a node that was created for a caller that had given up.
     */
    @Test
    @Tag("once")
    void pathInUseIsKept_whenTenThousandOthersAreKnown() throws Exception {
        Client client = new Client(0, checks -> {}, true);
        moveTo(leader.time().nanos() + SESSION.dividedBy(3).toNanos());
        useAndRelease(client, 10_000);
        ZkLease held = client.acquire("/held");
        CompletableFuture<Optional<ZkLease>> givenUp = client.asksAndSettles("/held");
        assertTrue(givenUp.cancel(false));
        client.settle();
        CompletableFuture<Optional<ZkLease>> next = client.asksAndSettles("/held");
        var unused = held.releaseAsync();
        assertTrue(next.isDone(), "it waits for the server");

        client.settle();
        assertTrue(client.asks("/used/0").cancel(false));
        client.settleUntilNext(RequestMatch.delete().under("/used/0"));
        client.store().throttleNextRequest();
        granted(next).abandon();
        client.settle();
        CompletableFuture<Boolean> closed = client.closes();
        client.settle();
        assertEquals(1, queueUnder("/used/0").size(), "the server has refused to delete it");
        assertFalse(closed.isDone(), "its node is there");
        steps(client, SESSION.dividedBy(2));
        assertTrue(closed.isDone());
        assertEquals(List.of(), queueUnder("/used/0"));
    }

    /** An earlier one would be the second half of no pair. */
    @Test
    void firstBeatOnANewConnectionComesAMarginAfterTheBarrier() throws Exception {
        List<Long> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(leader.time().nanos()));
        client.acquire("/m").ensureValid();
        client.cut();
        client.settle();
        beats.clear();
        long barrier = leader.time().nanos();
        var unused = steps(client, SESSION.dividedBy(2));
        assertEquals(SESSION.dividedBy(4).toNanos(), beats.get(0) - barrier);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT6S", "PT24S"})
    void beatsAndLeasesFollowTheGrantedTimeout_whenTheServersChangeIt(Duration granted) throws Exception {
        List<Long> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(leader.time().nanos()));
        ZkLease held = client.acquire("/m");
        client.listener().disconnected();
        client.listener().connected((int) granted.toMillis(), Optional.empty());
        var unused = steps(client, granted.multipliedBy(2));
        int last = beats.size() - 1;
        assertEquals(granted.dividedBy(6).toNanos(), beats.get(last) - beats.get(last - 1));
        Duration left = held.remaining();
        assertTrue(left.compareTo(granted.dividedBy(2)) > 0 && left.compareTo(granted) < 0, left::toString);
    }

    /** With a fixed number of watches in a beat the checks until then would grow with the square of the locks. */
    @Test
    @Tag("once")
    void nodesAreCheckedAFewTimesBeforeTheyAreWatched_howeverManyAreHeld() throws Exception {
        int held = 20_000;
        List<Integer> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(checks.size()));
        for (int i = 0; i < held; i++) {
            var unused = client.asks("/held/" + i);
        }
        client.settle();
        steps(client, SESSION.multipliedBy(4));
        int checks = beats.stream().mapToInt(Integer::intValue).sum();
        assertEquals(500, beats.get(beats.size() - 1), "calm");
        assertTrue(checks < 5 * held, () -> checks + " checks of " + held + " nodes");
    }

    /** A failed transaction names one node only. */
    @Test
    void allDeletedNodesAreReported_whenOneHeartbeatFails() throws Exception {
        List<Integer> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(checks.size()));
        List<ZkLease> held = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            held.add(client.acquire("/robbed/" + i));
        }
        List<ZkLease> robbed = held.subList(3, 40);
        robbed.forEach(lease -> leader.delete(lease.nodePaths().get(0)));
        BoundedLoop.until(() -> !beats.isEmpty(), leader.time()::runNext);
        client.settle();
        assertEquals(List.of(), robbed.stream().filter(ZkLease::isValid).toList());
        held.subList(0, 3).forEach(ZkLease::ensureValid);
        assertEquals(List.of(40), beats);
    }

    @Test
    void allDeletedNodesAreReported_whenTheResponseThatNamesThemIsLost() throws Exception {
        Client client = new Client(0, checks -> {});
        List<ZkLease> robbed = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            robbed.add(client.acquire("/robbed/" + i));
        }
        robbed.forEach(lease -> leader.delete(lease.nodePaths().get(0)));
        BoundedLoop.until(() -> !robbed.stream().allMatch(ZkLease::isValid), () -> {
            if (!client.step(server)) {
                leader.time().runNext();
            }
        });
        // The heartbeat has named one; the others are asked for.
        client.loseTheAnswer();
        client.settle();
        var unused = steps(client, SESSION.dividedBy(2));
        assertEquals(
                List.of(LossCause.NODE_DELETED, LossCause.NODE_DELETED, LossCause.NODE_DELETED),
                robbed.stream()
                        .map(lease -> lease.lost().toCompletableFuture().getNow(null))
                        .toList());
    }

    /** The request for the watch on its own node is lost. No heartbeat comes before the end of the test. */
    @Test
    void evictedHolderLearnsAtOnce_whenItsWatchWasLost() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        CompletableFuture<LossCause> lost = held.lost().toCompletableFuture();
        client.cut();
        client.settle();
        leader.delete(held.nodePaths().get(0));
        client.settle();
        assertEquals(LossCause.NODE_DELETED, lost.getNow(null));
    }

    /** No heartbeat comes before the end of the test. The node by which others ask it goes with the lease. */
    @Test
    void evictedHolderLearnsAtOnce_whenItListensToReleaseRequestsAlone() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        var unused = held.releaseRequested();
        client.settle();
        assertEquals(2, queueUnder("/m").size());
        leader.delete(held.nodePaths().get(0));
        client.settle();
        assertFalse(held.isValid());
        assertEquals(List.of(), queueUnder("/m"));
    }

    /**
     * The second deletion is reported right after the first, so it is checked a moment later, and by then that holder
     * has released. No heartbeat comes before the end of the test.
     */
    @Test
    void evictedHolderLearnsAtOnce_afterOneThatReleased() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease first = client.acquire("/a");
        ZkLease second = client.acquire("/b");
        ZkLease third = client.acquire("/c");
        CompletableFuture<LossCause> firstLost = first.lost().toCompletableFuture();
        var unused = second.lost();
        CompletableFuture<LossCause> thirdLost = third.lost().toCompletableFuture();
        client.settle();
        leader.delete(first.nodePaths().get(0));
        client.settle();
        assertEquals(LossCause.NODE_DELETED, firstLost.getNow(null));
        leader.delete(second.nodePaths().get(0));
        client.settle();
        var unused2 = second.releaseAsync();
        client.settle();
        steps(client, SESSION.dividedBy(12));

        leader.delete(third.nodePaths().get(0));
        client.settle();
        assertEquals(LossCause.NODE_DELETED, thirdLost.getNow(null));
    }

    /**
     * The first deletion is checked at once, and those that are reported before the response together, a moment later.
     * No heartbeat comes before the end of the test.
     */
    @Test
    void evictedHoldersLearnAtOnce_whenTheirNodesAreDeletedTogether() throws Exception {
        Client client = new Client(0, checks -> {});
        List<String> nodes = new ArrayList<>();
        List<CompletableFuture<LossCause>> lost = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            ZkLease held = client.acquire("/held/" + i);
            nodes.add(held.nodePaths().get(0));
            lost.add(held.lost().toCompletableFuture());
        }
        client.settle();
        nodes.subList(0, 3).forEach(leader::delete);
        client.settle();
        steps(client, SESSION.dividedBy(12));
        assertEquals(
                List.of(LossCause.NODE_DELETED, LossCause.NODE_DELETED, LossCause.NODE_DELETED),
                lost.subList(0, 3).stream().map(each -> each.getNow(null)).toList());

        leader.delete(nodes.get(3));
        client.settle();
        assertEquals(LossCause.NODE_DELETED, lost.get(3).getNow(null));
    }

    /** One node more than a part of a heartbeat has. No heartbeat comes after its deletion. */
    @Test
    void evictedHolderLearnsAtOnce_whenItsNodeIsLeftToAWatch() throws Exception {
        Client client = new Client(0, checks -> {});
        List<ZkLease> held = new ArrayList<>();
        for (int i = 0; i < 501; i++) {
            held.add(client.acquire("/held/" + i));
        }
        steps(client, SESSION.dividedBy(2));
        ZkLease last = held.get(500);
        last.ensureValid();
        leader.delete(last.nodePaths().get(0));
        client.settle();
        assertFalse(last.isValid());
        held.subList(0, 500).forEach(ZkLease::ensureValid);
    }

    @Test
    void heartbeatsStop_whenTheLastNodeIsGone() throws Exception {
        List<Integer> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(checks.size()));
        client.use("/m");
        steps(client, SESSION);
        beats.clear();
        steps(client, SESSION);
        assertEquals(List.of(), beats);
    }

    /** Each of its nodes begins the heartbeats, unless they run. */
    @Test
    void deletedNodeIsReported_whenItsClientAcquiresOtherLocksAllTheTime() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        leader.delete(held.nodePaths().get(0));
        for (int i = 0; i < 6; i++) {
            steps(client, SESSION.dividedBy(12));
            client.use("/other");
        }
        assertEquals(LossCause.NODE_DELETED, held.lost().toCompletableFuture().getNow(null));
    }

    /**
     * The lease waited for a proof, no connection is reported lost after that, and the holder looks at nothing: only
     * the timer of the deadline can report the loss.
     */
    @Test
    void lossIsReported_whenTheFirstHolderOnABorrowedHandleIsCutOffWithoutNotice() throws Exception {
        Client borrower = new Client(0, checks -> {}, true);
        CompletableFuture<Optional<ZkLease>> asked = borrower.asksAndSettles("/m");
        assertFalse(asked.isDone(), "granted without a proof");
        steps(borrower, SESSION.dividedBy(2));
        CompletableFuture<LossCause> lost = granted(asked).lost().toCompletableFuture();
        borrower.settle();
        borrower.store().silence();
        steps(borrower, SESSION);
        assertEquals(LossCause.DEADLINE_PASSED, lost.getNow(null));
    }

    /** The timer of the deadline was set for the first one, and heartbeats have moved that on ever since. */
    @Test
    void lossIsReported_whenAHolderOfManyHeartbeatsIsCutOffWithoutNotice() throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<LossCause> lost = client.acquire("/m").lost().toCompletableFuture();
        client.settle();
        steps(client, SESSION.multipliedBy(2));
        assertFalse(lost.isDone());
        client.store().silence();
        steps(client, SESSION);
        assertEquals(LossCause.DEADLINE_PASSED, lost.getNow(null));
    }

    /** As a request that is repeated, behind a heartbeat or behind the barrier of a new connection. */
    @Test
    void taskRunsOnce_whateverItHasWaitedFor() throws Exception {
        Client client = new Client(0, checks -> {});
        client.acquire("/m").ensureValid();
        Session session = client.engine
                .queries()
                .<Session>inSession((present, then) -> then.complete(present))
                .getNow(null);
        List<String> ran = new ArrayList<>();
        client.engine.context().execute(() -> session.heartbeat().afterBeat(() -> ran.add("behind a heartbeat")));
        steps(client, SESSION);
        assertEquals(List.of("behind a heartbeat"), ran);

        client.cut();
        client.store().takeMessage();
        client.engine.context().execute(() -> session.heartbeat().afterBeat(() -> ran.add("behind a barrier")));
        assertEquals(1, ran.size(), "no connection is there");
        client.settle();
        client.cut();
        client.settle();
        assertEquals(List.of("behind a heartbeat", "behind a barrier"), ran);
    }

    /** Its heartbeats have stopped by then. */
    @Test
    void taskRuns_whenItsClientHasNoNode() throws Exception {
        Client client = new Client(0, checks -> {});
        client.use("/m");
        steps(client, SESSION);
        Session session = client.engine
                .queries()
                .<Session>inSession((present, then) -> then.complete(present))
                .getNow(null);
        List<String> ran = new ArrayList<>();
        client.engine.context().execute(() -> session.heartbeat().afterBeat(() -> ran.add("task")));
        var unused = steps(client, SESSION.dividedBy(2));
        assertEquals(List.of("task"), ran);
    }

    /** The leader starts the session's time again at the reconnect. */
    @Test
    void leaseHasHalfASessionAtOnce_afterALongOutage() throws Exception {
        Client client = new Client(0, checks -> {});
        client.use("/m");
        client.cut();
        moveTo(leader.time().nanos() + SESSION.multipliedBy(9).dividedBy(10).toNanos());
        client.settle();
        Duration left = client.acquire("/m").remaining();
        assertTrue(left.compareTo(SESSION.dividedBy(2)) > 0, left::toString);
    }

    /** The handle tells no time of its attempt, so the time of the loss counts: the session lived after that. */
    @Test
    void leaseCountsFromTheLossOfTheFormerConnection_whenTheAttemptIsUnknown() throws Exception {
        Client client = new Client(0, checks -> {});
        client.use("/m");
        steps(client, SESSION.multipliedBy(2));
        client.listener().disconnected();
        client.listener().connected((int) SESSION.toMillis(), Optional.empty());
        client.settle();
        CompletableFuture<Optional<ZkLease>> asked = client.asksAndSettles("/m");
        assertTrue(asked.isDone(), "it waits for the next heartbeat");
        Duration left = granted(asked).remaining();
        assertTrue(left.compareTo(SESSION.dividedBy(3)) > 0, left::toString);
    }

    /** The last beat proves that the leader has heard of the one but one before it, and counts from its request. */
    @Test
    void leaseIsNoLongerValid_whenResponsesAreLate() throws Exception {
        List<Long> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(leader.time().nanos()));
        ZkLease held = client.acquire("/m");
        for (int beat = 0; beat < 4; beat++) {
            int before = beat;
            BoundedLoop.until(() -> beats.size() > before, leader.time()::runNext);
            moveTo(beats.get(beat) + LATE.toNanos());
            client.settle();
        }
        assertEndsInASession(held, beats.get(1));
    }

    /** The same for the report of a new connection: the servers know the session from the attempt on. */
    @Test
    void leaseIsNoLongerValid_whenTheReportOfTheConnectionIsLate() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        long attempt = leader.time().nanos();
        client.cut();
        BoundedLoop.until(() -> client.store().isUp(), () -> client.step(server));
        moveTo(attempt + LATE.toNanos());
        client.settle();
        assertEndsInASession(held, attempt);
    }

    private static void useAndRelease(Client client, int paths) throws Exception {
        for (int i = 0; i < paths; i++) {
            client.use("/used/" + i);
        }
    }

    private void moveTo(long end) {
        SimulatedTime time = leader.time();
        while (time.hasNext() && time.nextAt() <= end) {
            time.runNext();
        }
        time.moveTo(end);
    }

    private void assertEndsInASession(ZkLease held, long proved) {
        Duration end = held.remaining().plusNanos(leader.time().nanos() - proved);
        assertTrue(held.isValid() && end.compareTo(SESSION) <= 0, end::toString);
    }

    /** The answer to its create comes so late that it proves nothing. The next heartbeat would come later. */
    @Test
    void requestIsConfirmedAtOnce_whenTheAnswerToItsCreateIsLate() throws Exception {
        Client client = new Client(0, checks -> {});
        client.use("/m");
        steps(client, SESSION);
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        client.store().takeRequest();
        moveTo(leader.time().nanos() + SESSION.dividedBy(3).toNanos());
        client.settle();
        assertTrue(asked.isDone(), "it waits for the next heartbeat");
        granted(asked).ensureValid();
    }

    /** All requests wait for its answer, however many nodes are held. */
    @Test
    void barrierOfANewConnectionChecksNoNode() throws Exception {
        List<List<ZnodeStore.Write>> beats = new ArrayList<>();
        Client client = new Client(0, beats::add);
        client.acquire("/m").ensureValid();
        client.cut();
        client.settle();
        assertEquals(Set.of(List.of(new ZnodeStore.Write.Check("/"))), Set.copyOf(beats));
    }

    /** The second new connection shows how many there are when nothing has waited. */
    @Test
    void noFurtherBeatIsSent_whenTheRequestThatWaitedForAProofWasGivenUp() throws Exception {
        List<Integer> beats = new ArrayList<>();
        Client borrower = new Client(0, checks -> beats.add(checks.size()), true);
        CompletableFuture<Optional<ZkLease>> asked = borrower.asksAndSettles("/m");
        assertTrue(asked.cancel(false), "granted without a proof");
        borrower.settle();
        List<Integer> counts = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            beats.clear();
            borrower.cut();
            borrower.settle();
            counts.add(beats.size());
        }
        assertEquals(counts.get(1), counts.get(0));
    }

    /** The barrier of the new connection proves that the session lives, and has checked no node. */
    @Test
    void requestIsGrantedAtOnce_whenItWaitsForAProofAndTheConnectionIsLost() throws Exception {
        Client borrower = new Client(0, checks -> {}, true);
        CompletableFuture<Optional<ZkLease>> asked = borrower.asksAndSettles("/m");
        assertFalse(asked.isDone(), "granted without a proof");
        moveTo(leader.time().nanos() + SESSION.dividedBy(3).toNanos());
        borrower.cut();
        borrower.settle();
        assertTrue(asked.isDone(), "it waits for the next heartbeat");
        granted(asked).ensureValid();
    }

    /**
     * Another client holds there, so a list is needed again. The barrier of the new connection is answered late, so
     * that the connection alone does not prove that leases would survive the loss of another one. Returns what the list
     * looks like on the wire.
     */
    private RequestMatch loseAListOf(Client client) throws Exception {
        RequestMatch list = loseAListOf(client, 1);
        delayTheBarrier(client);
        client.settle();
        return list;
    }

    private void delayTheBarrier(Client client) {
        client.settleUntilNext(RequestMatch.heartbeat());
        moveTo(leader.time().nanos() + SESSION.dividedBy(3).toNanos());
    }

    /** Returns what it looks like on the wire. */
    private RequestMatch loseAListOf(Client client, int times) throws Exception {
        new Client(1, checks -> {}).acquire("/m").ensureValid();
        // So many that the number of the own node does not say that the list is short.
        leader.tree().get("/m").creates = 1_000_000;
        var unused = client.asks("/m");
        RequestMatch list = RequestMatch.list().path("of the path", "/m"::equals);
        for (int i = 0; i < times; i++) {
            client.settleUntilNext(list);
            client.settleAnswers();
            client.cut();
        }
        return list;
    }

    /** No heartbeat leaves more, so the list does not wait for one. */
    @Test
    void listThatMayBreakTheConnectionIsSent_whenEveryHeartbeatIsAnsweredLate() throws Exception {
        List<Integer> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(checks.size()));
        client.acquire("/a").ensureValid();
        RequestMatch list = loseAListOf(client);
        List<WireRecord.Request> sent = new ArrayList<>();
        for (int i = 0; i < 6 && sent.isEmpty(); i++) {
            beats.clear();
            BoundedLoop.until(() -> !beats.isEmpty(), leader.time()::runNext);
            moveTo(leader.time().nanos()
                    + SESSION.multipliedBy(11).dividedBy(20).toNanos());
            sent.addAll(client.sent(list));
        }
        assertFalse(sent.isEmpty(), "no list");
    }

    /** The barrier is answered late, so the lease has no time for another reconnect. */
    @Test
    void listThatMayBreakTheConnectionWaits_whenALeaseHasLessThanHalfASession() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/a");
        RequestMatch list = loseAListOf(client, 1);
        delayTheBarrier(client);
        assertEquals(List.of(), client.sent(list));
        Duration left = held.remaining();
        assertTrue(held.isValid() && left.compareTo(SESSION.dividedBy(2)) < 0, left::toString);
    }

    /** More often than the margin after which a reconnect has its next heartbeat. */
    @Test
    void deletedNodeIsReported_whenTheConnectionIsLostRepeatedly() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        leader.delete(held.nodePaths().get(0));
        SimulatedTime time = leader.time();
        long end = time.nanos() + SESSION.toNanos();
        while (held.isValid() && time.nanos() < end) {
            client.cut();
            client.settle();
            time.moveTo(time.nanos() + SESSION.dividedBy(8).toNanos());
            client.settle();
        }
        assertEquals(LossCause.NODE_DELETED, held.lost().toCompletableFuture().getNow(null));
    }

    /** Nodes are checked right behind the barrier, as it is late, and before the downgrade is sent again. */
    @Test
    void downgradedLeaseIsKept_whenTheConnectionIsLostWithTheResponse() throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<ZkLease> read = client.acquire(Recipe.WRITE, "/m").downgrade(Recipe.READ);
        client.loseTheAnswer();
        assertTrue(client.step(server), "it learns of the loss");
        moveTo(leader.time().nanos() + SESSION.multipliedBy(5).dividedBy(12).toNanos());
        client.settle();
        read.get(5, TimeUnit.SECONDS).ensureValid();
    }

    /** A server checks that a node exists before it looks at rights. */
    @Test
    void leaseStaysValid_whenTheServerRefusesAHeartbeat() throws Exception {
        List<Integer> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(checks.size()));
        ZkLease held = client.acquire("/m");
        BoundedLoop.until(() -> !beats.isEmpty(), leader.time()::runNext);
        ZnodeStore.Refusal refusal = new ZnodeStore.Refusal(0, Status.NO_AUTH, "NOAUTH");
        client.store().peekRequest().refusal =
                Optional.of(Response.of(new ZnodeStore.TransactionResult(List.of(), Optional.of(refusal))));
        client.settle();
        held.ensureValid();
    }

    /** Its own node is left to a watch, so no heartbeat has a node to check. */
    @Test
    void leaseStaysValid_whenTheOthersWhoseNodesAreCheckedAreReleased() throws Exception {
        Client client = new Client(0, checks -> {});
        List<ZkLease> held = new ArrayList<>();
        for (int i = 0; i < 501; i++) {
            held.add(client.acquire("/held/" + i));
        }
        steps(client, SESSION.dividedBy(2));
        held.subList(0, 500).forEach(ZkLease::abandon);
        client.settle();
        steps(client, SESSION.multipliedBy(2));
        held.get(500).ensureValid();
    }

    /** Its own node is left to a watch, which is lost. The server refuses another one, and reports nothing. */
    @Test
    void leaseIsLost_whenItsNodeIsDeletedAfterItsWatch() throws Exception {
        Client client = new Client(0, checks -> {});
        List<ZkLease> held = new ArrayList<>();
        for (int i = 0; i < 501; i++) {
            held.add(client.acquire("/held/" + i));
        }
        steps(client, SESSION.dividedBy(2));
        ZkLease last = held.get(500);
        String node = last.nodePaths().get(0);
        client.listener().fired(node, ZnodeStore.Change.WATCH_REMOVED, -1);
        client.store().denyNextRequest();
        client.settle();
        leader.delete(node);
        client.settle();
        last.ensureValid();
        steps(client, SESSION.dividedBy(2));
        assertEquals(LossCause.NODE_DELETED, last.lost().toCompletableFuture().getNow(null));
    }

    /** Then a reconnect leaves the lease its time. */
    @Test
    void listThatMayBreakTheConnectionIsSent_behindTheFirstHeartbeatThatLeavesHalfASession() throws Exception {
        List<Integer> beats = new ArrayList<>();
        Client client = new Client(0, checks -> beats.add(checks.size()));
        client.acquire("/a").ensureValid();
        RequestMatch list = loseAListOf(client);
        beats.clear();
        client.settleUntilNext(list);
        assertEquals(List.of(2), beats, "one, of the nodes of the lease and of the waiter");
    }

    /**
     * As one that the quorum has lost, one that throttles, or one that fails. It is not asked again at once, and no new
     * connection is reported.
     */
    @ParameterizedTest
    @EnumSource(
            value = Status.class,
            names = {"READ_ONLY", "THROTTLED", "UNCLEAR", "OTHER"})
    void clientIsServed_afterAServerHasRefusedItsBarrier(Status refusal) throws Exception {
        Client client = new Client(0, checks -> {});
        client.acquire("/a").ensureValid();
        client.cut();
        for (int i = 0; i < 2; i++) {
            client.settleUntilNext(RequestMatch.heartbeat());
            if (refusal == Status.THROTTLED) {
                client.store().throttleNextRequest();
            } else {
                refuse(client, refusal);
            }
        }
        client.settle();
        steps(client, SESSION.dividedBy(12));
        client.acquire("/b").ensureValid();
    }

    private static void refuse(Client client, Status status) {
        client.store().peekRequest().refusal = Optional.of(Response.failed(status, status.name()));
        client.store().takeRequest();
    }

    /** After two lost lists the number of children is asked for first, which may show that the list is too long. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void listThatMayBreakTheConnectionIsNotSent_whenItsLengthIsNotRead(boolean isLost) throws Exception {
        Client client = new Client(0, checks -> {});
        RequestMatch list = loseAListOf(client, 2);
        RequestMatch length = RequestMatch.getData().path("of the path", "/m"::equals);
        client.settleUntilNext(length);
        if (isLost) {
            client.cut();
        } else {
            refuse(client, Status.READ_ONLY);
        }
        client.settleUntilNext(length.or(list));
        assertTrue(client.isNext(length));
    }

    /** The report of the connection is the first half of a pair, and the create is the second one. */
    @Test
    void requestIsGrantedAtOnce_aMarginAfterItsHandleWasBorrowed() throws Exception {
        Client borrower = new Client(0, checks -> {}, true);
        moveTo(leader.time().nanos() + SESSION.dividedBy(3).toNanos());
        borrower.acquire("/m").ensureValid();
    }
}
