// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.WithoutServer;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What a session makes of answers that servers give seldom. */
class ConnectionTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Response<ZnodeStore.Written> COMMITTED =
            Response.of(new ZnodeStore.Written(List.of(), Optional.empty()));
    /** The answer to a request that the server gave up; its connection stays. */
    private static final Response<ZnodeStore.Written> LOST = Response.failed(Status.CONNECTION_LOSS, "REQUESTTIMEOUT");

    private final Engine engine = new Engine(WithoutServer.config());
    private final Session session = new Session(engine.context(), engine);
    /** The writes without an answer. */
    private final Queue<Consumer<Response<ZnodeStore.Written>>> sent = new ArrayDeque<>();

    ConnectionTest() {
        session.open(server());
    }

    @SuppressWarnings("unchecked") // the second argument of a write
    private ZnodeStore server() {
        return (ZnodeStore) Proxy.newProxyInstance(
                ZnodeStore.class.getClassLoader(), new Class<?>[] {ZnodeStore.class}, (proxy, method, args) -> {
                    assertEquals("write", method.getName());
                    sent.add((Consumer<Response<ZnodeStore.Written>>) args[1]);
                    return null;
                });
    }

    private void write() {
        session.connection().write(List.of(new ZnodeStore.Write.Check("/")), answer -> {});
    }

    private void answer(Response<ZnodeStore.Written> how) {
        sent.remove().accept(how);
    }

    /** No event reports the connection again. */
    @Test
    void connectionIsUsedAgain_whenOnlyARequestWasLost() {
        session.connectedWith(TIMEOUT, Optional.empty());
        write();
        answer(LOST);
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

    @Test
    void nothingIsSent_onceTheSessionIsOver() {
        session.end();
        write();
        assertEquals(0, sent.size());
    }
}
