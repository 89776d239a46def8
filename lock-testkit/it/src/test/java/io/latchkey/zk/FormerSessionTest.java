// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.SessionState;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A client whose handle gives the session up while the server keeps it. No session ends by time here, so a client that
 * opened a new session beside the former one would wait for its own nodes for ever.
 */
@Tag("once")
@Timeout(120)
class FormerSessionTest extends OnOneServer {
    private static final Duration GRANTED_WITHIN = Slowness.stretched(Duration.ofSeconds(15));

    private final List<SessionState> states = new CopyOnWriteArrayList<>();

    FormerSessionTest() throws InterruptedException {}
    /** Not behind a proxy: a handle counts from its last TCP connection. */
    private final ZkLockClient client =
            client(builder -> builder.sessionTimeout(SESSION).observer(new LockObserver() {
                @Override
                public void sessionChanged(SessionState state) {
                    states.add(state);
                }
            }));

    @Test
    @Tag("slow")
    void formerSessionIsClosedBeforeTheNextOne_whenTheHandleGaveItUp() throws Exception {
        server().holdExpiry();
        Lease held = client.mutex("/m").acquire();
        CompletableFuture<Lease> waiting = client.mutex("/m").acquireAsync();
        awaitRequests("/m", 2);
        long former = requestsUnder("/m").get(0).session();
        server().stop();
        Eventually.holds("the handle gives up", GRANTED_WITHIN, () -> states.contains(SessionState.EXPIRED));
        assertFalse(held.isValid());
        server().restart();
        assertTrue(server().hasSession(former), "the server keeps it");
        Lease next = waiting.get(GRANTED_WITHIN.toSeconds(), TimeUnit.SECONDS);
        assertTrue(next.isValid());
        assertFalse(server().hasSession(former));
        assertEquals(1, requestsUnder("/m").size());
        next.close();
        assertEquals(
                List.of(
                        SessionState.CONNECTED,
                        SessionState.DISCONNECTED,
                        SessionState.EXPIRED,
                        SessionState.CONNECTED),
                List.copyOf(states));
    }
}
