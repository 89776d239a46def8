// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.WithoutServer;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.store.FakeStore;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.validity.VirtualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks of nodes that the server refuses, and of nodes that watches report as deleted. */
class NodeChecksTest {
    private static final NodeName NAME =
            NodeName.parse("write-00000000000000a1-0000000000").orElseThrow();

    private static final Response<ZnodeStore.TransactionResult> COMMITTED =
            Response.of(new ZnodeStore.TransactionResult(List.of(), Optional.empty()));

    /** What the server answers when it is asked which of the other nodes exist. */
    private Response<?> others = Response.of(List.of());
    /** What happens before that answer. */
    private Runnable beforeAnswer = () -> {};

    private final List<Object> askedFor = new ArrayList<>();
    private final List<String> gone = new ArrayList<>();
    private final Session session = new Session(new Engine(WithoutServer.config()).context(), new SessionThatLives());

    /** A holder's node. */
    private final class HeldNode implements SessionNode {
        private final LockPath path;
        private Optional<NodeName> node = Optional.of(NAME);
        private boolean beingReplaced;

        HeldNode(String path) {
            this.path = new LockPath(path);
        }

        @Override
        public LockPath path() {
            return path;
        }

        @Override
        public Optional<NodeName> node() {
            return node;
        }

        @Override
        public boolean isAt(NodeName name) {
            return !beingReplaced && node.equals(Optional.of(name));
        }

        @Override
        public boolean isHeld() {
            return true;
        }

        @Override
        public void leaveToWatch() {}

        @Override
        public boolean isLeftToWatch() {
            return false;
        }

        @Override
        public void nodeGone(NodeName name) {
            node = Optional.empty();
            gone.add(path.node());
        }
    }

    /** Returns a server that refuses the first check of each transaction. */
    private ZnodeStore refusing(Status why) {
        ZnodeStore.TransactionResult refused =
                new ZnodeStore.TransactionResult(List.of(), Optional.of(new ZnodeStore.Refusal(0, why, why.name())));
        return FakeStore.of((request, args) -> {
            if (request.equals("write")) {
                FakeStore.answer(args[1], Response.of(refused));
            } else {
                assertEquals("exist", request);
                askedFor.addAll((List<?>) args[0]);
                beforeAnswer.run();
                FakeStore.answer(args[1], others);
            }
        });
    }

    /** As those of a client whose ACL does not let it read its own nodes, on a path of an operator. */
    @Test
    void nodeIsNotTakenForDeleted_whenTheClientMayNotReadIt() {
        session.open(refusing(Status.NO_AUTH));
        List<SessionNode.OwnedNode> nodes = nodesAt("/a", "/b", "/c");
        others = Response.of(List.of(Status.NO_NODE, Status.NO_AUTH));
        List<Response<ZnodeStore.TransactionResult>> answers = new ArrayList<>();
        session.nodeChecks().check(nodes, () -> true, answers::add);
        assertEquals(List.of(nodes.get(1).path(), nodes.get(2).path()), askedFor);
        assertEquals(List.of("/b"), gone);
        assertEquals(1, answers.size());
        assertEquals("1 NO_NODE", refusalIn(answers.get(0)));
        others = Response.of(List.of(Status.OK, Status.NO_AUTH));
        session.nodeChecks().check(nodes, () -> true, answers::add);
        assertEquals("0 NO_AUTH", refusalIn(answers.get(1)), "all are there");
    }

    private static String refusalIn(Response<ZnodeStore.TransactionResult> answer) {
        ZnodeStore.Refusal refusal = answer.get().failedAt().orElseThrow();
        return refusal.index() + " " + refusal.code();
    }

    private List<SessionNode.OwnedNode> nodesAt(String... paths) {
        return Stream.of(paths)
                .map(path -> new SessionNode.OwnedNode(new HeldNode(path), NAME))
                .toList();
    }

    @Test
    void noOtherNodeIsAskedFor_whenTheMissingOneIsAlone() {
        session.open(refusing(Status.NO_NODE));
        beforeAnswer = () -> gone.add("a request for no node");
        session.nodeChecks()
                .check(
                        nodesAt("/a"),
                        () -> true,
                        answer -> gone.add(answer.code().name()));
        assertEquals(List.of("/a", "OK"), gone);
    }

    /** No request may be granted by this check: its node was not looked at. */
    @Test
    void checkHasNoAnswer_whenTheQuestionForTheOthersHasNone() {
        session.open(refusing(Status.NO_NODE));
        others = Response.failed(Status.CONNECTION_LOSS, "lost");
        session.nodeChecks()
                .check(
                        nodesAt("/a", "/b"),
                        () -> true,
                        answer -> gone.add(answer.code().name()));
        assertEquals(List.of("/a", "CONNECTION_LOSS"), gone);
    }

    /** A downgrade replaces it: then the old node is expected to be gone. */
    @Test
    void nodeIsNotTakenForDeleted_whenItIsReplacedBeforeTheAnswer() {
        session.open(refusing(Status.NO_NODE));
        List<SessionNode.OwnedNode> nodes = nodesAt("/a", "/b", "/c");
        others = Response.of(List.of(Status.NO_NODE, Status.NO_NODE));
        beforeAnswer = () -> ((HeldNode) nodes.get(1).owner()).beingReplaced = true;
        session.nodeChecks().check(nodes, () -> true, answer -> {});
        assertEquals(List.of("/a", "/c"), gone);
    }

    /** The first deletion is checked at once, and those reported until its answer together, up to 500 at a time. */
    @Test
    void reportedNodesAreCheckedInParts_withAPauseBehindTheLast() {
        List<Integer> sizes = new ArrayList<>();
        List<Object> unanswered = new ArrayList<>();
        session.open(FakeStore.of((request, args) -> {
            sizes.add(((List<?>) args[0]).size());
            unanswered.add(args[1]);
        }));
        session.connectedWith(Duration.ofSeconds(10), Optional.empty());
        VirtualClock time = (VirtualClock) session.context().clock();
        int before = time.delays().size();
        for (int i = 0; i < 502; i++) {
            SessionNode held = new HeldNode("/" + i);
            session.nodeChecks().update(held);
            session.nodeChecks().reported(held);
        }
        while (!unanswered.isEmpty()) {
            FakeStore.answer(unanswered.remove(0), COMMITTED);
            time.timers().get(time.timers().size() - 1).run();
        }
        assertEquals(List.of(1, 500, 1), sizes);
        Duration pause = Duration.ofMillis(100);
        assertEquals(
                List.of(pause, Duration.ZERO, pause),
                time.delays().subList(before, time.delays().size()));

        for (String path : List.of("/at-once", "/in-the-pause")) {
            SessionNode held = new HeldNode(path);
            session.nodeChecks().update(held);
            session.nodeChecks().reported(held);
            if (unanswered.size() == 1) {
                FakeStore.answer(unanswered.remove(0), COMMITTED);
            }
        }
        assertEquals(List.of(1, 500, 1, 1), sizes);
        time.timers().get(time.timers().size() - 1).run();
        assertEquals(List.of(1, 500, 1, 1, 1), sizes);
    }
}
