// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.log.LoggedWarnings;
import io.latchkey.testkit.SimulatedLocks;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the log says of the connection. */
@Timeout(30)
class ConnectionLogTest {
    // Times that no other test has, as others log beside this one.
    private static final Duration SESSION = Duration.ofMillis(98_765);
    private static final Duration AWAY = Duration.ofMillis(12_347);

    private final LoggedWarnings log = LoggedWarnings.listen();
    private final SimulatedLocks locks = SimulatedLocks.start(SESSION);
    private final LockClient client = locks.client();

    @AfterEach
    void close() {
        locks.close();
        log.close();
    }

    @Test
    void lossAndReturnAreALineEach_whenLeasesAreHeld() throws Exception {
        Lease held = client.mutex("/a").acquire();
        locks.advance(SESSION);
        long left = held.remaining().toMillis();
        locks.disconnect(client);
        locks.advance(AWAY);
        locks.heal(client);
        assertEquals(
                List.of("Connection to ZooKeeper lost. 1 leases are suspect, and lost in " + left
                        + " ms unless it is back by then"),
                log.with(left + " ms unless"));
        assertEquals(
                List.of("Connected to ZooKeeper again after 12347 ms, in the same session"),
                log.aboveDebugWith("12347 ms"));
    }

    @Test
    void returnNamesTheNewSession_whenTheFormerIsOver() throws Exception {
        assertTrue(client.mutex("/a").acquire().isValid());
        locks.disconnect(client);
        locks.advance(SESSION.multipliedBy(2));
        locks.heal(client);
        assertEquals(
                List.of("Connected to ZooKeeper again after 197530 ms, in a new session"),
                log.aboveDebugWith("197530 ms"));

        locks.disconnect(client);
        locks.advance(AWAY.plusMillis(2));
        locks.heal(client);
        assertEquals(
                List.of("Connected to ZooKeeper again after 12349 ms, in the same session"),
                log.aboveDebugWith("12349 ms"));
        assertEquals(List.of(), log.with(". 0 leases are suspect"));
    }

    @Test
    void lossesAreCounted_whenTheConnectionIsLostAgainAndAgain() throws Exception {
        locks.advance(SESSION);
        assertTrue(client.mutex("/a").acquire().isValid());
        for (int i = 0; i < 57; i++) {
            locks.disconnect(client);
            locks.advance(Duration.ofMillis(100));
            locks.heal(client);
            locks.advance(Duration.ofMillis(23));
        }
        locks.advance(AWAY);
        locks.disconnect(client);
        assertEquals(
                1,
                log.with("lost, 57 times since this was logged last. 1 leases").size());
        assertTrue(log.aboveDebugWith("again after 100 ms").size() < 3, "and the returns are not written out either");
    }
}
