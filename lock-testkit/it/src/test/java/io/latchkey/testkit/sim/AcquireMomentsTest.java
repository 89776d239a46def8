// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LockObserver.AcquireFailure;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.SessionState;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.AcquireFuture;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests of an engine between their create and their grant, in moments that no server can be held in. */
@Timeout(30)
class AcquireMomentsTest extends OnSimulatedServer {
    /** The read of a path that shows the number of its children. */
    private static final RequestMatch LENGTH =
            RequestMatch.getData().path("of a lock", path -> !path.contains("/write-"));

    /**
     * On a borrowed handle both wait for a proof. The beat that brings it fails and names one of them, or the barrier
     * of a new connection brings it and checks none of them.
     */
    @ParameterizedTest
    @CsvSource({"2, false", "1, true"})
    void requestsAreNotGrantedWithoutNodes_whenTheyWaitForAProof(int requests, boolean reconnects) throws Exception {
        List<String> paths = List.of("/a", "/b").subList(0, requests);
        Client borrower = new Client(0, checks -> {}, true);
        Client other = new Client(1, checks -> {});
        List<CompletableFuture<Optional<ZkLease>>> asked =
                paths.stream().map(borrower::asks).toList();
        borrower.settle();
        assertFalse(asked.stream().anyMatch(CompletableFuture::isDone), "granted without a proof");
        if (reconnects) {
            borrower.cut();
        }
        for (String path : paths) {
            leader.delete(queueUnder(path).get(0));
            other.acquire(path).ensureValid();
        }
        long end = leader.time().nanos() + SESSION.toNanos();
        while (leader.time().nanos() < end) {
            borrower.settle();
            other.settle();
            leader.time().runNext();
        }
        assertFalse(asked.stream().anyMatch(CompletableFuture::isDone), "the other client holds");
    }

    /** The heartbeat that brings the proof names one of the two nodes, and the answer that names the other is lost. */
    @Test
    void requestIsNotGrantedWithoutANode_whenTheAnswerThatNamesItIsLost() throws Exception {
        Client borrower = new Client(0, checks -> {}, true);
        Client other = new Client(1, checks -> {});
        List<CompletableFuture<Optional<ZkLease>>> asked = List.of(borrower.asks("/a"), borrower.asks("/b"));
        borrower.settle();
        assertFalse(asked.stream().anyMatch(CompletableFuture::isDone), "granted without a proof");
        for (String path : List.of("/a", "/b")) {
            leader.delete(queueUnder(path).get(0));
            other.acquire(path).ensureValid();
        }
        borrower.settleUntilNext(RequestMatch.op(WireRecord.Op.MULTI_READ));
        borrower.loseTheAnswer();
        borrower.settle();
        assertFalse(asked.get(1).isDone(), "granted without a node");
        steps(borrower, SESSION);
        assertFalse(asked.stream().anyMatch(CompletableFuture::isDone), "the other client holds");
    }

    /** Its caller may find in that moment that its time is over. */
    @Test
    void leaseIsNotGivenUp_ifItsCallerGetsIt() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease granted = client.acquire("/m");
        ClientContext context = client.engine.context();
        RequestEvents events = context.eventsOf(List.of(new LockTarget(Recipe.MUTEX, new LockPath("/m"))));
        List<String> happened = new ArrayList<>();
        AcquireFuture waits =
                new AcquireFuture(
                        context, events, new WaitPolicy.AtMost(Duration.ofMillis(1)), () -> happened.add("given up")) {
                    @Override
                    protected AcquireFailure endWithout() {
                        happened.add(answer(Optional.of(granted)) ? "granted" : "not granted");
                        return super.endWithout();
                    }
                };
        waits.open();
        assertEquals(Optional.of(granted), waits.await(true));
        assertEquals(List.of("granted"), happened);
    }

    /** The first member is ready, and an operator deletes its node before the list of the second one comes. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void multiLockIsNotGrantedWithoutANode_whenTheListOfItsOtherMemberIsLate(boolean throttled) throws Exception {
        Client client = new Client(0, checks -> {});
        Client other = new Client(1, checks -> {});
        other.use("/a");
        other.use("/b");
        RequestMatch listOfB = RequestMatch.list().path("of the second path", "/b"::equals);
        CompletableFuture<Optional<ZkLease>> asked = client.asks(Recipe.MUTEX, "/a", "/b");
        client.settleUntilNext(listOfB);
        if (throttled) {
            for (int times = 0; times < 6; times++) {
                client.settleUntilNext(listOfB);
                client.store().throttleNextRequest();
            }
            client.settleAnswers();
        } else {
            client.settleAnswers();
            client.cut();
        }
        assertFalse(asked.isDone());
        leader.delete(queueUnder("/a").get(0));
        ZkLease held = other.acquire("/a");
        client.settleUntilNext(listOfB);
        client.settle();
        assertFalse(asked.isDone() && held.isValid(), "two hold");
        var unused = held.releaseAsync();
        settleBoth(client, other);
        steps(client, SESSION);
        granted(asked).ensureValid();
    }

    /** The request for a watch may be what is lost. */
    @ParameterizedTest
    @MethodSource("stepsOfAnAcquire")
    void waiterIsGranted_whenItsConnectionIsLostOnTheWay(int before) throws Exception {
        Client holder = new Client(0, checks -> {});
        Client waiter = new Client(1, checks -> {});
        ZkLease held = holder.acquire("/m");
        CompletableFuture<Optional<ZkLease>> asked = waiter.asks("/m");
        steps(before, waiter, server);
        waiter.cut();
        waiter.settle();
        assertFalse(asked.isDone());
        var unused = held.releaseAsync();
        holder.settle();
        waiter.settle();
        assertTrue(asked.isDone(), "a waiter without a watch");
    }

    /**
     * ZooKeeper's client sets its watches again in packets of some 1,500. Between two of them the waiter's node is
     * deleted and the holder ahead releases: then the events of the release arrive before that of the deletion.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void releaseAheadIsNoGrant_beforeTheBarrierOfANewConnection(boolean marked) throws Exception {
        Client holder = new Client(0, checks -> {});
        Client waiter = new Client(1, checks -> {});
        Client next = new Client(2, checks -> {});
        ZkLease first = holder.acquire("/m");
        String ahead = first.nodePaths().get(0);
        CompletableFuture<Optional<ZkLease>> second = waiter.asksAndSettles("/m");
        CompletableFuture<Optional<ZkLease>> third = next.asksAndSettles("/m");
        String own = queueUnder("/m").get(1);

        leader.delete(own);
        var released = first.releaseAsync();
        holder.settle();
        next.settle();
        assertTrue(third.get(5, TimeUnit.SECONDS).isPresent());
        waiter.listener().disconnected();
        waiter.listener().connected((int) SESSION.toMillis(), Optional.empty());
        if (marked) {
            waiter.listener().fired(ahead, ZnodeStore.Change.DATA, 99);
        }
        waiter.listener().fired(ahead, ZnodeStore.Change.DELETED, 99);

        assertFalse(second.isDone(), "the third holds");
        assertTrue(released.toCompletableFuture().isDone());
    }

    /** Servers before 3.9 tell of changes without a number: a pair of events may then be of two transactions, too. */
    @ParameterizedTest
    @CsvSource({"-1, -1", "98, 99"})
    void markIsNoGrant_whenTheDeletionMayBeOfAnotherTransaction(long marked, long deleted) throws Exception {
        List<Client> clients =
                List.of(new Client(0, checks -> {}), new Client(1, checks -> {}), new Client(2, checks -> {}));
        List<CompletableFuture<Optional<ZkLease>>> asked = new ArrayList<>();
        for (Client client : clients) {
            asked.add(client.asksAndSettles("/m"));
        }
        String ahead = queueUnder("/m").get(1);
        clients.get(2).listener().fired(ahead, ZnodeStore.Change.DATA, marked);
        clients.get(2).listener().fired(ahead, ZnodeStore.Change.DELETED, deleted);
        clients.get(2).settle();

        assertTrue(asked.get(0).isDone());
        assertFalse(asked.get(2).isDone(), "the first holds");
    }

    /**
     * A server that lags behind does not show what is committed, until it has answered the barrier. That is sent late
     * where a heartbeat is on its way when the connection is lost.
     */
    @Test
    void lostCreateIsFound_whenTheServerLagsBehind() throws Exception {
        List<Integer> beats = new ArrayList<>();
        Client other = new Client(1, checks -> {});
        other.acquire("/held").ensureValid();
        Client client = new Client(0, checks -> beats.add(checks.size()));
        CompletableFuture<Optional<ZkLease>> waits = client.asksAndSettles("/held");
        var released = client.acquire("/m").releaseAsync();
        client.settle();
        assertTrue(released.toCompletableFuture().isDone());

        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        beats.clear();
        BoundedLoop.until(() -> !beats.isEmpty(), leader.time()::runNext);
        client.loseTheAnswer();
        List<String> created = queueUnder("/m");
        client.settleBehindALaggingServer();
        assertEquals(1, created.size());
        assertEquals(created, granted(asked).nodePaths());
        assertFalse(waits.isDone());
    }

    @Test
    void lostCreateIsFoundAgain_whenAnotherOneWasLostBefore() throws Exception {
        Client client = new Client(0, checks -> {});
        client.use("/m");
        for (int i = 0; i < 2; i++) {
            CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
            client.loseTheAnswer();
            List<String> created = queueUnder("/m");
            client.settle();
            assertTrue(asked.isDone(), "its create is looked for");
            ZkLease held = granted(asked);
            assertEquals(created, held.nodePaths());
            var released = held.releaseAsync();
            client.settle();
            assertEquals(ReleaseOutcome.RELEASED, released.toCompletableFuture().getNow(null));
        }
    }

    @Test
    void lostCreateIsFound_whenTheReadOfItsTokenIsLostToo() throws Exception {
        Client client = new Client(0, checks -> {});
        client.use("/m");
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        client.loseTheAnswer();
        List<String> created = queueUnder("/m");
        client.settleUntilNext(RequestMatch.getData().path("of the created node", created.get(0)::equals));
        client.loseTheAnswer();
        client.settle();
        assertEquals(created, granted(asked).nodePaths());
    }

    @Test
    void requestGoesOn_whenItsNodeIsDeletedBeforeItsTokenIsRead() throws Exception {
        Client client = new Client(0, checks -> {});
        client.use("/m");
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        client.loseTheAnswer();
        String created = queueUnder("/m").get(0);
        client.settleUntilNext(RequestMatch.getData().path("of the created node", created::equals));
        leader.delete(created);
        client.settle();
        assertEquals(queueUnder("/m"), granted(asked).nodePaths());
    }

    /**
     * The first server keeps the create, and carries it out when the session is back. By then the request was given up,
     * or goes on with other nodes.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void noNodeOfALateCreateIsLeft_whenItIsOfAMultiLock(boolean givenUp) throws Exception {
        Server second = new Server(leader);
        Client client = new Client(0, checks -> {});
        for (String path : List.of("/a", "/b")) {
            client.use(path);
        }
        CompletableFuture<Optional<ZkLease>> asked = client.asks(Recipe.MUTEX, "/a", "/b");
        client.cut();
        assertTrue(client.step(second), "it learns of the loss");
        if (givenUp) {
            asked.cancel(false);
        }
        BoundedLoop.all(() -> client.step(second));
        if (!givenUp) {
            granted(asked).abandon();
            BoundedLoop.all(() -> client.step(second));
        }
        client.cut();
        long before = leader.tree().zxid();
        client.settle();
        assertTrue(leader.tree().zxid() > before, "the create came");
        assertEquals(List.of(), queueUnder("/a"));
        assertEquals(List.of(), queueUnder("/b"));
    }

    /** The list of the first is on its way when the others come. */
    @Test
    void oneListServesAllRequests_thatComeWhileAnotherIsOnItsWay() throws Exception {
        Client client = new Client(0, checks -> {});
        client.acquire(Recipe.READ, "/rw").ensureValid();
        SimulatedStore store = client.store();
        long before = store.requests;
        List<CompletableFuture<Optional<ZkLease>>> asked = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            asked.add(client.asks(Recipe.READ, "/rw"));
        }
        client.settle();
        assertTrue(asked.stream().allMatch(CompletableFuture::isDone));
        assertEquals(10 + 2, store.requests - before);
    }

    /** The server tells of it in its answer to the watch: no event comes. */
    @ParameterizedTest
    @ValueSource(ints = {1, 20})
    void waiterForAPermitDecidesAgain_whenTheCapacityGrowsBeforeItsWatchIsSet(int declared) throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        holder.acquire(Recipe.semaphore(declared, declared), "/s").ensureValid();
        CompletableFuture<Optional<ZkLease>> asked = client.asks(Recipe.semaphore(declared, 1), "/s");
        client.settleUntilNext(RequestMatch.watching().path("of the path", "/s"::equals));
        resize("/s", PathData.semaphore(declared).resized(declared + 1));
        client.settle();
        assertTrue(asked.isDone(), "it waits for a change that came before");
    }

    /** One member was ready from the start, so no watch is on its node. It is gone when the other becomes ready. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void multiLockIsAskedForAgain_whenTheNodeOfItsReadyMemberIsGone(int ready) throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        Client next = new Client(2, checks -> {});
        String free = List.of("/a", "/b").get(ready);
        ZkLease held = holder.acquire(List.of("/a", "/b").get(1 - ready));
        CompletableFuture<Optional<ZkLease>> both = client.asksAndSettles(Recipe.MUTEX, "/a", "/b");
        leader.delete(queueUnder(free).get(0));
        ZkLease other = next.acquire(free);
        held.abandon();
        holder.settle();
        client.settle();
        assertFalse(both.isDone(), "the other client holds");

        other.abandon();
        next.settle();
        client.settle();
        List<String> nodes = granted(both).nodePaths();
        assertEquals(List.of(nodes.get(0)), queueUnder("/a"));
        assertEquals(List.of(nodes.get(1)), queueUnder("/b"));
    }

    /** The answer would have shown that the node of its first member is gone. */
    @Test
    void multiLockIsNotGranted_whenTheAnswerOfItsCheckIsLost() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        Client next = new Client(2, checks -> {});
        ZkLease held = holder.acquire("/b");
        CompletableFuture<Optional<ZkLease>> both = client.asksAndSettles(Recipe.MUTEX, "/a", "/b");
        held.abandon();
        holder.settle();
        client.settleUntilNext(RequestMatch.multi());
        leader.delete(queueUnder("/a").get(0));
        next.acquire("/a").ensureValid();
        client.loseTheAnswer();
        assertTrue(client.step(server), "it learns of the loss");
        assertFalse(both.isDone(), "the other client holds");
        client.settle();
        assertFalse(both.isDone(), "the other client holds");
    }

    /** The transaction names only the first node that it may not check. */
    @Test
    void multiLockIsNotGrantedWithoutANode_whenItMayNotCheckTheOther() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        Client next = new Client(2, checks -> {});
        ZkLease held = holder.acquire("/a");
        CompletableFuture<Optional<ZkLease>> both = client.asksAndSettles(Recipe.MUTEX, "/a", "/b");
        held.abandon();
        holder.settle();
        client.settleUntilNext(RequestMatch.multi());
        leader.delete(queueUnder("/b").get(0));
        ZkLease other = next.acquire("/b");
        client.store().denyNextRequest();
        client.settle();
        assertFalse(both.isDone(), "the other client holds");
        other.abandon();
        next.settle();
        client.settleUntilNext(RequestMatch.multi());
        client.store().denyNextRequest();
        client.settle();
        granted(both).ensureValid();
    }

    /** Its caller has gone without giving the request up, as on a stack that had no room left. */
    @Test
    void leaseIsReleased_whenNoCallerTakesIt() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        ZkLease held = holder.acquire("/m");
        CompletableFuture<Optional<ZkLease>> asked = client.asksAndSettles("/m");
        assertTrue(asked.completeExceptionally(new IllegalStateException("thrown by a test")));
        held.abandon();
        settleBoth(holder, client);
        assertEquals(List.of(), queueUnder("/m"));
    }

    /** The server has put the creation off. */
    @Test
    void nothingIsSent_whenTheCallerGivesUpBeforeItsCreationIsSentAgain() throws Exception {
        Client client = new Client(0, checks -> {});
        client.use("/m");
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        client.store().throttleNextRequest();
        client.settle();
        assertTrue(asked.cancel(false));
        SimulatedStore store = client.store();
        long before = store.requests;
        steps(client, SESSION.dividedBy(2));
        assertEquals(before, store.requests);
        assertEquals(List.of(), client.engine.requests());
    }

    /** It was to say which paths are missing. */
    @Test
    void nothingIsSentWithoutAConnection_whenTheLookAtMissingPathsIsLost() throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<Optional<ZkLease>> both = client.asks(Recipe.MUTEX, "/a/x", "/b/x");
        client.settleUntilNext(RequestMatch.op(WireRecord.Op.GET_DATA).path("of a level", "/a"::equals));
        SimulatedStore store = client.store();
        long before = store.requests;
        client.cut();
        client.settleAnswers();
        assertEquals(before + 1, store.requests, "more than the barrier");
        client.settle();
        granted(both).ensureValid();
    }

    /** It waits at both paths, and looks again when the request before it has left. */
    @Test
    void positionIsReportedOnce_howeverOftenARequestLooks() throws Exception {
        List<Integer> positions = new ArrayList<>();
        Client holder = new Client(0, checks -> {});
        Client leaving = new Client(1, checks -> {});
        Client client = new Client(2, new LockObserver() {
            @Override
            public void queued(Request request, int position) {
                positions.add(position);
            }
        });
        for (String path : List.of("/a", "/b")) {
            holder.acquire(path).ensureValid();
        }
        CompletableFuture<Optional<ZkLease>> ahead = leaving.asksAndSettles("/a");
        CompletableFuture<Optional<ZkLease>> both = client.asksAndSettles(Recipe.MUTEX, "/a", "/b");
        ahead.cancel(false);
        settleBoth(leaving, client);
        assertFalse(both.isDone());
        assertEquals(List.of(2), positions);
    }

    /** Until then the session, which goes on, may have a node of the closed client. */
    @ParameterizedTest
    @CsvSource({"true, false", "false, false", "false, true"})
    void borrowerIsClosed_onceItsLostCreateWasLookedFor(boolean applied, boolean pathIsGone) throws Exception {
        Client other = new Client(1, checks -> {});
        other.use("/m");
        Client borrower = new Client(0, checks -> {}, true);
        CompletableFuture<Optional<ZkLease>> asked = borrower.asks("/m");
        if (applied) {
            borrower.loseTheAnswer();
        } else {
            borrower.cut();
        }
        if (pathIsGone) {
            leader.delete("/m");
        }
        assertTrue(borrower.step(server), "it learns of the loss");
        CompletableFuture<Boolean> closed = borrower.closes();
        assertTrue(asked.isCompletedExceptionally());
        assertFalse(closed.isDone(), "its node may be there");
        borrower.settle();
        assertTrue(closed.isDone());
    }

    /** Servers delete an empty container sooner or later, but only one that has had a child. */
    @ParameterizedTest
    @MethodSource("stepsOfAnAcquire")
    void levelsOfAPathAreNotLeft_whenTheRequestIsGivenUp(int before) throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/x/y/z");
        steps(before, client, server);
        asked.cancel(false);
        client.settle();
        assertEquals(List.of(), client.engine.requests());
        BoundedLoop.until(() -> Nodes.deserted(leader.tree()).isEmpty(), () -> Nodes.deserted(leader.tree())
                .forEach(leader::delete));
        assertNull(leader.tree().find("/x"));
    }

    static IntStream stepsOfAnAcquire() {
        return IntStream.rangeClosed(0, 15);
    }

    @Test
    void requestFailsAndTheSessionIsClosed_whenTheServersRefuseALaterLogin() throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        client.listener().loginRefused();
        assertTrue(asked.isCompletedExceptionally());
        client.cut();
        client.settle();
        assertEquals(
                SessionState.CLOSED, client.engine.context().events().view().state());
    }

    @Test
    void requestFails_whenTheServerRefusesALevelAboveItsPath() throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/x/y");
        client.settleUntilNext(RequestMatch.create().path("of the level", "/x"::equals));
        client.store().refuseNextRequest();
        client.settle();
        assertFails(LockException.class, asked);
    }

    /** Of the levels above, a server deletes all but the last one by itself. */
    @Test
    void lastLevelOfAPathIsNotLeft_whenTheServerRefusesTheRequest() throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/x/y/z");
        BoundedLoop.until(() -> leader.tree().has("/x/y"), () -> client.step(server));
        client.settleUntilNext(RequestMatch.create().path("of the path", "/x/y/z"::equals));
        client.store().refuseNextRequest();
        client.settle();
        assertFails(LockException.class, asked);
        assertNull(leader.tree().find("/x/y"));
    }

    @Test
    void requestFailsAtOnce_whenTheNodeAboveItsPathIsEphemeral() throws Exception {
        Client client = new Client(0, checks -> {});
        long session = client.store().session();
        leader.commit(List.of(Tree.Effect.Created.of("/e", new byte[0], session)), 0);
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/e/m");
        steps(100, client, server);
        assertTrue(asked.isCompletedExceptionally(), "it asks again and again");
    }

    @Test
    void tryIsAnsweredAtOnce_whenAnotherClientHolds() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        holder.acquire("/m").ensureValid();
        CompletableFuture<Optional<ZkLease>> asked = client.engine.acquire(
                List.of(new LockTarget(Recipe.MUTEX, new LockPath("/m"))), new WaitPolicy.Never());
        client.settle();
        assertEquals(Optional.empty(), asked.getNow(null));
    }

    /** The server does not answer the deletion of its node any more. */
    @Test
    void tryHasItsAnswerInTime_whenItsWithdrawalHasNone() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        holder.acquire("/m").ensureValid();
        CompletableFuture<Optional<ZkLease>> asked = client.engine.acquire(
                List.of(new LockTarget(Recipe.MUTEX, new LockPath("/m"))), new WaitPolicy.Never());
        client.settleUntilNext(RequestMatch.multi());
        assertFalse(asked.isDone());
        BoundedLoop.until(asked::isDone, leader.time()::runNext);
        assertEquals(Optional.empty(), asked.getNow(null), "it has seen that another client holds");
    }

    /** It cannot be granted before both of the others. */
    @Test
    void thirdWaiterOfAClientAsksForNoList() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        holder.acquire("/m").ensureValid();
        for (int i = 0; i < 2; i++) {
            var unused = client.asksAndSettles("/m");
        }
        SimulatedStore store = client.store();
        long before = store.requests;
        var third = client.asksAndSettles("/m");
        assertEquals(before + 1, store.requests, "more than its create");
        assertFalse(third.isDone());
    }

    /** Its create was to be sent behind the barrier, and is not sent any more. */
    @Test
    void nothingIsCreated_whenTheCallerGivesUpAsTheConnectionIsThere() throws Exception {
        List<CompletableFuture<Optional<ZkLease>>> asked = new ArrayList<>();
        LockObserver caller = new LockObserver() {
            @Override
            public void sessionChanged(SessionState state) {
                asked.forEach(each -> each.cancel(false));
            }
        };
        Client client = new Client(0, caller);
        client.use("/m");
        client.cut();
        assertTrue(client.step(server), "it learns of the loss");
        asked.add(client.asks("/m"));
        client.settle();
        assertTrue(asked.get(0).isCancelled());
        assertEquals(List.of(), queueUnder("/m"));
    }

    /**
     * No answer shows that the list is too long: it is only lost each time. The first one is lost behind the create,
     * which the server answers first, so that one does not count.
     */
    @Test
    void requestFailsAndNothingMoreIsAskedFor_whenTheListBreaksTheConnectionEachTime() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        holder.acquire("/m").ensureValid();
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        client.loseTheAnswer();
        for (int lost = 1; lost <= 5; lost++) {
            client.settleUntilNext(RequestMatch.list().path("of the path", "/m"::equals));
            assertFalse(asked.isDone(), "failed by " + lost + " lists");
            client.cut();
        }
        client.settle();
        LockException told = assertFails(LockException.class, asked);
        assertEquals(LockException.Reason.QUEUE_TOO_LONG, told.reason(), told.getMessage());
        SimulatedStore store = client.store();
        long before = store.requests;
        steps(client, SESSION.dividedBy(2));
        assertEquals(before, store.requests, "the node of the lost create is not found by a list that is not sent");
    }

    /** The first of two readers leaves while the second one's list is on its way. */
    @Test
    void nodeAheadIsWatchedOnce_whenAFormerWatchIsBeingRemoved() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        String ahead = holder.acquire(Recipe.WRITE, "/rw").nodePaths().get(0);
        CompletableFuture<Optional<ZkLease>> first = client.asksAndSettles(Recipe.READ, "/rw");
        CompletableFuture<Optional<ZkLease>> second = client.asks(Recipe.READ, "/rw");
        client.settleUntilNext(RequestMatch.list().path("of the path", "/rw"::equals));
        client.store().takeRequest();
        assertTrue(first.cancel(false));
        List<WireRecord.Request> watches =
                client.sent(RequestMatch.watching().path("of the node ahead", ahead::equals));
        assertEquals(1, watches.size(), watches::toString);
        assertFalse(second.isDone());
    }

    /** The server answers it when the nodes of the session are deleted, and then breaks the connection. */
    @Test
    void leaseIsLostWithItsSession_whenAListShowsNoneOfItsNodes() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        CompletableFuture<Optional<ZkLease>> second = client.asks("/m");
        client.settleUntilNext(RequestMatch.list().path("of the path", "/m"::equals));
        queueUnder("/m").forEach(leader::delete);
        BoundedLoop.until(() -> !server.lags(), server::applyNext);
        SimulatedStore store = client.store();
        store.takeRequest();
        leader.closeSession(store.session());
        client.settle();
        assertEquals(
                LossCause.SESSION_EXPIRED, held.lost().toCompletableFuture().getNow(null));
        granted(second).ensureValid();
    }

    /** The list is read for the request behind it, of the same client. */
    @Test
    void waiterWithoutANodeIsNotGranted_whenAListShowsThatItHasNone() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        CompletableFuture<Optional<ZkLease>> deleted = client.asksAndSettles("/m");
        leader.delete(queueUnder("/m").get(1));
        CompletableFuture<Optional<ZkLease>> third = client.asksAndSettles("/m");
        var unused = held.releaseAsync();
        assertFalse(deleted.isDone(), "granted without a node");
        client.settle();
        assertTrue(third.isDone());
        assertFalse(deleted.isDone(), "its new node is behind the third");
    }

    /** Another client was granted in between, as after an eviction. The next heartbeat would find out, or the watch. */
    @ParameterizedTest
    @CsvSource({
        "WRITE, WRITE, false",
        "READ, WRITE, false",
        "WRITE, READ, false",
        "DOWNGRADED, WRITE, false",
        "WRITE, WRITE, true"
    })
    void holderWithoutANodeLoses_beforeTheNextOfItsClientIsGranted(String how, String next, boolean listens)
            throws Exception {
        Map<String, Recipe> recipes = Map.of("READ", Recipe.READ, "WRITE", Recipe.WRITE, "DOWNGRADED", Recipe.WRITE);
        Client client = new Client(0, checks -> {});
        Client other = new Client(1, checks -> {});
        ZkLease granted = client.acquire(recipes.get(how), "/m");
        CompletableFuture<ZkLease> held =
                how.equals("DOWNGRADED") ? granted.downgrade(Recipe.READ) : CompletableFuture.completedFuture(granted);
        client.settle();
        ZkLease holder = held.join();
        if (listens) {
            assertFalse(holder.lost().toCompletableFuture().isDone());
        }
        CompletableFuture<Optional<ZkLease>> between = other.asks(Recipe.WRITE, "/m");
        settleBoth(client, other);
        CompletableFuture<Optional<ZkLease>> second = client.asks(recipes.get(next), "/m");
        settleBoth(client, other);
        leader.delete(queueUnder("/m").get(0));
        other.settle();
        granted(between).abandon();
        other.settle();
        BoundedLoop.until(second::isDone, () -> assertTrue(client.step(server)));
        assertFalse(holder.isValid());
        assertTrue(granted(second).isValid());
    }

    /** Its node at one path is gone. The deletion of the other one waits for a heartbeat, and an operator is first. */
    @Test
    void newNodeOfAMultiLockKeepsItsPlace_whenItsFormerNodeIsDeletedByOthers() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        CompletableFuture<Optional<ZkLease>> held = holder.asksAndSettles(Recipe.WRITE, "/a", "/b");
        CompletableFuture<Optional<ZkLease>> both = client.asksAndSettles(Recipe.WRITE, "/a", "/b");
        String former = queueUnder("/b").get(1);
        leader.delete(queueUnder("/a").get(1));
        client.store().refuseWrites(1);
        client.settle();
        List<String> queue = queueUnder("/b");
        assertEquals(former, queue.get(1));
        leader.delete(former);
        var unused = client.asksAndSettles(Recipe.READ, "/b");
        assertEquals(List.of(queue.get(0), queue.get(2)), queueUnder("/b").subList(0, 2));
        granted(held).ensureValid();
        assertFalse(both.isDone());
    }

    /** Returns a client that knows the data of both paths: it reads their queues in one request. */
    private Client knowingBoth() throws Exception {
        Client client = new Client(0, checks -> {});
        for (String path : List.of("/a", "/b", "/a", "/b")) {
            client.use(path);
        }
        return client;
    }

    /** Loses the creates of requests at so many paths, which are then granted and released at {@code next}. */
    private void loseCreates(Client client, int paths, Server next) throws Exception {
        List<String> all = IntStream.range(0, paths).mapToObj(i -> "/lost/" + i).toList();
        for (String path : all) {
            client.acquire(path).abandon();
        }
        client.settle();
        List<CompletableFuture<Optional<ZkLease>>> asked =
                all.stream().map(client::asks).toList();
        client.cut();
        BoundedLoop.all(() -> client.step(next));
        for (CompletableFuture<Optional<ZkLease>> one : asked) {
            granted(one).abandon();
        }
        BoundedLoop.all(() -> client.step(next));
    }

    /** Returns the number of lists that the client sends after a reconnect to {@code at}, before time passes. */
    private static int listsAfterAReconnect(Client client, Server at) {
        client.cut();
        return client.sent(RequestMatch.list(), at).size();
    }

    /** That server was asked again behind its barrier, and showed no node. */
    @Test
    void lostCreatesAreForgotten_onceTheirServerHasAnsweredABarrier() throws Exception {
        Client client = new Client(0, checks -> {});
        loseCreates(client, 250, server);
        assertEquals(0, listsAfterAReconnect(client, server));
    }

    /** Another server may have sent its barrier ahead of what the first one still has. */
    @Test
    void lostCreatesAreLookedFor_untilTheClientIsBackAtTheirServer() throws Exception {
        Server second = new Server(leader);
        Client client = new Client(0, checks -> {});
        loseCreates(client, 50, second);
        assertEquals(50, listsAfterAReconnect(client, second));
        assertEquals(50, listsAfterAReconnect(client, server));
        assertEquals(0, listsAfterAReconnect(client, second));
        assertEquals(0, listsAfterAReconnect(client, server));
    }

    /** The server of a borrowed handle is not known, so its session looks on each connection. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void lostCreatesAreLookedForInParts_whereTheyAreMany(boolean reconnects) throws Exception {
        Server second = new Server(leader);
        Client client = new Client(0, checks -> {});
        loseCreates(client, 250, second);
        assertEquals(100, listsAfterAReconnect(client, second));
        if (reconnects) {
            assertEquals(100, listsAfterAReconnect(client, second));
        }
        List<Integer> parts = new ArrayList<>();
        long end = leader.time().nanos() + SESSION.toNanos();
        while (leader.time().nextAt() <= end) {
            leader.time().runNext();
            int lists = client.sent(RequestMatch.list(), second).size();
            if (lists > 0) {
                parts.add(lists);
            }
        }
        assertEquals(List.of(100, 50), parts);
    }

    private static CompletableFuture<Optional<ZkLease>> tries(Client client, String path) {
        return tries(client, Recipe.MUTEX, path);
    }

    private static CompletableFuture<Optional<ZkLease>> tries(Client client, Recipe recipe, String path) {
        return client.engine.acquire(List.of(new LockTarget(recipe, new LockPath(path))), new WaitPolicy.Never());
    }

    /** The former session is over, and the next one has no connection yet. */
    @Test
    void requestLeavesNothing_whenItIsCancelledBetweenTwoSessions() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        ZkLease held = holder.acquire("/m");
        CompletableFuture<Optional<ZkLease>> asked = client.asksAndSettles("/m");
        SimulatedStore former = client.store();
        leader.closeSession(former.session());
        BoundedLoop.until(() -> client.store() != former, () -> assertTrue(client.step(server)));
        assertEquals(1, client.engine.requests().size());
        assertTrue(asked.cancel(false));
        client.settle();
        assertEquals(held.nodePaths(), queueUnder("/m"));
        client.acquire("/free").ensureValid();
        assertEquals(1, client.engine.requests().size());
    }

    /** A look would cost a round trip. The grant in between is newer than what the first try has seen. */
    @Test
    void tryDoesNotLookFirst_whenAnotherRequestWasGrantedSinceOneWasBlocked() throws Exception {
        Client writer = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        ZkLease written = writer.acquire(Recipe.WRITE, "/rw");
        CompletableFuture<Optional<ZkLease>> blocked = tries(client, Recipe.READ, "/rw");
        client.settle();
        assertEquals(Optional.empty(), blocked.getNow(null));
        written.abandon();
        writer.settle();
        ZkLease read = client.acquire(Recipe.READ, "/rw");
        CompletableFuture<Optional<ZkLease>> next = tries(client, Recipe.READ, "/rw");
        assertTrue(client.isNext(RequestMatch.create()), "it looks first");
        client.settle();
        granted(next).ensureValid();
        read.ensureValid();
    }

    /** Its server has not heard that the holder has released, which was before the call. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void tryThatLooksFirstIsGranted_whenItsServerLags(boolean throttled) throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        ZkLease held = holder.acquire("/m");
        CompletableFuture<Optional<ZkLease>> first = tries(client, "/m");
        client.settle();
        assertEquals(Optional.empty(), first.getNow(null));
        held.abandon();
        holder.store().takeRequest();
        assertTrue(server.lags());
        CompletableFuture<Optional<ZkLease>> second = tries(client, "/m");
        if (throttled) {
            client.settleUntilNext(RequestMatch.op(WireRecord.Op.SYNC));
            client.store().throttleNextRequest();
        }
        client.settleBehindALaggingServer();
        granted(second).ensureValid();
    }

    /** No create was sent: neither a node nor a request without an end is left. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void tryThatLooksFirstEnds_whenItsConnectionIsLost(boolean cancelled) throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        holder.acquire("/m").ensureValid();
        var unused = tries(client, "/m");
        client.settle();
        CompletableFuture<Optional<ZkLease>> again = tries(client, "/m");
        client.settleUntilNext(RequestMatch.op(WireRecord.Op.SYNC));
        client.cut();
        if (cancelled) {
            assertTrue(again.cancel(false));
        }
        client.settle();
        assertTrue(again.isCancelled() || again.getNow(null).isEmpty());
        assertEquals(1, queueUnder("/m").size());
        assertEquals(List.of(), client.engine.requests());
    }

    /** They were short the last time, so the loss of one connection makes them no suspects. */
    @Test
    void listsOfAMultiLockAreSentAtOnceAndApart_whenTheyWereLostTogetherOnce() throws Exception {
        Client client = knowingBoth();
        ZkLease held = client.acquire("/held");
        CompletableFuture<Optional<ZkLease>> both = client.asks(Recipe.MUTEX, "/a", "/b");
        client.settleUntilNext(RequestMatch.op(WireRecord.Op.MULTI_READ));
        client.cut();
        assertEquals(
                List.of(), client.sent(RequestMatch.op(WireRecord.Op.MULTI_READ).or(LENGTH)));
        granted(both).ensureValid();
        held.ensureValid();
    }

    /** Paths of which nothing says that their lists are short, and no number that they are too long. */
    private List<String> longLists(int paths) throws Exception {
        List<String> all = IntStream.range(0, paths).mapToObj(i -> "/long" + i).toList();
        Client first = new Client(7, checks -> {});
        for (String path : all) {
            first.acquire(path).abandon();
            first.settle();
            String foreign = path + '/' + "x".repeat(300_000);
            leader.commit(List.of(Tree.Effect.Created.of(foreign, new byte[0], Tree.NO_OWNER)), 0);
            leader.tree().get(path).creates = 1_000_000;
        }
        first.settle();
        return all;
    }

    /**
     * A server answers in order. So no list behind a request without a response has broken the connection, however long
     * it is.
     */
    @Test
    void listsBehindTheFirstUnansweredRequest_areSentAgainAtOnce() throws Exception {
        List<String> paths = longLists(5);
        Client client = new Client(0, checks -> {});
        for (String path : paths) {
            client.acquire(path).abandon();
        }
        ZkLease held = client.acquire("/held");
        List<CompletableFuture<Optional<ZkLease>>> asked =
                paths.stream().map(client::asks).toList();
        client.loseTheAnswer();
        assertEquals(List.of(), client.sent(LENGTH));
        for (CompletableFuture<Optional<ZkLease>> one : asked) {
            assertTrue(one.isDone(), "no time passes, and it is not granted");
            granted(one).ensureValid();
        }
        held.ensureValid();
    }

    /** Its connection has just been made, which proves most of a session timeout: the lease survives another loss. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void listThatWasTheFirstUnansweredRequest_isSentAgainBehindItsLength_withoutAHeartbeat(boolean throttled)
            throws Exception {
        String path = longLists(1).get(0);
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/held");
        CompletableFuture<Optional<ZkLease>> asked = client.asks(path);
        RequestMatch list = RequestMatch.list().path("of the path", path::equals);
        for (int lost = 1; lost < 5; lost++) {
            client.settleUntilNext(list);
            if (throttled) {
                client.store().throttleNextRequest();
                client.settleUntilNext(list);
            }
            client.settleAnswers();
            client.cut();
            client.settleUntilNext(LENGTH.or(list));
            assertTrue(client.isNext(LENGTH), "asked for before its length is known");
            assertFalse(asked.isDone());
        }
        client.settle();
        assertTrue(asked.isDone(), "no time passes, and it is not granted");
        granted(asked).ensureValid();
        held.ensureValid();
    }

    /** Together they might fit no packet. */
    @Test
    void listsOfAMultiLockAreSentApart_whenOneOfThemIsLong() throws Exception {
        Client client = knowingBoth();
        String foreign = "/a/" + "x".repeat(300_000);
        leader.commit(List.of(Tree.Effect.Created.of(foreign, new byte[0], Tree.NO_OWNER)), 0);
        client.acquire("/a").abandon();
        client.settle();
        CompletableFuture<Optional<ZkLease>> both = client.asks(Recipe.MUTEX, "/a", "/b");
        assertEquals(List.of(), client.sent(RequestMatch.op(WireRecord.Op.MULTI_READ)));
        granted(both).ensureValid();
    }

    /** Another request has lost its list, and was given up. It may be too long, and breaks the connection again. */
    @Test
    void listsOfAMultiLockAreSentApart_whenOneOfThemWasLost() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = knowingBoth();
        ZkLease held = holder.acquire("/a");
        CompletableFuture<Optional<ZkLease>> waiting = client.asksAndSettles("/a");
        client.listener().fired(held.nodePaths().get(0), ZnodeStore.Change.WATCH_REMOVED, -1);
        client.settleUntilNext(RequestMatch.list().path("of the path", "/a"::equals));
        client.cut();
        assertTrue(client.step(server), "it learns of the loss");
        assertTrue(waiting.cancel(false));
        client.settle();
        CompletableFuture<Optional<ZkLease>> both = client.asks(Recipe.MUTEX, "/a", "/b");
        assertEquals(List.of(), client.sent(RequestMatch.op(WireRecord.Op.MULTI_READ)));
        held.abandon();
        settleBoth(holder, client);
        granted(both).ensureValid();
    }

    /** Each of them has its data read in the flight of its list. */
    @Test
    void listsOfAMultiLockAreSentApart_atFirstContact() throws Exception {
        var unused = knowingBoth();
        Client client = new Client(1, checks -> {});
        CompletableFuture<Optional<ZkLease>> both = client.asks(Recipe.MUTEX, "/a", "/b");
        assertEquals(List.of(), client.sent(RequestMatch.op(WireRecord.Op.MULTI_READ)));
        granted(both).ensureValid();
    }

    /** The lists of the first are on their way when the others come. */
    @Test
    void oneListOfEachPathServesAllMultiLocks_thatComeWhileAnotherIsOnItsWay() throws Exception {
        Client client = knowingBoth();
        client.acquire(Recipe.MUTEX, "/a", "/b").abandon();
        client.settle();
        SimulatedStore store = client.store();
        long before = store.requests;
        List<CompletableFuture<Optional<ZkLease>>> asked = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            asked.add(client.asks(Recipe.MUTEX, "/a", "/b"));
        }
        client.settle();
        assertTrue(asked.get(0).isDone());
        assertEquals(10 + 3, store.requests - before);
    }

    /** It is being downgraded. The list that shows neither of its nodes comes before the response to the downgrade. */
    @Test
    void downgradedHolderWithoutANodeLoses_beforeTheNextOfItsClientIsGranted() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease holder = client.acquire(Recipe.WRITE, "/rw");
        CompletableFuture<Optional<ZkLease>> second = client.asks(Recipe.WRITE, "/rw");
        client.settleUntilNext(RequestMatch.list().path("of the path", "/rw"::equals));
        CompletableFuture<ZkLease> read = holder.downgrade(Recipe.READ);
        leader.delete(holder.nodePaths().get(0));
        BoundedLoop.until(second::isDone, () -> assertTrue(client.step(server)));
        assertFalse(holder.isValid());
        assertTrue(granted(second).isValid());
        client.settle();
        assertTrue(read.isCompletedExceptionally());
    }

    /** The path is deleted with all its nodes while the waiter has no connection. No heartbeat comes behind that. */
    @Test
    void waiterForAPermitIsGrantedAtOnce_whenItsPathIsGone() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        holder.acquire(Recipe.semaphore(20, 20), "/s").ensureValid();
        CompletableFuture<Optional<ZkLease>> asked = client.asksAndSettles(Recipe.semaphore(20, 1), "/s");
        client.cut();
        queueUnder("/s").forEach(leader::delete);
        leader.delete("/s");
        client.settle();
        granted(asked).ensureValid();
    }

    /** The first read of the data is before the list, and the second one behind it. */
    @Test
    void capacityStays_whenItGrowsTwiceWhileARequestReadsIt() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        holder.acquire(Recipe.semaphore(2, 1), "/s").ensureValid();
        CompletableFuture<Optional<ZkLease>> asked = client.asks(Recipe.semaphore(2, 1), "/s");
        client.settleUntilNext(RequestMatch.list().path("of the path", "/s"::equals));
        resize("/s", PathData.semaphore(2).resized(3));
        client.settleUntilNext(RequestMatch.getData().path("of the path", "/s"::equals));
        resize("/s", PathData.semaphore(2).resized(4));
        client.settle();
        granted(asked).ensureValid();
        assertEquals(
                4, PathData.parse(leader.tree().get("/s").data).orElseThrow().capacity());
    }

    /** A server throttles the read of the grown capacity, and meanwhile the place of the waiter goes to others. */
    @Test
    void waiterForAPermitIsNotGrantedByAnOldList() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        holder.acquire(Recipe.semaphore(1, 1), "/s").ensureValid();
        CompletableFuture<Optional<ZkLease>> asked = client.asksAndSettles(Recipe.semaphore(1, 1), "/s");
        resize("/s", PathData.semaphore(1).resized(2));
        RequestMatch data = RequestMatch.getData().path("of the path", "/s"::equals);
        client.settleUntilNext(data);
        long end = leader.time().nanos() + SESSION.dividedBy(5).toNanos();
        while (leader.time().nanos() < end) {
            client.store().throttleNextRequest();
            client.settleUntilNext(data);
        }
        leader.delete(queueUnder("/s").get(1));
        holder.acquire(Recipe.semaphore(1, 1), "/s").ensureValid();
        client.settle();
        assertFalse(asked.isDone(), "two others hold");
        assertEquals(3, queueUnder("/s").size());
    }

    private void resize(String path, PathData resized) {
        leader.commit(List.of(new Tree.Effect.DataSet(path, resized.bytes())), 0);
    }

    /** The server may have carried it out, and refuses the list that would show it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void nodeOfALostCreateIsNotLeft_whenTheServerRefusesTheListOnce(boolean denied) throws Exception {
        Client client = thatLooksForALostCreate();
        refuseNextRequest(client, denied);
        assertEquals(1, queueUnder("/m").size());
        steps(client, SESSION.dividedBy(2));
        assertEquals(List.of(), queueUnder("/m"));
    }

    /** The list of the next connection counts on the one that waits to be sent again. */
    @Test
    void nodeOfALostCreateIsNotLeft_whenItsListIsThrottledAcrossAReconnect() throws Exception {
        Client client = thatLooksForALostCreate();
        client.store().throttleNextRequest();
        client.settleAnswers();
        client.cut();
        client.settle();
        assertEquals(1, queueUnder("/m").size());
        steps(client, SESSION.dividedBy(2));
        assertEquals(List.of(), queueUnder("/m"));
    }

    /** The caller has gone, the node is there, and the list that looks for it is the next request. */
    private Client thatLooksForALostCreate() throws Exception {
        Client client = new Client(0, checks -> {});
        client.use("/m");
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        client.loseTheAnswer();
        assertTrue(client.step(server), "it learns of the loss");
        assertTrue(asked.cancel(false));
        client.settleUntilNext(RequestMatch.list().path("of the path", "/m"::equals));
        return client;
    }

    private static void refuseNextRequest(Client client, boolean denied) {
        if (denied) {
            client.store().denyNextRequest();
        } else {
            client.store().throttleNextRequest();
        }
        client.settle();
    }

    /** After two losses of the list its client asks for the number of children first, which is too large. */
    @Test
    void nodeOfALostCreateIsNotLeft_whenTheQueueWasTooLongForAWhile() throws Exception {
        Client client = new Client(0, checks -> {});
        client.acquire("/held").ensureValid();
        client.use("/m");
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        client.loseTheAnswer();
        List<String> created = queueUnder("/m");
        assertEquals(1, created.size());
        for (int lost = 0; lost < 2; lost++) {
            client.settleUntilNext(RequestMatch.list().path("of the path", "/m"::equals));
            client.settleAnswers();
            client.cut();
        }
        List<Tree.Effect> many = new ArrayList<>();
        List<Tree.Effect> none = new ArrayList<>();
        for (int i = 0; i < 40_000; i++) {
            many.add(Tree.Effect.Created.of("/m/foreign-" + i, new byte[0], Tree.NO_OWNER));
            none.add(Tree.Effect.Deleted.of("/m/foreign-" + i));
        }
        leader.commit(many, 0);
        client.settle();
        leader.commit(none, 0);
        assertTrue(asked.isCompletedExceptionally());
        assertEquals(created, queueUnder("/m"));
        steps(client, SESSION);
        assertEquals(List.of(), queueUnder("/m"));
    }

    /** The server tells of it in its answer to the watch: no event comes. */
    @ParameterizedTest
    @ValueSource(ints = {20, 30})
    void waiterForAPermitDecidesAgain_whenTheOneAheadIsGrantedBeforeItsWatchIsSet(int largest) throws Exception {
        Client holder = new Client(0, checks -> {});
        Client ahead = new Client(1, checks -> {});
        Client client = new Client(2, checks -> {});
        CompletableFuture<Optional<ZkLease>> all = holder.asksAndSettles(Recipe.semaphore(20, 20), "/s");
        resize("/s", PathData.semaphore(20).resized(largest).resized(20));
        CompletableFuture<Optional<ZkLease>> first = ahead.asksAndSettles(Recipe.semaphore(20, 1), "/s");
        CompletableFuture<Optional<ZkLease>> second = client.asks(Recipe.semaphore(20, 1), "/s");
        String node = queueUnder("/s").get(1);
        client.settleUntilNext(RequestMatch.watching().path("of the node ahead", node::equals));
        granted(all).abandon();
        settleBoth(holder, ahead);
        granted(first).ensureValid();
        client.settle();
        assertTrue(second.isDone(), "it waits for a change that came before");
    }

    /** As by another user of a borrowed handle. No heartbeat comes before the end of the test. */
    @Test
    void waiterIsGrantedAtOnce_whenItsWatchWasRemoved() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client waiter = new Client(1, checks -> {});
        ZkLease held = holder.acquire("/m");
        CompletableFuture<Optional<ZkLease>> asked = waiter.asksAndSettles("/m");
        waiter.listener().fired(held.nodePaths().get(0), ZnodeStore.Change.WATCH_REMOVED, -1);
        waiter.settle();
        held.abandon();
        settleBoth(holder, waiter);
        assertTrue(asked.isDone(), "a waiter without a watch");
    }

    /** The server has refused the watch on its own node, which another client has deleted. */
    @Test
    void releaseIsNoGrant_whenTheWaiterHasNoNodeAndNoWatchOfIt() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client waiter = new Client(1, checks -> {});
        Client next = new Client(2, checks -> {});
        ZkLease held = holder.acquire("/m");
        CompletableFuture<Optional<ZkLease>> asked = waiter.asks("/m");
        waiter.settleUntilNext(RequestMatch.watching()
                .path("of its node", path -> queueUnder("/m").indexOf(path) == 1));
        refuseNextRequest(waiter, true);
        leader.delete(queueUnder("/m").get(1));
        CompletableFuture<Optional<ZkLease>> behind = next.asksAndSettles("/m");
        held.abandon();
        settleBoth(holder, next);
        waiter.settle();
        granted(behind).ensureValid();
        assertFalse(asked.isDone(), "two hold");
    }

    /** Otherwise it would wait for release requests in vain. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void holderLearnsThatItCannotBeAsked_whenTheServerRefusesItsWatch(boolean denied) throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        CompletableFuture<ReleaseRequest> heard = held.releaseRequested().toCompletableFuture();
        client.settleUntilNext(RequestMatch.getData().path("of its second node", path -> path.startsWith("/m/")));
        if (denied) {
            client.store().denyNextRequest();
        } else {
            client.store().refuseNextRequest();
        }
        client.settle();
        assertTrue(heard.isCompletedExceptionally());
    }

    @Test
    void stagesOfALeaseStayOpen_whenACallerCompletesItsFuturesOfThem() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        assertTrue(held.lost().toCompletableFuture().complete(LossCause.SESSION_EXPIRED));
        assertTrue(held.releaseRequested().toCompletableFuture().cancel(false));
        assertFalse(held.lost().toCompletableFuture().isDone());
        assertFalse(held.releaseRequested().toCompletableFuture().isDone());
    }

    /** These could share the path with it, and it need not wait for them. */
    @Test
    void multiLockIsGranted_whenRequestsAheadOfItsReaderWaitForAnotherLock() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/x");
        LockTarget reader = new LockTarget(Recipe.READ, new LockPath("/r"));
        for (int ahead = 0; ahead < 2; ahead++) {
            var unused = asksFor(client, reader, new LockTarget(Recipe.MUTEX, new LockPath("/x")));
        }
        granted(asksFor(client, new LockTarget(Recipe.MUTEX, new LockPath("/a")), reader))
                .ensureValid();
        assertTrue(held.isValid());
    }

    private static CompletableFuture<Optional<ZkLease>> asksFor(Client client, LockTarget... members) {
        CompletableFuture<Optional<ZkLease>> asked = client.engine.acquire(List.of(members), new WaitPolicy.Forever());
        client.settle();
        return asked;
    }
}
