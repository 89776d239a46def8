// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockMismatchException;
import io.latchkey.lock.admin.LockListing;
import io.latchkey.testkit.LiveObjects;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.zk.internal.admin.LockTree;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.ZkLease;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How an engine adopts, renews, leaves and lists paths, in moments that no server can be held in. */
@Timeout(30)
class PathMomentsTest extends OnSimulatedServer {
    private static final RequestMatch LIST_WITHOUT_A_WATCH = RequestMatch.of(
            "list without a watch", request -> RequestMatch.list().matches(request) && !request.watch());

    private void makePlainNode(String path) {
        leader.commit(List.of(Tree.Effect.Created.of(path, new byte[0], Tree.NO_OWNER)), 0);
    }

    /** Both have read that its data is empty. */
    @Test
    void plainNodeIsAdoptedOnce_whenTwoKindsAreAskedFor() throws Exception {
        Client first = new Client(0, checks -> {});
        Client second = new Client(1, checks -> {});
        makePlainNode("/p");
        CompletableFuture<Optional<ZkLease>> mutex = first.asks(Recipe.MUTEX, "/p");
        first.settleUntilNext(RequestMatch.setData().path("of the path", "/p"::equals));
        CompletableFuture<Optional<ZkLease>> write = second.asksAndSettles(Recipe.WRITE, "/p");
        settleBoth(first, second);
        assertFails(LockMismatchException.class, mutex);
        granted(write).ensureValid();
        assertEquals("latchkey/3 read-write", new String(leader.tree().get("/p").data, StandardCharsets.UTF_8));
    }

    @Test
    void plainNodeStaysAsItIs_whenAnotherLayoutUsesIt() throws Exception {
        Client client = new Client(0, checks -> {});
        makePlainNode("/p");
        makePlainNode("/p/_c_0b1c2d3e-0000-4000-8000-000000000000-lock-0000000000");
        CompletableFuture<Optional<ZkLease>> asked = client.asksAndSettles("/p");
        assertFails(LockMismatchException.class, asked);
        assertEquals(0, leader.tree().get("/p").data.length);
    }

    /** It reads the path's data with the list, and again when the list has come without it. */
    @Test
    void requestFails_whenTheServerRefusesThePathsDataTwice() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        holder.acquire("/m").ensureValid();
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        for (int i = 0; i < 2; i++) {
            client.settleUntilNext(RequestMatch.getData().path("of the path", "/m"::equals));
            client.store().refuseNextRequest();
        }
        client.settle();
        assertFails(LockException.class, asked);
        assertEquals(1, queueUnder("/m").size());
    }

    /** The client has found it missing when an operator creates it. */
    @Test
    void levelOfAnOperatorStays_whenTheRequestIsGivenUp() throws Exception {
        Client client = new Client(0, checks -> {});
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/x/y");
        client.settleUntilNext(RequestMatch.create().path("of the level", "/x"::equals));
        makePlainNode("/x");
        asked.cancel(false);
        client.settle();
        assertEquals(List.of(), client.engine.requests());
        assertNotNull(leader.tree().find("/x"));
    }

    /** Others are read beside it when the connection is lost, and then one at a time. */
    @Test
    void onlyTheNodeIsMissing_whenTheConnectionBreaksWheneverItIsRead() throws Exception {
        Client client = new Client(0, checks -> {});
        for (String path : List.of("/a", "/b", "/c")) {
            client.use(path);
        }
        CompletableFuture<LockListing> asked = new LockTree(client.engine, "", path -> {}).below("/");
        for (int i = 0; i < 2; i++) {
            client.settleUntilNext(RequestMatch.getData().path("of /b", "/b"::equals));
            client.cut();
        }
        client.settle();
        LockListing seen = asked.get(5, TimeUnit.SECONDS);
        assertEquals(List.of("/b"), List.copyOf(seen.unreadable().keySet()));
        assertEquals(
                List.of("/a", "/c"),
                seen.locks().stream().map(lock -> lock.path()).toList());
    }

    /** The list of the first is on its way when the others ask: the next one serves both. */
    @Test
    void requestForAnotherKindFailsAlone_whenItsListServesOthers() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client client = new Client(1, checks -> {});
        ZkLease held = holder.acquire("/m");
        CompletableFuture<Optional<ZkLease>> first = client.asks("/m");
        CompletableFuture<Optional<ZkLease>> ofAnotherKind = client.asks(Recipe.WRITE, "/m");
        CompletableFuture<Optional<ZkLease>> last = client.asksAndSettles("/m");
        assertFails(LockMismatchException.class, ofAnotherKind);
        assertFalse(first.isDone() || last.isDone(), "the other client holds");
        held.abandon();
        settleBoth(holder, client);
        granted(first).abandon();
        client.settle();
        granted(last).ensureValid();
    }

    /** After two lost lists of a path the number of its children is asked for first, and that may be lost as well. */
    @Test
    void pathIsRenewed_whenTheConnectionIsLostSeveralTimesBefore() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client waiter = new Client(1, checks -> {});
        ZkLease held = holder.acquire("/m");
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        CompletableFuture<Optional<ZkLease>> asked = waiter.asks("/m");
        for (int i = 0; i < 2; i++) {
            waiter.settleUntilNext(RequestMatch.watching().path("of the path", "/m"::equals));
            waiter.cut();
        }
        for (int i = 0; i < 3; i++) {
            waiter.settleUntilNext(RequestMatch.getData().path("of the path", "/m"::equals));
            waiter.cut();
        }
        settleBothFor(SESSION, holder, waiter);
        assertFalse(asked.isDone(), "the other client holds");
        held.abandon();
        settleBothFor(SESSION, holder, waiter);
        assertTrue(asked.isDone(), "the path is empty");
    }

    /** Both wait for it by one watch. */
    @Test
    void pathIsRenewed_whenOneOfTwoThatWaitForItGivesUp() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client waiter = new Client(1, checks -> {});
        ZkLease held = holder.acquire("/m");
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        List<CompletableFuture<Optional<ZkLease>>> asked = List.of(waiter.asks("/m"), waiter.asks("/m"));
        waiter.settle();
        assertTrue(asked.get(0).cancel(false));
        waiter.settle();
        held.abandon();
        settleBoth(holder, waiter);
        assertTrue(asked.get(1).isDone(), "the path is empty");
        granted(asked.get(1)).ensureValid();
    }

    /** A path whose lists were lost twice is listed behind a heartbeat, so time has to pass. */
    private void settleBothFor(Duration span, Client one, Client other) {
        long end = leader.time().nanos() + span.toNanos();
        settleBoth(one, other);
        while (leader.time().nextAt() <= end) {
            leader.time().runNext();
            settleBoth(one, other);
        }
        leader.time().moveTo(end);
    }

    private static void assertCounterExhausted(CompletableFuture<?> asked) {
        LockException told = assertFails(LockException.class, asked);
        assertEquals(LockException.Reason.COUNTER_EXHAUSTED, told.reason(), told.getMessage());
    }

    @Test
    void requestFails_whenTheServerRefusesToListAWornOutPath() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client waiter = new Client(1, checks -> {});
        holder.acquire("/m").ensureValid();
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        CompletableFuture<Optional<ZkLease>> asked = waiter.asks("/m");
        waiter.settleUntilNext(RequestMatch.watching().path("of the path", "/m"::equals));
        waiter.settleUntilNext(LIST_WITHOUT_A_WATCH);
        waiter.store().refuseNextRequest();
        waiter.settle();
        assertCounterExhausted(asked);
        assertEquals(Set.of(), waiter.store().watches());
    }

    @Test
    void pathIsRenewed_whenTheServerRefusesItsWatchOnce() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client waiter = new Client(1, checks -> {});
        ZkLease held = holder.acquire("/m");
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        CompletableFuture<Optional<ZkLease>> asked = waiter.asks("/m");
        waiter.settleUntilNext(RequestMatch.watching().path("of the path", "/m"::equals));
        waiter.store().refuseNextRequest();
        waiter.settle();
        held.abandon();
        settleBoth(holder, waiter);
        assertTrue(asked.isDone(), "the path is empty");
        granted(asked).ensureValid();
    }

    @Test
    void requestFails_whenForeignChildrenAreUnderAWornOutPath() throws Exception {
        Client client = new Client(0, checks -> {});
        client.use("/m");
        makePlainNode("/m/notes");
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        CompletableFuture<Optional<ZkLease>> asked = client.asksAndSettles("/m");
        assertCounterExhausted(asked);
        assertEquals(Set.of(), client.store().watches());
    }

    /** The list that shows it empty is on its way. */
    @Test
    void pathStays_whenTheRequestThatWaitsForItIsGivenUp() throws Exception {
        Client client = new Client(0, checks -> {});
        client.use("/m");
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        client.settleUntilNext(RequestMatch.watching().path("of the path", "/m"::equals));
        assertTrue(asked.cancel(false));
        client.settle();
        assertNotNull(leader.tree().find("/m"), "another request may be on its way there");
        assertEquals(Set.of(), client.store().watches());
    }

    @Test
    void requestFails_whenTheServerRefusesToDeleteAWornOutPath() throws Exception {
        Client client = new Client(0, checks -> {});
        client.use("/m");
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        client.settleUntilNext(RequestMatch.delete().path("of the path", "/m"::equals));
        client.store().refuseNextRequest();
        client.settle();
        assertCounterExhausted(asked);
        client.acquire("/m").ensureValid();
    }

    /** They wait or hold in every way when their session ends, and are given up later. */
    @Test
    @Tag("once")
    void requestsAreForgotten_whenLeasesOfTheirFormerSessionAreKept() throws Exception {
        String request = "io.latchkey.zk.internal.request.Request";
        Client client = new Client(0, checks -> {});
        Client other = new Client(1, checks -> {});
        List<ZkLease> kept = new ArrayList<>(List.of(client.acquire("/m"), client.acquire("/own")));
        for (CompletableFuture<Optional<ZkLease>> asked :
                List.of(client.asks(Recipe.WRITE, "/written"), client.asks(Recipe.READ, "/read"))) {
            client.settle();
            kept.add(granted(asked));
        }
        other.acquire("/others").ensureValid();
        long before = LiveObjects.count(request::equals).getOrDefault(request, 0L);
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        List<CompletableFuture<Optional<ZkLease>>> asked = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            asked.add(client.asks("/m"));
            asked.add(client.asks("/own"));
            asked.add(client.asks(Recipe.READ, "/written"));
            asked.add(client.asks(Recipe.READ, "/read"));
            asked.add(client.asks("/others"));
            client.settle();
        }
        client.cut();
        assertTrue(client.step(server), "it learns of the loss");
        for (int i = 0; i < 40; i++) {
            asked.add(client.asks("/own"));
        }
        leader.closeSession(client.store().session());
        client.settle();
        for (CompletableFuture<Optional<ZkLease>> each : asked) {
            if (!each.cancel(false)) {
                granted(each).abandon();
            }
        }
        asked.clear();
        client.settle();
        long more = LiveObjects.count(request::equals).getOrDefault(request, 0L) - before;
        assertTrue(more < 20, () -> more + " requests");
        assertFalse(kept.stream().anyMatch(ZkLease::isValid));
    }

    /** The first has seen an empty path, and the request of the second arrives before the path is deleted. */
    @Test
    void pathIsRenewedLater_whenARequestComesBeforeItIsDeleted() throws Exception {
        Client first = new Client(0, checks -> {});
        Client second = new Client(1, checks -> {});
        first.use("/m");
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        CompletableFuture<Optional<ZkLease>> one = first.asks("/m");
        first.settleUntilNext(RequestMatch.delete().path("of the path", "/m"::equals));
        CompletableFuture<Optional<ZkLease>> other = second.asks("/m");
        BoundedLoop.until(() -> queueUnder("/m").size() == 1, () -> second.step(server));
        settleBoth(first, second);
        assertTrue(one.isDone() != other.isDone(), "one of them holds the new path's lock");
        for (CompletableFuture<Optional<ZkLease>> next : one.isDone() ? List.of(one, other) : List.of(other, one)) {
            granted(next).abandon();
            settleBoth(first, second);
        }
    }

    /** It would wait until the new path is empty, and then delete it. */
    @Test
    void requestQueuesInTheNewPath_whenAnotherClientHasMadeIt() throws Exception {
        Client first = new Client(0, checks -> {});
        Client second = new Client(1, checks -> {});
        ZkLease held = first.acquire("/m");
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        CompletableFuture<Optional<ZkLease>> waiting = second.asksAndSettles("/m");
        held.abandon();
        ZkLease next = first.acquire("/m");
        second.settle();
        assertEquals(2, queueUnder("/m").size(), "the second request is not in the queue");
        next.abandon();
        settleBoth(first, second);
        granted(waiting).ensureValid();
    }

    @Test
    void pathIsRenewed_whenTheConnectionIsLostBeforeItIsDeleted() throws Exception {
        Client client = new Client(0, checks -> {});
        client.use("/m");
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        CompletableFuture<Optional<ZkLease>> asked = client.asks("/m");
        client.settleUntilNext(RequestMatch.delete().path("of the path", "/m"::equals));
        client.cut();
        client.settle();
        granted(asked).ensureValid();
    }

    /** Its client has not heard of the deletion. */
    @Test
    void pathIsRenewed_whenTheNodeForReleaseRequestsOutlivesItsHolder() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client waiter = new Client(1, checks -> {});
        ZkLease held = holder.acquire("/m");
        var unused = held.releaseRequested();
        holder.settle();
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        CompletableFuture<Optional<ZkLease>> asked = waiter.asksAndSettles("/m");
        leader.delete(held.nodePaths().get(0));
        waiter.settle();
        assertFalse(asked.isDone(), "a node is still under the path");
        settleBoth(holder, waiter);
        granted(asked).ensureValid();
    }

    /** The watch and the list are lost, and either of them asks for both again. */
    @Test
    void pathThatIsRenewedIsListedOnceOnEachConnection() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client waiter = new Client(1, checks -> {});
        holder.acquire("/m").ensureValid();
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        var unused = waiter.asks("/m");
        waiter.settleUntilNext(RequestMatch.watching().path("of the path", "/m"::equals));
        waiter.cut();
        assertEquals(1, waiter.sent(LIST_WITHOUT_A_WATCH).size());
    }

    /** Its watch and its list are lost. */
    @Test
    void pathIsNotWatchedAgain_whenTheRequestThatWaitsForItIsGivenUpWithoutAConnection() throws Exception {
        Client holder = new Client(0, checks -> {});
        Client waiter = new Client(1, checks -> {});
        holder.acquire("/m").ensureValid();
        leader.tree().get("/m").creates = OracleRules.WORN_OUT;
        CompletableFuture<Optional<ZkLease>> asked = waiter.asks("/m");
        RequestMatch watch = RequestMatch.watching().path("of the path", "/m"::equals);
        waiter.settleUntilNext(watch);
        waiter.cut();
        assertTrue(waiter.step(server), "it learns of the loss");
        assertTrue(asked.cancel(false));
        assertEquals(List.of(), waiter.sent(watch), "no request needs it");
    }
}
