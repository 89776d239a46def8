// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.latchkey.lock.LockException.Reason;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Owner;
import io.latchkey.zk.internal.validity.VirtualClock;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ErrorsTest {
    @Test
    void reasonIsNoSession_whileNoSessionIsOpen() {
        Engine engine = new Engine(new ClientConfig(
                new ClientConfig.Source.Own(listener -> {
                    throw new AssertionError("never started");
                }),
                Duration.ofSeconds(10),
                Optional.empty(),
                new Owner("host", 1, "label"),
                () -> 1,
                new VirtualClock(),
                Runnable::run,
                path -> path));
        LockUnavailableException told = assertThrows(LockUnavailableException.class, () -> engine.queries()
                .ask(new LockPath("/m"), "read the queue", (session, answer) -> answer.complete(true)));
        assertEquals(Reason.NO_SESSION, told.reason());
    }
}
