// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.validity.ClockReading;
import io.latchkey.zk.internal.validity.VirtualClock;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class PromptReconnectsTest {
    private static final int SERVERS = 3;
    private static final int PROMPT = PromptReconnects.PROMPT_ROUNDS * SERVERS;
    private static final long PAUSE_MILLIS = 1_000;

    private final VirtualClock time = new VirtualClock();
    private final ConnectAttempts attempts = new ConnectAttempts(time::now);
    private final AtomicInteger sinceConnected = new AtomicInteger();
    private final PromptReconnects servers = ofNextHandle();

    private PromptReconnects ofNextHandle() {
        List<InetSocketAddress> addresses = Stream.of(1, 2, 3)
                .map(port -> new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .toList();
        return new PromptReconnects(addresses, attempts, sinceConnected);
    }

    /** The report of a connection may come when the next connection has been made. */
    @Test
    void eachConnectionCountsFromItsOwnAttempt() {
        assertTrue(attempts.next().isEmpty(), "no attempt was made");
        servers.next(0);
        ClockReading first = time.now();
        time.pass(Duration.ofSeconds(1));
        servers.onConnected();
        time.pass(Duration.ofSeconds(1));
        servers.next(0); // fails
        time.pass(Duration.ofSeconds(1));
        servers.next(0);
        ClockReading third = time.now();
        servers.onConnected();
        assertEquals(
                List.of(first, third),
                Stream.generate(attempts::next)
                        .limit(2)
                        .map(attempt -> attempt.orElseThrow().begun())
                        .toList());
        assertTrue(attempts.next().isEmpty(), "no further connection");
    }

    @BeforeEach
    void connect() {
        servers.onConnected();
    }

    /** Returns whether one of so many attempts waits before it. */
    private static boolean isPauseIn(PromptReconnects servers, int attempts) {
        for (int i = 0; i < attempts; i++) {
            long start = System.nanoTime();
            servers.next(PAUSE_MILLIS);
            if (System.nanoTime() - start >= PAUSE_MILLIS * 1_000_000) {
                return true;
            }
        }
        return false;
    }

    @Test
    void roundsHaveNoPause_afterAConnection() {
        assertFalse(isPauseIn(servers, PROMPT));
    }

    @Test
    @Tag("slow")
    void roundsHaveTheUsualPause_inALongOutage() {
        assertFalse(isPauseIn(servers, PROMPT));
        assertTrue(isPauseIn(servers, SERVERS));
    }

    /** As after each session timeout without a server. */
    @Test
    @Tag("slow")
    void roundsHaveTheUsualPause_whenAnotherHandleIsOpenedInALongOutage() {
        assertFalse(isPauseIn(servers, PROMPT));
        assertTrue(isPauseIn(ofNextHandle(), SERVERS + 1), "ZooKeeper's own first round has none");
    }

    @Test
    void roundsHaveNoPauseAgain_afterTheNextConnection() {
        assertFalse(isPauseIn(servers, PROMPT));
        servers.onConnected();
        assertFalse(isPauseIn(servers, PROMPT));
    }

    /** The pause comes before the server that was connected last. */
    @Test
    void allOtherServersAreTriedWithoutAPause_whenTheSecondOneWasConnected() {
        servers.next(0);
        servers.next(0);
        servers.onConnected();
        assertFalse(isPauseIn(servers, PROMPT + SERVERS - 1));
    }

    @Test
    void allServersAreTried() {
        assertEquals(
                SERVERS,
                Stream.generate(() -> servers.next(0)).limit(SERVERS).distinct().count());
        assertEquals(SERVERS, servers.size());
    }
}
