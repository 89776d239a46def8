// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.SessionStatus;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.WithoutServer;
import io.latchkey.zk.internal.store.FakeStore;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.validity.VirtualClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a session makes of answers that servers give seldom. */
class ConnectionTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Response<ZnodeStore.TransactionResult> COMMITTED =
            Response.of(new ZnodeStore.TransactionResult(List.of(), Optional.empty()));
    /** The answer to a request that the server gave up; its connection stays. */
    private static final Response<ZnodeStore.TransactionResult> LOST =
            Response.failed(Status.CONNECTION_LOSS, "REQUESTTIMEOUT");

    private final Engine engine = new Engine(WithoutServer.config());
    private final Session session = new Session(engine.context(), new SessionThatLives());
    private final VirtualClock time = timeOf(session);
    /** The writes without an answer. */
    private final Queue<Object> sent = new ArrayDeque<>();

    ConnectionTest() {
        session.open(server());
    }

    private ZnodeStore server() {
        return FakeStore.of((request, args) -> {
            assertEquals("write", request);
            sent.add(args[1]);
        });
    }

    private static VirtualClock timeOf(Session of) {
        return (VirtualClock) of.context().clock();
    }

    private void write() {
        session.connection().write(List.of(new ZnodeStore.Write.Check("/")), answer -> {});
    }

    private void answer(Response<ZnodeStore.TransactionResult> how) {
        FakeStore.answer(sent.remove(), how);
    }

    /** No event reports the connection again. */
    @ParameterizedTest
    @EnumSource(names = {"CONNECTION_LOSS", "READ_ONLY"})
    void connectionIsUsedAgain_whenOnlyARequestWasLost(Status how) {
        session.connectedWith(TIMEOUT, Optional.empty());
        write();
        answer(Response.failed(how, how.name()));
        assertFalse(session.connection().connected());
        assertEquals(1, sent.size(), "the barrier");
        answer(COMMITTED);
        assertTrue(session.connection().connected());
    }

    @Test
    void answerProvesNothing_whenItsRequestWasSentBeforeAnotherOneWasLost() {
        session.connectedWith(TIMEOUT, Optional.empty());
        write();
        write();
        answer(LOST);
        answer(COMMITTED);
        assertFalse(session.validity().isValid());
    }

    /** The time at which the session was asked for is known nevertheless. */
    @Test
    void writeProvesHalfASession_whenTheAttemptOfItsConnectionIsUnknown() {
        session.connectedWith(TIMEOUT, Optional.empty());
        write();
        answer(COMMITTED);
        Duration left = session.validity().remaining();
        assertTrue(left.compareTo(TIMEOUT.dividedBy(2)) > 0, left::toString);
    }

    /** The server may have been as slow with a ping. */
    @Test
    void writeProvesLess_whenARequestOfTheFormerConnectionWasAnsweredLate() {
        session.connectedWith(TIMEOUT, Optional.empty());
        write();
        session.disconnected();
        session.connectedWith(TIMEOUT, Optional.empty());
        time.pass(Duration.ofSeconds(3));
        answer(COMMITTED);
        answer(COMMITTED); // the barrier that was sent before there was a connection
        answer(COMMITTED); // that of the connection
        time.pass(Duration.ofSeconds(8));
        write();
        answer(COMMITTED);
        assertEquals(Duration.ofMillis(9_900 - 8_000), session.validity().remaining());
    }

    /** The write is answered a second after it was sent, and the ping that counts may be a timeout older than that. */
    @Test
    void writeProvesLess_whenTheProcessStoodStillATimeoutBeforeItWasSent() {
        session.connectedWith(TIMEOUT, Optional.empty());
        time.pass(TIMEOUT);
        time.stoodStill(Duration.ofSeconds(1));
        time.pass(TIMEOUT.minusMillis(500));
        write();
        time.pass(Duration.ofSeconds(1));
        answer(COMMITTED);
        Duration left = session.validity().remaining();
        assertTrue(session.validity().isValid() && left.compareTo(Duration.ofMillis(1_100)) < 0, left::toString);
    }

    /** A server that has answered has the session's pings, and its leader hears of them within a margin. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void writeProvesMore_whenAReadWasAnsweredAMarginBefore(boolean reads) {
        session.connectedWith(TIMEOUT, Optional.empty());
        time.pass(TIMEOUT.dividedBy(4));
        if (reads) {
            session.connection().ask(done -> done.accept(Response.of("read")), answer -> {});
        }
        time.pass(TIMEOUT.dividedBy(4));
        write();
        answer(COMMITTED);
        Duration left = session.validity().remaining();
        assertEquals(reads, left.compareTo(TIMEOUT.dividedBy(2)) > 0, left::toString);
    }

    /** No attempt in between was proved: the servers last heard of the session before the first loss. */
    @Test
    void writeCountsFromTheFirstLoss_whenAnAttemptToReconnectFailed() {
        Session borrowed = borrowed();
        borrowed.connectedWith(TIMEOUT, Optional.empty());
        borrowed.disconnected();
        timeOf(borrowed).pass(TIMEOUT);
        answer(LOST);
        borrowed.connectedWith(TIMEOUT, Optional.empty());
        answer(COMMITTED);
        assertTrue(borrowed.connection().connected());
        assertFalse(borrowed.validity().isValid());
    }

    /** As when another client creates the node that is watched there. */
    @Test
    void sessionIsConnectedSinceItsFirstReport_whenABorrowedHandleReportsItAgain() {
        Session borrowed = borrowed();
        borrowed.connectedWith(TIMEOUT, Optional.empty());
        SessionStatus before = borrowed.context().events().view();
        timeOf(borrowed).pass(TIMEOUT);
        borrowed.connectedWith(TIMEOUT, Optional.empty());
        assertEquals(before, borrowed.context().events().view());
    }

    private Session borrowed() {
        Session borrowed = new Session(new Engine(WithoutServer.borrowing()).context(), new SessionThatLives());
        borrowed.open(server());
        return borrowed;
    }

    /** ZooKeeper's client reports such an attempt as a lost connection. */
    @Test
    void sessionHasNotConnected_whenItsFirstAttemptFailed() {
        session.disconnected();
        assertFalse(session.connection().hasConnected());
        assertEquals(0, sent.size());
    }

    /** Its caller waits for a session timeout, which all reads of the other may exceed. */
    @Test
    void readOfAQueryIsNext_whenManyReadsOfAnotherWait() {
        Queue<Object> answers = new ArrayDeque<>();
        List<Object> read = new ArrayList<>();
        Session reading = new Session(engine.context(), new SessionThatLives());
        reading.open(FakeStore.of((request, args) -> {
            read.add(args[0]);
            answers.add(args[1]);
        }));
        reading.connectedWith(TIMEOUT, Optional.empty());
        for (int i = 0; i < 1_000; i++) {
            reading.readsInTurn().read("long", () -> true, "/long/" + i, answer -> {});
        }
        reading.readsInTurn().read("short", () -> true, "/short", answer -> {});
        int onTheWire = read.size();
        for (int i = 0; i < 1_000; i++) {
            FakeStore.answer(answers.remove(), Response.failed(Status.NO_NODE, ""));
            assertTrue(answers.size() <= onTheWire, answers.size() + " on the wire");
        }
        assertEquals(List.of(100, 1_001), List.of(onTheWire, read.size()));
        assertTrue(read.indexOf("/short") <= onTheWire + 1, "sent as number " + read.indexOf("/short"));
    }

    @Test
    void nothingIsSent_onceTheSessionIsOver() {
        session.end();
        write();
        assertEquals(0, sent.size());
    }
}
