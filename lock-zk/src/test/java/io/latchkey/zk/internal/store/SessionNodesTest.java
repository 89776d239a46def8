// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.store.ZnodeStore.CreatedNode;
import io.latchkey.zk.internal.store.ZnodeStore.Listing;
import io.latchkey.zk.internal.store.ZnodeStore.Refusal;
import io.latchkey.zk.internal.store.ZnodeStore.TransactionResult;
import io.latchkey.zk.internal.store.ZnodeStore.Write;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.function.BiConsumer;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The ledger of a session's nodes, by requests and answers in any order. */
class SessionNodesTest {
    private static final byte[] DATA = new byte[0];
    private static final String PREFIX = "/a/write-0000000000000001-";
    private static final String NODE = PREFIX + "0000000007";
    private static final String NAME = NODE.substring("/a/".length());
    /** Of a path whose number has no sign. */
    private static final long KNOWN = NODE.length() + 4L;
    /** As long as the server has not said the number. */
    private static final long OPEN = KNOWN + 1;

    /** The answers that are still to come, in the order of the requests. */
    private final Queue<Object> unanswered = new ArrayDeque<>();

    private final List<Response<?>> told = new ArrayList<>();
    private SessionNodes nodes = SessionNodes.ofNewSession(0);
    private CountedStore store = store(Long.MAX_VALUE);

    @BeforeEach
    void nothingIsCounted() {
        assertEquals(0, nodes.sum());
    }

    private CountedStore store(long most) {
        return store(most, (request, args) -> unanswered.add(args[args.length - 1]));
    }

    private CountedStore store(long most, BiConsumer<String, Object[]> requests) {
        return new CountedStore(FakeStore.of(() -> nodes, requests), most);
    }

    private void answer(Response<?> answer) {
        FakeStore.answer(unanswered.remove(), answer);
    }

    private static Response<TransactionResult> committed(String... names) {
        List<CreatedNode> created = new ArrayList<>();
        for (String name : names) {
            created.add(new CreatedNode(name, 1));
        }
        return Response.of(new TransactionResult(created, Optional.empty()));
    }

    private static Response<TransactionResult> refused(int index, Status code) {
        return Response.of(new TransactionResult(List.of(), Optional.of(new Refusal(index, code, code.name()))));
    }

    private static Response<?> lost() {
        return Response.failed(Status.CONNECTION_LOSS, "CONNECTIONLOSS");
    }

    private static Response<Listing> children(String... names) {
        return Response.of(new Listing(List.of(names), 1));
    }

    private void create() {
        store.create(PREFIX, DATA, told::add);
    }

    private void write(Write... writes) {
        store.write(List.of(writes), told::add);
    }

    /** The barrier of a new connection. */
    private void barrier() {
        write(new Write.Check("/"));
        answer(committed());
    }

    private void list(String... names) {
        store.list("/a", told::add);
        answer(children(names));
    }

    // ---- one node

    @Test
    void nodeCounts_fromBeforeItsCreationIsSentUntilItsDeletionIsConfirmed() {
        create();
        assertEquals(OPEN, nodes.sum());
        assertEquals(List.of(PREFIX), nodes.open());
        assertEquals(List.of(), nodes.known());

        answer(Response.of(new CreatedNode(NAME, 1)));
        assertEquals(KNOWN, nodes.sum());
        assertEquals(List.of(), nodes.open());
        assertEquals(List.of(NODE), nodes.known());

        write(new Write.Mark(NODE), new Write.Delete(NODE));
        assertEquals(KNOWN, nodes.sum());
        answer(committed());
        assertEquals(0, nodes.sum());
        assertEquals(List.of(), nodes.known());
    }

    @Test
    void pathIsCountedInUtf8_withItsChroot() {
        nodes = SessionNodes.ofNewSession("/päth".getBytes(StandardCharsets.UTF_8).length);
        store = store(Long.MAX_VALUE);
        store.create("/ä/lease-", DATA, told::add);
        answer(Response.of(new CreatedNode("lease-0000000000", 1)));
        assertEquals("/p..th/..a/".length() - 1 + "lease-0000000000".length() + 4, nodes.sum());
    }

    @Test
    void nodeWithANegativeNumberIsKnownInFull() {
        create();
        answer(Response.of(new CreatedNode(PREFIX.substring(3) + "-2147483648", 1)));
        assertEquals(List.of(PREFIX + "-2147483648"), nodes.known());
        assertEquals(OPEN, nodes.sum());
    }

    @ParameterizedTest
    @EnumSource(names = {"NO_NODE", "NO_AUTH", "NO_CHILDREN", "OTHER"})
    void refusedCreationCountsNoLonger(Status code) {
        create();
        answer(Response.failed(code, code.name()));
        assertEquals(0, nodes.sum());
        assertEquals(List.of(), nodes.open());
    }

    @Test
    void creationThatTheHandleRefusesToSendDoesNotCount() {
        CountedStore refusing = store(Long.MAX_VALUE, (request, args) -> {
            throw new IllegalArgumentException("no such path");
        });
        assertThrows(IllegalArgumentException.class, () -> refusing.create(PREFIX, DATA, told::add));
        assertEquals(0, nodes.sum());
    }

    // ---- what other clients delete

    @Test
    void nodeIsGone_whenAnEventSaysSo() {
        known();
        nodes.deleted(NODE);
        assertEquals(0, nodes.sum());
    }

    @Test
    void nodeIsGone_whenARequestForItFindsNone() {
        Response<?> none = Response.failed(Status.NO_NODE, "NONODE");
        List<Runnable> requests = List.of(
                () -> store.read(NODE, told::add),
                () -> store.watchData(NODE, told::add),
                () -> store.watchChildren(NODE, told::add));
        for (Runnable request : requests) {
            known();
            request.run();
            answer(none);
            assertEquals(0, nodes.sum());
        }
        known();
        store.exist(List.of("/a", NODE), told::add);
        answer(Response.of(List.of(Status.OK, Status.NO_NODE)));
        assertEquals(0, nodes.sum());
        for (Write write : List.of(new Write.Check(NODE), new Write.Delete(NODE), new Write.Mark(NODE))) {
            known();
            write(new Write.Check("/"), write);
            answer(refused(1, Status.NO_NODE));
            assertEquals(0, nodes.sum());
        }
    }

    @Test
    void nodeIsGone_whenAListBehindItsCreationLacksIt() {
        store.list("/a", told::add);
        create();
        store.list("/a", told::add);
        answer(children());
        answer(Response.of(new CreatedNode(NAME, 1)));
        assertEquals(KNOWN, nodes.sum());
        answer(children("other"));
        assertEquals(0, nodes.sum());
    }

    @Test
    void nodesAreGone_whenTheirPathIs() {
        known();
        store.lists(List.of("/b", "/a"), told::add);
        answer(Response.of(List.of(children(), Response.failed(Status.NO_NODE, "NONODE"))));
        assertEquals(0, nodes.sum());
    }

    @Test
    void nodesStay_whenAReadIsLostOrShowsThem() {
        known();
        store.list("/a", told::add);
        answer(lost());
        list("x", NAME, "y");
        store.read(NODE, told::add);
        answer(lost());
        assertEquals(List.of(NODE), nodes.known());
        assertEquals(KNOWN, nodes.sum());
    }

    private void known() {
        create();
        answer(Response.of(new CreatedNode(NAME, 1)));
        assertEquals(KNOWN, nodes.sum());
    }

    // ---- lost answers

    @Test
    void lostCreationCounts_untilItsNodeIsFoundAndDeleted() {
        create();
        answer(lost());
        barrier();
        list(NAME);
        assertEquals(List.of(NODE), nodes.known());
        assertEquals(KNOWN, nodes.sum());
        write(new Write.Delete(NODE));
        answer(committed());
        assertEquals(0, nodes.sum());
        assertEquals(List.of(), nodes.open());
    }

    @Test
    void lostCreationCounts_untilAListBehindALaterCommittedWriteLacksIt() {
        create();
        write(new Write.Check("/"));
        answer(lost());
        answer(committed()); // of before
        list();
        assertEquals(OPEN, nodes.sum());
        barrier();
        list();
        assertEquals(0, nodes.sum());
    }

    /** It was committed, though it changed nothing. */
    @Test
    void lostCreationIsSettled_byAListBehindATransactionThatFailed() {
        create();
        answer(lost());
        write(new Write.Check("/gone"));
        answer(refused(0, Status.NO_NODE));
        list();
        assertEquals(0, nodes.sum());
    }

    @Test
    void lostCreationIsSettledOnlyByAListThatWasSentBehindTheBarrier() {
        create();
        answer(lost());
        store.list("/a", told::add);
        write(new Write.Check("/"));
        answer(children());
        assertEquals(OPEN, nodes.sum());
        answer(committed());
        assertEquals(OPEN, nodes.sum());
        list("other");
        assertEquals(0, nodes.sum());
        assertEquals(List.of(PREFIX), nodes.open());
    }

    /** A server that the session has left had kept its creation. */
    @Test
    void lostCreationCountsAgain_whenALaterListShowsItsNodeAfterAll() {
        create();
        answer(lost());
        barrier();
        list();
        assertEquals(0, nodes.sum());
        list(NAME);
        assertEquals(KNOWN, nodes.sum());
        write(new Write.Delete(NODE));
        answer(committed());
        assertEquals(0, nodes.sum());
        assertEquals(List.of(), nodes.open());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void lostCreationsAreFoundAmongManyNodes(boolean negative) {
        for (int i = 0; i < 20; i++) {
            store.create("/a/write-" + i + "-", DATA, told::add);
            answer(lost());
        }
        barrier();
        list("write-3-" + (negative ? "-2147483648" : "0000000003"), "write-33-0000000004", "x");
        assertEquals(1, nodes.known().size());
        assertEquals(19, nodes.open().size());
    }

    @Test
    void deletionThatFindsNothingSettlesALostNodeOfThatName() {
        write(new Write.Check(NODE), new Write.CreateNode("/a/revoke-1", DATA));
        write(new Write.Delete("/a/revoke-1"));
        answer(lost());
        answer(refused(0, Status.NO_NODE));
        assertEquals("/a/revoke-1".length() + 4, nodes.sum(), "that deletion was sent before the loss");
        write(new Write.Delete("/a/revoke-1"));
        answer(refused(0, Status.NO_NODE));
        assertEquals(0, nodes.sum());
        assertEquals(List.of(), nodes.open());
    }

    // ---- nodes of a given name

    @Test
    void repeatedCreationOfOneNameCountsOnce() {
        for (int i = 0; i < 3; i++) {
            write(new Write.CreateNode("/a/revoke-1", DATA));
            assertEquals(15, nodes.sum());
            answer(lost());
            assertEquals(15, nodes.sum());
        }
        write(new Write.CreateNode("/a/revoke-1", DATA));
        answer(refused(0, Status.NODE_EXISTS));
        assertEquals(List.of("/a/revoke-1"), nodes.known());
        assertEquals(15, nodes.sum());
    }

    @Test
    void lostRepetitionCounts_whenAnotherClientDeletesTheNodeBeforeItIsApplied() {
        for (int i = 0; i < 2; i++) {
            write(new Write.CreateNode("/a/revoke-1", DATA));
            answer(lost());
        }
        list("revoke-1");
        nodes.deleted("/a/revoke-1");
        assertEquals(15, nodes.sum());
        barrier();
        list("revoke-1");
        assertEquals(List.of("/a/revoke-1"), nodes.known());
        nodes.deleted("/a/revoke-1");
        assertEquals(0, nodes.sum());
    }

    /** The list is not behind a barrier. But the server numbers each creation, so there is no other that it may show. */
    @Test
    void lostCreationCountsNoLonger_whenItsNodeWasShownAndIsDeleted() {
        create();
        answer(lost());
        list(NAME);
        assertEquals(List.of(NODE), nodes.known());
        nodes.deleted(NODE);
        assertEquals(0, nodes.sum());
        assertEquals(List.of(), nodes.open());
    }

    @Test
    void existingNodeDoesNotCount_whenAnotherClientMadeIt() {
        write(new Write.CreateNode("/a/revoke-1", DATA));
        answer(refused(0, Status.NODE_EXISTS));
        assertEquals(0, nodes.sum());
    }

    @Test
    void replacedNodeIsGone_whenTheRepeatedTransactionFindsItsOwnNode() {
        known();
        Write[] downgrade = {new Write.CreateNode("/a/read-1", DATA), new Write.Delete(NODE)};
        write(downgrade);
        answer(lost());
        assertEquals(KNOWN + 13, nodes.sum());
        write(downgrade);
        answer(refused(0, Status.NODE_EXISTS));
        assertEquals(List.of("/a/read-1"), nodes.known());
        assertEquals(13, nodes.sum());
    }

    // ---- transactions

    @Test
    void nodesOfATransactionCountTogetherAndApartFromItsPaths() {
        write(
                new Write.CreatePath("/a"),
                new Write.SetData("/a", DATA, 0),
                new Write.CreateRequest(PREFIX, DATA),
                new Write.CreatePath("/b"),
                new Write.CreateRequest("/b" + PREFIX.substring(2), DATA));
        assertEquals(2 * OPEN, nodes.sum());
        answer(committed("a", NAME, "b", NAME));
        assertEquals(
                List.of(NODE, "/b/" + NAME), nodes.known().stream().sorted().toList());
        assertEquals(2 * KNOWN, nodes.sum());
    }

    @Test
    void refusedTransactionCountsNothing() {
        write(new Write.CreateRequest(PREFIX, DATA), new Write.CreateRequest("/b/write-1-", DATA));
        answer(refused(1, Status.NO_NODE));
        assertEquals(0, nodes.sum());
    }

    // ---- the bound

    @Test
    void creationThatWouldPassTheBoundIsAnsweredAtOnceAndNotSent() {
        store = store(2 * OPEN);
        create();
        store.create("/a/write-0000000000000002-", DATA, told::add);
        assertEquals(Optional.of(2 * OPEN + " of " + 2 * OPEN + " bytes"), store.fullFor(List.of("/")));
        store.create("/", DATA, told::add);
        assertEquals(2, unanswered.size());
        assertEquals(Status.SESSION_FULL, told.get(0).code());
        assertEquals(2 * OPEN, nodes.sum());
        answer(Response.failed(Status.NO_NODE, "NONODE"));
        assertEquals(Optional.empty(), store.fullFor(List.of(PREFIX)));
        assertTrue(store.fullFor(List.of(PREFIX, "/")).isPresent());
        create();
        assertEquals(
                1,
                told.stream().filter(each -> each.code() == Status.SESSION_FULL).count());
    }

    @Test
    void transactionThatReplacesANodeFitsAFullSession() {
        store = store(OPEN);
        known();
        write(new Write.CreateNode("/a/read-1", DATA), new Write.CreateNode("/a/read-2", DATA), new Write.Delete(NODE));
        assertEquals(1, unanswered.size());
        answer(committed("read-1", "read-2"));
        assertEquals(26, nodes.sum());
    }

    @Test
    void writesThatCreateNoNodeAreSentFromAFullSession() {
        store = store(OPEN);
        known();
        store = store(0);
        barrier();
        write(new Write.CreatePath("/b"));
        assertEquals(1, unanswered.size());
    }

    // ---- one handle for several clients

    @Test
    void clientsOfOneHandleShareTheSum() throws Exception {
        ZooKeeper handle = handle();
        ZooKeeper other = handle();
        try {
            SessionNodes one = SessionNodes.ofBorrowed(handle);
            SessionNodes two = SessionNodes.ofBorrowed(handle);
            SessionNodes alone = SessionNodes.ofBorrowed(other);
            List<SessionNodes.Creation> request = List.of(new SessionNodes.Creation(PREFIX, true));
            assertNotSame(one, two);
            assertSame(Optional.empty(), two.sending(request, List.of(), OPEN));
            assertTrue(one.sending(request, List.of(), 1_000).isPresent());
            assertEquals(OPEN + 100, two.sum());
            assertEquals(List.of(), two.open());
            assertEquals(0, alone.sum());

            assertFalse(two.chrootKnown());
            one.created(PREFIX, "/chroot" + NODE);
            assertTrue(two.chrootKnown());
            assertEquals(OPEN + "/chroot".length(), two.sum());
        } finally {
            handle.close();
            other.close();
        }
    }

    private static ZooKeeper handle() throws IOException {
        return new ZooKeeper("127.0.0.1:1", 1_000, event -> {}, false, new ZKClientConfig());
    }
}
