// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The deadlines of protocol section 8: T is 12 s, the margin G is 3 s, the drift 120 ms. */
class ProofsTest {
    private static final Duration T = Duration.ofSeconds(12);
    private static final Duration MARGIN = Duration.ofSeconds(3);
    private static final Duration DRIFT = Duration.ofMillis(120);

    private final VirtualTime time = new VirtualTime();
    private final Proofs proofs = new Proofs(T, MARGIN);

    @Test
    void aLoneWriteCountsFromTheClientsLatestPingAndTheMarginBefore() {
        Moment sent = time.now();
        assertEquals(sent.plus(T.minusSeconds(4).minus(MARGIN).minus(DRIFT)), proofs.committed(sent));
    }

    @Test
    void aWriteAMarginAfterAnAnsweredRequestProvesThatOne() {
        Moment first = time.now();
        proofs.answered(first);
        time.pass(MARGIN);
        assertEquals(first.plus(T.minus(DRIFT)), proofs.committed(time.now()));
    }

    @Test
    void aRequestLessThanAMarginBeforeProvesNothing() {
        proofs.answered(time.now());
        time.pass(MARGIN.minusMillis(1));
        Moment sent = time.now();
        assertEquals(sent.plus(T.minusSeconds(4).minus(MARGIN).minus(DRIFT)), proofs.committed(sent));
    }

    @Test
    void theLatestRequestThatIsOldEnoughCounts() {
        proofs.answered(time.now());
        time.pass(Duration.ofSeconds(1));
        Moment latest = time.now();
        proofs.answered(latest);
        time.pass(Duration.ofSeconds(2));
        proofs.answered(time.now());
        time.pass(Duration.ofSeconds(1));
        assertEquals(latest.plus(T.minus(DRIFT)), proofs.committed(time.now()));
    }

    /** With a heartbeat every margin, a holder has between T - G and T - 2G left. */
    @Test
    void aSteadyHeartbeatKeepsTheDeadlineAhead() {
        proofs.committed(time.now());
        for (int beat = 0; beat < 20; beat++) {
            time.pass(MARGIN);
            assertEquals(time.now().plus(T.minus(MARGIN).minus(DRIFT)), proofs.committed(time.now()));
        }
    }
}
