// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.testkit.server.ProcessEnsemble;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.ZooKeeper.States;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A server that has lost its quorum and serves read-only handles on. The session of such a handle can create nothing,
 * so there are no holders in it. When a quorum is back, the handle gets another session, with another id, without an
 * event for the end of the first.
 */
@Tag("once")
@Tag("long")
@Timeout(120)
class ReadOnlyServerTest {
    private static final int LEFT = 2;
    private static final int SESSION_MILLIS = 6000;
    /** ZooKeeper's client gives up by itself a third of it later, which is not to come first. */
    private static final Duration HOLDERS_SESSION = Duration.ofSeconds(15);

    private static final Duration TURNS = Duration.ofSeconds(40);

    @Test
    void noLeaseIsValidOnAReadOnlyServer_andAllContinueWithTheQuorum() throws Exception {
        try (ProcessEnsemble ensemble =
                        ProcessEnsemble.start("localSessionsEnabled=true", "localSessionsUpgradingEnabled=true");
                ZkLockClient ordinary = ZkLockClient.builder()
                        .connectString(ensemble.connectString())
                        .sessionTimeout(HOLDERS_SESSION)
                        .connectTimeout(TURNS)
                        .build()) {
            Lease held = ordinary.mutex("/held").acquire();
            assertTrue(held.isValid());
            CompletableFuture<Long> lostAt =
                    held.lost().thenApply(cause -> System.nanoTime()).toCompletableFuture();
            ensemble.kill(0);
            long quorumUntil = System.nanoTime();
            ensemble.kill(1);
            Eventually.holds("a server without a quorum", TURNS, () -> ensemble.isReadOnly(LEFT));

            // A session with nodes is none that this server may serve: its owner steps back in time.
            assertEquals(
                    LossCause.DEADLINE_PASSED, held.lost().toCompletableFuture().get(30, TimeUnit.SECONDS));
            assertEquals(LeaseState.LOST, held.state());
            Duration believed = Duration.ofNanos(lostAt.get() - quorumUntil);
            assertTrue(believed.compareTo(HOLDERS_SESSION) < 0, "believed for " + believed);
            LockServiceUnavailableException refused = assertThrows(LockServiceUnavailableException.class, () -> {
                ZkLockClient unused = ZkLockClient.builder()
                        .connectString(ensemble.connectString(LEFT))
                        .sessionTimeout(Duration.ofMillis(SESSION_MILLIS))
                        .build();
            });
            assertTrue(refused.getMessage().contains("read-only"), refused.getMessage());

            ZooKeeper handle = new ZooKeeper(ensemble.connectString(), SESSION_MILLIS, event -> {}, true);
            try {
                goesOnWithTheQuorum(ensemble, handle, held.token());
            } finally {
                handle.close();
            }
        }
    }

    private static void goesOnWithTheQuorum(ProcessEnsemble ensemble, ZooKeeper handle, long before) throws Exception {
        try (ZkLockClient borrowing = ZkLockClient.builder()
                .using(handle)
                .connectTimeout(Duration.ZERO)
                .build()) {
            Eventually.holds("a read-only handle", TURNS, () -> handle.getState() == States.CONNECTEDREADONLY);
            long sessionOfNoUse = handle.getSessionId();
            assertEquals(Optional.empty(), borrowing.mutex("/held").tryAcquire(Duration.ofMillis(500)));
            CompletableFuture<Lease> waiting = borrowing.mutex("/held").acquireAsync();
            CompletableFuture<Lease> elsewhere = borrowing.mutex("/elsewhere").acquireAsync();
            assertFalse(elsewhere.isDone());

            ensemble.restart(0);
            ensemble.restart(1);
            Lease next = waiting.get(60, TimeUnit.SECONDS);
            Lease other = elsewhere.get(60, TimeUnit.SECONDS);
            assertTrue(next.isValid() && other.isValid());
            assertTrue(next.token() > before);
            assertTrue(handle.getSessionId() != sessionOfNoUse, "the session was to change");
            List<String> queue = handle.getChildren("/held", false);
            assertEquals(1, queue.size());
            Stat node = handle.exists("/held/" + queue.get(0), false);
            assertEquals(handle.getSessionId(), node.getEphemeralOwner());
            next.close();
            other.close();
        }
    }
}
