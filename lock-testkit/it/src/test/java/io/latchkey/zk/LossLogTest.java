// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.SessionState;
import io.latchkey.log.LoggedWarnings;
import io.latchkey.testkit.SimulatedLocks;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the log says of leases that end, and of the connection. */
@Timeout(30)
class LossLogTest {
    // Times that no other test has, as others log beside this one.
    private static final Duration SESSION = Duration.ofMillis(98_765);
    private static final Duration AWAY = Duration.ofMillis(12_347);

    @AutoClose
    private final LoggedWarnings log = LoggedWarnings.listen();

    @AutoClose
    private final SimulatedLocks locks = SimulatedLocks.start(SESSION);

    private final LockClient client = locks.client();

    @Test
    void lossIsLoggedOnce_withPathTokenCauseAndTime() throws Exception {
        Lease lease = client.mutex("/log/one").acquire();
        locks.advance(Duration.ofMillis(1234));
        locks.expire(client);
        assertEquals(
                List.of("Lost the lease on /log/one (token " + lease.token() + "): SESSION_EXPIRED, held for 1234 ms"),
                log.with("/log/one "));
        String thrown =
                assertThrows(LeaseLostException.class, lease::ensureValid).getMessage();
        assertTrue(thrown.startsWith("The lease on /log/one with token " + lease.token() + " is lost ("), thrown);
    }

    @Test
    void lossIsLoggedWithTheLabelOfItsHolder() throws Exception {
        LockClient billing = locks.client("billing");
        Lease ofTheClient = billing.mutex("/log/client").acquire();
        Lease ofTheRequest = billing.mutex("/log/request").labelled("order 42").acquire();
        locks.expire(billing);
        String begin = "Lost the lease on /log/client for billing (token " + ofTheClient.token() + "): ";
        assertTrue(log.with("/log/client ").get(0).startsWith(begin), () -> log.with("/log/client ")
                .toString());
        begin = "Lost the lease on /log/request for order 42 (token " + ofTheRequest.token() + "): ";
        String second = log.with("/log/request ").get(0);
        assertTrue(second.startsWith(begin), second);
    }

    @Test
    void releaseAndCloseAreNotLoggedAsWarnings() throws Exception {
        client.mutex("/log/released").acquire().close();
        Lease held = client.mutex("/log/closed").acquire();
        client.close();
        assertTrue(held.lost().toCompletableFuture().join() != null);
        assertEquals(List.of(), log.with("/log/released"));
        assertEquals(List.of(), log.with("/log/closed"));
    }

    /** With waiting, failed tries and hand-overs. */
    @Test
    void normalRunningIsNotLoggedAboveDebug() throws Exception {
        LockClient other = locks.client();
        for (int i = 0; i < 10; i++) {
            Lease held = client.mutex("/log/normal").acquire();
            assertEquals(Optional.empty(), other.mutex("/log/normal").tryAcquire());
            CompletableFuture<Lease> next = other.mutex("/log/normal").acquireAsync();
            held.close();
            next.get(10, TimeUnit.SECONDS).close();
        }
        assertEquals(List.of(), log.aboveDebugWith("/log/normal"));
        assertTrue(client.mutex("/log/seen").acquire().isValid());
        client.close();
        assertEquals(1, log.aboveDebugWith("/log/seen").size(), "it would be seen");
    }

    @Test
    void manyLossesAreLoggedAsFewLinesAndACount() throws Exception {
        for (int i = 0; i < 357; i++) {
            assertTrue(client.mutex("/log/storm/" + i).acquire().isValid());
        }
        locks.expire(client);
        assertEquals(20, log.with("/log/storm/").size());
        assertEquals(List.of(), log.with("337 more"));

        locks.advance(Duration.ofSeconds(5));
        assertEquals(List.of("Lost 337 more leases: SESSION_EXPIRED; each is logged at debug"), log.with("337 more"));

        assertTrue(client.mutex("/log/later").acquire().isValid());
        locks.expire(client);
        assertEquals(1, log.with("/log/later ").size(), "the next is written out again");
    }

    /** The timer of the second count ends with the client. */
    @Test
    void secondStormIsCountedByItself_whenItsClientIsClosedBeforeTheCountIsDue() throws Exception {
        for (int i = 0; i < 61; i++) {
            assertTrue(client.mutex("/log/first/" + i).acquire().isValid());
        }
        locks.expire(client);
        locks.advance(Duration.ofSeconds(5));
        for (int i = 0; i < 67; i++) {
            assertTrue(client.mutex("/log/second/" + i).acquire().isValid());
        }
        client.close();
        assertEquals(List.of("Lost 41 more leases: SESSION_EXPIRED; each is logged at debug"), log.with("41 more"));
        assertEquals(List.of("47 more leases ended with their client"), log.aboveDebugWith("47 more"));
    }

    @Test
    void lossesAreCountedForEachCause_whenThereAreSeveralInOneSpan() throws Exception {
        for (int i = 0; i < 73; i++) {
            assertTrue(client.mutex("/log/ended/" + i).acquire().isValid());
        }
        locks.expire(client);
        for (int i = 0; i < 59; i++) {
            assertTrue(client.mutex("/log/closed/" + i).acquire().isValid());
        }
        client.close();
        assertEquals(1, log.with("Lost 53 more leases: SESSION_EXPIRED").size());
        assertEquals(
                1, log.aboveDebugWith("59 more leases ended with their client").size());
    }

    @Test
    void exceptionsOfAnObserverAreOneWarning() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        LockClient observed = locks.client(new LockObserver() {
            @Override
            public void requested(Request request) {
                throw new IllegalStateException("thrown by a test");
            }

            @Override
            public void sessionChanged(SessionState state) {
                if (state == SessionState.CLOSED) {
                    closed.countDown();
                }
            }

            @Override
            public String toString() {
                return "of the log's test";
            }
        });
        for (int i = 0; i < 3; i++) {
            observed.mutex("/a").acquire().close();
        }
        observed.close();
        assertTrue(closed.await(10, TimeUnit.SECONDS));
        assertEquals(
                1, log.with("The observer of the log's test threw an exception").size());
    }

    // ---- the connection

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

    /** The first attempt to connect again that fails after the span reports it. */
    @Test
    void lossThatLastsIsLogged_whenItFollowsOthersAtOnce() throws Exception {
        locks.advance(SESSION);
        assertTrue(client.mutex("/a").acquire().isValid());
        for (int i = 0; i < 29; i++) {
            locks.disconnect(client);
            locks.heal(client);
        }
        locks.disconnect(client);
        String times = "lost, 29 times since this was logged last. 1 leases";
        assertEquals(0, log.with(times).size());
        locks.advance(AWAY);
        assertEquals(1, log.with(times).size());
        locks.advance(AWAY.plusMillis(3));
        locks.heal(client);
        assertEquals(1, log.aboveDebugWith("again after 24697 ms, in the same").size());
    }
}
