// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.BadPathException;
import io.latchkey.lock.ClientClosedException;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockException.Reason;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.SessionExpiredException;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.WithoutServer;
import io.latchkey.zk.internal.queue.LockPath;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ErrorsTest {
    @Test
    void reasonIsNoSession_whileNoSessionIsOpen() {
        Engine engine = new Engine(WithoutServer.config());
        LockServiceUnavailableException told =
                assertThrows(LockServiceUnavailableException.class, () -> engine.queries()
                        .ask(
                                new LockPath("/m"),
                                Errors.Purpose.toSee("read the queue"),
                                (session, answer) -> answer.complete(true)));
        assertEquals(Reason.NO_SESSION, told.reason());
    }

    /** Also of the error that a caller gets, which is a copy. */
    @Test
    void reasonOfAnErrorWithoutCases_isThatOfItsType() {
        Map<Reason, LockException> errors = Map.of(
                Reason.ACCESS_DENIED, new AccessDeniedException("told"),
                Reason.BAD_PATH, new BadPathException("told"),
                Reason.CLIENT_CLOSED, new ClientClosedException("told"),
                Reason.SESSION_EXPIRED, new SessionExpiredException("told"),
                Reason.LEASE_LOST, new LeaseLostException("told", LossCause.NODE_DELETED),
                Reason.NO_ANSWER, new LockServiceUnavailableException("told"),
                Reason.OTHER, new LockException("told"));
        errors.forEach((reason, error) -> {
            assertEquals(reason, error.reason(), error::toString);
            LockException own = assertInstanceOf(LockException.class, Errors.own(error));
            assertEquals(reason, own.reason(), error::toString);
        });
        assertEquals(Reason.OTHER, new LockException("told", new IllegalStateException("the cause")).reason());
    }
}
