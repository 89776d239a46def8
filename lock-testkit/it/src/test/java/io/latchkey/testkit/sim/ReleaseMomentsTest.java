// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.SimulatedBody;
import io.latchkey.log.LoggedWarnings;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Releases and downgrades of an engine, in moments that no server can be held in. */
@Timeout(30)
class ReleaseMomentsTest extends OnSimulatedServer {
    /** A transaction with 500 nodes of this path would outgrow a packet. */
    private static final String LONG_PATH = "/" + "x".repeat(2_500);
    /** More nodes of that path than fit into one transaction. */
    private static final int MANY = 100;

    /**
     * The last request of its client has to look at the queue again as well, since its watches are lost with the
     * response to the downgrade. Its list comes first, and shows the node in the place of the writer's.
     */
    @Test
    void downgradeSucceeds_whenAListOfItsClientShowsItBeforeTheResponse() throws Exception {
        Client client = new Client(0, checks -> {});
        Client other = new Client(1, checks -> {});
        CompletableFuture<Optional<ZkLease>> first = client.asksAndSettles(Recipe.WRITE, "/rw");
        CompletableFuture<Optional<ZkLease>> second = other.asksAndSettles(Recipe.WRITE, "/rw");
        CompletableFuture<Optional<ZkLease>> third = client.asks(Recipe.WRITE, "/rw");
        client.settleUntilNext(RequestMatch.watching());
        CompletableFuture<ZkLease> read = granted(first).downgrade(Recipe.READ);
        BoundedLoop.until(() -> client.isNext(RequestMatch.create()), client.store()::takeRequest);
        client.loseTheAnswer();
        client.settle();
        ZkLease reader = read.get(5, TimeUnit.SECONDS);
        assertTrue(reader.isValid(), reader::toString);
        assertEquals(reader.nodePaths().get(0), queueUnder("/rw").get(0));
        assertFalse(second.isDone() || third.isDone());
    }

    /** Whichever of its two nodes is missing, the other one must have been deleted by another client. */
    @Test
    void releaseBesideADowngradeSaysThatTheLockWasLost_whenAnotherClientHasDeletedItsNode() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease write = client.acquire(Recipe.WRITE, "/rw");
        leader.delete(queueUnder("/rw").get(0));
        CompletableFuture<ZkLease> read = write.downgrade(Recipe.READ);
        CompletableFuture<ReleaseOutcome> released = write.releaseAsync().toCompletableFuture();
        client.settle();
        assertTrue(read.isCompletedExceptionally());
        assertEquals(ReleaseOutcome.LOST, released.get(5, TimeUnit.SECONDS));
        assertEquals(List.of(), queueUnder("/rw"));
    }

    /**
     * The server refuses the release of a neighbour and carries out the downgrade behind it, and both responses are
     * lost. The release is sent again first, and either of the downgraded lease's nodes may exist.
     */
    @Test
    void downgradeSucceeds_whenTheReleaseBeforeItIsSentAgain() throws Exception {
        Client client = new Client(0, checks -> {});
        List<CompletableFuture<Optional<ZkLease>>> asked =
                List.of(client.asks(Recipe.WRITE, "/rw"), client.asks(Recipe.WRITE, "/rw"));
        client.settle();
        var unused = granted(asked.get(0)).releaseAsync();
        CompletableFuture<ZkLease> read = granted(asked.get(1)).downgrade(Recipe.READ);
        client.store().refuseWrites(1);
        BoundedLoop.until(() -> client.isNext(RequestMatch.create()), client.store()::takeRequest);
        client.loseTheAnswer();
        client.settle();
        ZkLease reader = read.get(5, TimeUnit.SECONDS);
        assertTrue(reader.isValid(), reader::toString);
        assertEquals(reader.nodePaths(), queueUnder("/rw"));
    }

    /** The server has refused the release for each of two nodes. So the client is to ask next which of them exist. */
    private CompletableFuture<ReleaseOutcome> releasedWithoutTwoOfItsNodes(Client client) throws Exception {
        ZkLease held = client.acquire(Recipe.MUTEX, "/a", "/b", "/c");
        held.nodePaths().subList(0, 2).forEach(leader::delete);
        CompletableFuture<ReleaseOutcome> released = held.releaseAsync().toCompletableFuture();
        client.settleUntilNext(RequestMatch.op(WireRecord.Op.MULTI_READ));
        return released;
    }

    @Test
    void releaseIsAnswered_whenItsClientClosesWhileMissingNodesAreLookedFor() throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<ReleaseOutcome> released = releasedWithoutTwoOfItsNodes(client);
        assertFalse(released.isDone());
        client.engine.context().execute(client.engine::close);
        assertEquals(ReleaseOutcome.PENDING, released.getNow(null));
    }

    /** The first one waits for the connection, and the second one behind it. */
    @Test
    void everyReleaseIsPendingAtOnce_withoutAConnection() throws Exception {
        Client client = new Client(0, checks -> {});
        List<CompletableFuture<Optional<ZkLease>>> asked =
                List.of(client.asks(Recipe.READ, "/rw"), client.asks(Recipe.READ, "/rw"));
        client.settle();
        client.cut();
        assertTrue(client.step(server), "it learns of the loss");
        for (CompletableFuture<Optional<ZkLease>> each : asked) {
            CompletableFuture<ReleaseOutcome> released =
                    granted(each).releaseAsync().toCompletableFuture();
            assertEquals(ReleaseOutcome.PENDING, released.getNow(null));
        }
        client.settle();
        assertEquals(List.of(), queueUnder("/rw"));
    }

    /** All in one transaction would outgrow a packet. */
    @Test
    @Tag("once")
    void deletionsAreSentInParts_whenManyWereReleasedWithoutAConnection() throws Exception {
        Client client = new Client(0, checks -> {});
        List<CompletableFuture<Optional<ZkLease>>> asked = new ArrayList<>();
        asked.add(client.asksAndSettles(Recipe.READ, "/rw"));
        while (asked.size() < 1_200) {
            asked.add(client.asks(Recipe.READ, "/rw"));
        }
        client.settle();
        client.cut();
        assertTrue(client.step(server), "it learns of the loss");
        for (CompletableFuture<Optional<ZkLease>> each : asked) {
            granted(each).abandon();
        }
        assertEquals(Set.of(500, 200), Set.copyOf(partsOfDeletions(client)));
        assertEquals(List.of(), queueUnder("/rw"));
    }

    /**
     * The server refuses the release for the request's node, and then for the revocation node: only the first of them
     * was held. More often than transactions of a path may be on their way.
     */
    @Test
    void everyReleaseOfAHolderThatListensTellsTheLoss_whenBothNodesAreGone() throws Exception {
        Client client = new Client(0, checks -> {});
        for (int i = 0; i < 6; i++) {
            ZkLease held = client.acquire("/m");
            var unused = held.releaseRequested();
            client.settle();
            List<String> nodes = queueUnder("/m");
            assertEquals(2, nodes.size(), nodes::toString);
            nodes.forEach(leader::delete);
            CompletableFuture<ReleaseOutcome> released = held.releaseAsync().toCompletableFuture();
            client.settle();
            assertEquals(ReleaseOutcome.LOST, released.getNow(null));
        }
        CompletableFuture<Boolean> closed = new CompletableFuture<>();
        client.engine.onceClosed(() -> closed.complete(true));
        client.engine.context().execute(() -> client.engine.close(SESSION));
        assertTrue(closed.isDone(), "no release is pending");
    }

    /** As when the loss comes between the grant and the first line of the body. */
    @Test
    void bodyIsInterruptedAtOnce_whenItsLeaseIsLostBefore() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        leader.delete(queueUnder("/m").get(0));
        steps(client, SESSION.dividedBy(2));
        assertFalse(held.isValid());
        assertTrue(new SimulatedBody(held).isInterrupted());
    }

    /** An overloaded server is not asked again at once, and the release waits for that. */
    @Test
    void throttledDeletionIsSentAgain_afterAPause() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        CompletableFuture<ReleaseOutcome> released = held.releaseAsync().toCompletableFuture();
        client.store().refuseWrites(1);
        client.settle();
        assertFalse(released.isDone());
        assertEquals(held.nodePaths(), queueUnder("/m"));
        steps(client, SESSION.dividedBy(2));
        assertEquals(ReleaseOutcome.RELEASED, released.getNow(null));
        assertEquals(List.of(), queueUnder("/m"));
    }

    @Test
    void refusedDeletionIsSentAgain_afterTheNextHeartbeat() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        CompletableFuture<ReleaseOutcome> released = held.releaseAsync().toCompletableFuture();
        client.store().refuseNextRequest();
        client.settle();
        assertEquals(ReleaseOutcome.PENDING, released.getNow(null));
        assertEquals(held.nodePaths(), queueUnder("/m"));
        steps(client, SESSION.dividedBy(2));
        assertEquals(List.of(), queueUnder("/m"));
    }

    @Test
    void releaseSendsNothingMore_whenItsNodeIsGone() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        SimulatedStore store = client.store();
        long before = store.requests;
        leader.delete(held.nodePaths().get(0));
        CompletableFuture<ReleaseOutcome> released = held.releaseAsync().toCompletableFuture();
        client.settle();
        assertEquals(ReleaseOutcome.LOST, released.getNow(null));
        assertEquals(before + 1, store.requests);
    }

    /** Another client has put a child below the node by which others ask the holder, whose own node is gone. */
    @Test
    void nothingMoreIsSent_whenTheServerRefusesToDeleteTheNodeOfReleaseRequests() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease held = client.acquire("/m");
        CompletableFuture<LossCause> lost = held.lost().toCompletableFuture();
        var unused = held.releaseRequested();
        client.settle();
        String own = held.nodePaths().get(0);
        String revocation = queueUnder("/m").stream()
                .filter(node -> !node.equals(own))
                .findFirst()
                .orElseThrow();
        leader.commit(List.of(Tree.Effect.Created.of(revocation + "/child", new byte[0], Tree.NO_OWNER)), 0);
        leader.delete(own);
        client.settleUntilNext(RequestMatch.delete().path("of the other node", revocation::equals));
        SimulatedStore store = client.store();
        long before = store.requests;
        client.settle();
        assertEquals(LossCause.NODE_DELETED, lost.getNow(null));
        assertEquals(List.of(revocation), queueUnder("/m"));
        assertEquals(before, store.requests);
    }

    /**
     * A node with a child cannot be deleted. Four deletions are on their way, and that one goes with the last. The log
     * is that of the whole process, so no other test has the path.
     */
    @Test
    void refusedDeletionIsLoggedOnce_andTheOneSentWithItIsRepeatedAtOnce() throws Exception {
        Client client = new Client(0, checks -> {});
        String path = "/refused-" + UUID.randomUUID();
        List<CompletableFuture<Optional<ZkLease>>> asked = readers(client, path, 6);
        String kept = granted(asked.get(4)).nodePaths().get(0);
        leader.commit(List.of(Tree.Effect.Created.of(kept + "/child", new byte[0], Tree.NO_OWNER)), 0);
        try (LoggedWarnings log = LoggedWarnings.listen()) {
            List<CompletableFuture<ReleaseOutcome>> released = new ArrayList<>();
            for (CompletableFuture<Optional<ZkLease>> each : asked) {
                released.add(granted(each).releaseAsync().toCompletableFuture());
            }
            client.settle();
            assertEquals(ReleaseOutcome.PENDING, released.get(4).getNow(null));
            assertEquals(ReleaseOutcome.RELEASED, released.get(5).getNow(null));
            steps(client, SESSION);
            assertEquals(1, log.with(kept).size(), () -> log.with(kept).toString());
        }
        leader.delete(kept + "/child");
        steps(client, SESSION.dividedBy(2));
        assertEquals(List.of(), queueUnder(path));
    }

    private static List<CompletableFuture<Optional<ZkLease>>> readers(Client client, String path, int number) {
        List<CompletableFuture<Optional<ZkLease>>> asked = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            asked.add(client.asks(Recipe.READ, path));
        }
        client.settle();
        return asked;
    }

    /** Four at a time are on their way, and those behind them go together. */
    @Test
    void deletionsAreSentTogether_beyondFour() throws Exception {
        Client client = new Client(0, checks -> {});
        List<CompletableFuture<Optional<ZkLease>>> asked = readers(client, "/rw", 8);
        SimulatedStore store = client.store();
        long before = store.requests;
        for (CompletableFuture<Optional<ZkLease>> each : asked) {
            granted(each).abandon();
        }
        assertEquals(4, store.requests - before);
        client.settle();
        assertEquals(5, store.requests - before);
        assertEquals(List.of(), queueUnder("/rw"));
    }

    /** No other client is granted before the neighbour leaves: those of the two that give up go together. */
    @Test
    void deletionsAreSentOneAtATime_whileANeighbourHolds() throws Exception {
        Client client = new Client(0, checks -> {});
        List<CompletableFuture<Optional<ZkLease>>> asked =
                List.of(client.asks("/m"), client.asks("/m"), client.asks("/m"), client.asks("/m"));
        client.settle();
        granted(asked.get(0)).abandon();
        ZkLease second = granted(asked.get(1));
        asked.subList(2, 4).forEach(each -> assertTrue(each.cancel(false)));
        assertEquals(List.of(3, 2), partsOfDeletions(client));
        assertEquals(second.nodePaths(), queueUnder("/m"));
    }

    /** Returns the numbers of parts of the deletions that are sent until nothing is on its way. */
    private static List<Integer> partsOfDeletions(Client client) {
        return client.sent(RequestMatch.delete()).stream()
                .map(sent -> sent.parts().size())
                .toList();
    }

    @Test
    void deletionsAreSentInParts_whenTheirPathIsLong() throws Exception {
        Client client = new Client(0, checks -> {});
        List<CompletableFuture<Optional<ZkLease>>> asked = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            asked.add(client.asks(Recipe.READ, LONG_PATH));
        }
        client.settle();
        client.cut();
        assertTrue(client.step(server), "it learns of the loss");
        for (CompletableFuture<Optional<ZkLease>> each : asked) {
            granted(each).abandon();
        }
        List<Integer> parts = partsOfDeletions(client);
        assertEquals(MANY, parts.stream().mapToInt(Integer::intValue).sum());
        assertTrue(parts.stream().allMatch(each -> each * LONG_PATH.length() < 500_000 / 2), parts::toString);
    }

    /** The checks of so many nodes would outgrow a packet. Without them a release must not be marked. */
    @Test
    void releaseHasNeitherCheckNorMark_whenManyNeighboursWaitOnALongPath() throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<Optional<ZkLease>> write = client.asks(Recipe.WRITE, LONG_PATH);
        List<CompletableFuture<Optional<ZkLease>>> readers = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            readers.add(client.asks(Recipe.READ, LONG_PATH));
        }
        client.settle();
        granted(write).abandon();
        assertEquals(List.of(1), partsOfDeletions(client));
        for (CompletableFuture<Optional<ZkLease>> each : readers) {
            granted(each).ensureValid();
        }
    }

    @Test
    void leaseIsDowngraded_whenTheServerHasRefusedItOnce() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease write = client.acquire(Recipe.WRITE, "/rw");
        CompletableFuture<ZkLease> refused = write.downgrade(Recipe.READ);
        client.store().refuseNextRequest();
        client.settle();
        assertTrue(refused.isCompletedExceptionally());
        assertTrue(write.isValid());
        CompletableFuture<ZkLease> read = write.downgrade(Recipe.READ);
        client.settle();
        assertEquals(read.get(5, TimeUnit.SECONDS).nodePaths(), queueUnder("/rw"));
    }

    /** A server's error leaves the downgrade open, and a check that was put off before it is sent again. */
    @Test
    void downgradedLeaseIsNotLost_whenAThrottledCheckFindsItsNodeReplaced() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease write = client.acquire(Recipe.WRITE, "/rw");
        client.settleUntilNext(RequestMatch.heartbeat());
        client.store().throttleNextRequest();
        client.settle();
        CompletableFuture<ZkLease> read = write.downgrade(Recipe.READ);
        SimulatedStore.SentRequest downgrade = client.store().peekRequest();
        downgrade.commit();
        downgrade.refusal = Optional.of(Response.failed(Status.UNCLEAR, "a server's error"));
        steps(client, SESSION);
        ZkLease reader = read.get(5, TimeUnit.SECONDS);
        assertTrue(reader.isValid(), reader::toString);
        assertEquals(reader.nodePaths(), queueUnder("/rw"));
    }

    /** The holder that this release has granted is downgrading by then. No request behind it may hold beside it. */
    @Test
    void downgradingHolderWithoutANodeLoses_beforeTheNextIsGranted() throws Exception {
        Client client = new Client(0, checks -> {});
        Client other = new Client(1, checks -> {});
        ZkLease first = client.acquire(Recipe.WRITE, "/rw");
        CompletableFuture<Optional<ZkLease>> second = client.asksAndSettles(Recipe.WRITE, "/rw");
        CompletableFuture<Optional<ZkLease>> third = other.asksAndSettles(Recipe.WRITE, "/rw");
        leader.delete(queueUnder("/rw").get(1));
        first.abandon();
        ZkLease granted = granted(second);
        CompletableFuture<ZkLease> read = granted.downgrade(Recipe.READ);
        client.store().takeRequest(); // the release, refused as the node of the next holder is gone
        client.store().throttleNextRequest();
        BoundedLoop.all(() -> {
            assertFalse(granted.isValid() && third.isDone(), "both hold");
            return client.step(server) || other.step(server);
        });
        assertEquals(Optional.of(LossCause.NODE_DELETED), granted.lossCause());
        assertTrue(read.isCompletedExceptionally());
        granted(third).ensureValid();
    }

    @Test
    void otherNodesAreDeleted_whenTheAnswerThatNamesMissingOnesIsLost() throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<ReleaseOutcome> released = releasedWithoutTwoOfItsNodes(client);
        client.loseTheAnswer();
        client.settle();
        assertEquals(ReleaseOutcome.PENDING, released.getNow(null));
        assertEquals(List.of(), queueUnder("/c"));
    }

    /** While a neighbour holds, one release of a path is on its way: the second one has not been sent. */
    @Test
    void everyReleaseIsAnswered_whenItsSessionEnds() throws Exception {
        Client client = new Client(0, checks -> {});
        ZkLease first = client.acquire("/m");
        CompletableFuture<Optional<ZkLease>> second = client.asks("/m");
        CompletableFuture<Optional<ZkLease>> third = client.asksAndSettles("/m");
        SimulatedStore store = client.store();
        List<CompletableFuture<ReleaseOutcome>> released = new ArrayList<>();
        released.add(first.releaseAsync().toCompletableFuture());
        released.add(granted(second).releaseAsync().toCompletableFuture());
        assertTrue(third.isDone(), "it holds");
        leader.closeSession(store.session());
        // The response to the first release tells of the end, before the loss of the connection.
        store.takeRequest();
        client.settle();
        assertEquals(
                List.of(ReleaseOutcome.LOST, ReleaseOutcome.LOST),
                released.stream().map(each -> each.getNow(null)).toList());
    }

    /**
     * The first server keeps the create, and carries it out when the session is back, which has released at the second
     * one: before or after it created the node again there. It moves back at any moment.
     */
    @ParameterizedTest
    @MethodSource("stepsAtTheSecondServer")
    void lateRevocationNodeIsNotLeft_whenTheSessionMovesBack(int before, int behind) throws Exception {
        Server second = new Server(leader);
        Client holder = new Client(0, checks -> {});
        ZkLease lease = holder.acquire("/m");
        var unused = lease.releaseRequested();
        holder.cut();
        steps(before, holder, second);
        var released = lease.releaseAsync();
        steps(behind, holder, second);
        holder.cut();
        holder.settle();
        assertTrue(released.toCompletableFuture().isDone());
        assertEquals(List.of(), queueUnder("/m"));
    }

    static Stream<Arguments> stepsAtTheSecondServer() {
        return Stream.of(0, 12)
                .flatMap(before -> IntStream.rangeClosed(0, 12).mapToObj(behind -> Arguments.of(before, behind)));
    }

    /** The first refusal is of the mark, and the second one of the check of the neighbour that the release grants. */
    @ParameterizedTest
    @CsvSource({"0, 2", "2, 1"})
    void refusedPartIsSentInNoFurtherRelease_whenTheClientMayNotWriteOrCheck(int refused, int left) throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<Optional<ZkLease>> first = client.asks("/m");
        CompletableFuture<Optional<ZkLease>> second = client.asksAndSettles("/m");
        CompletableFuture<ReleaseOutcome> released =
                granted(first).releaseAsync().toCompletableFuture();
        SimulatedStore store = client.store();
        assertEquals(3, store.peekRequest().onTheWire().parts().size());
        ZnodeStore.Refusal why = new ZnodeStore.Refusal(refused, Status.NO_AUTH, "NOAUTH");
        store.peekRequest().refusal =
                Optional.of(Response.of(new ZnodeStore.TransactionResult(List.of(), Optional.of(why))));
        store.takeRequest();
        assertEquals(List.of(left), partsOfDeletions(client));
        assertEquals(ReleaseOutcome.RELEASED, released.getNow(null));
        granted(second).abandon();
        assertEquals(List.of(1), partsOfDeletions(client));
    }
}
