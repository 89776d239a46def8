// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The deadlines of docs/protocol.md, "Validity period": T is 12 s, the margin G is 3 s, the drift 120 ms. */
class SessionExpiryBoundTest {
    private static final Duration T = Duration.ofSeconds(12);
    private static final Duration MARGIN = Duration.ofSeconds(3);
    private static final Duration DRIFT = Duration.ofMillis(120);
    /** The deduction for a lone write, compared with a pair, besides the duration of a request. */
    private static final Duration LESS = Duration.ofSeconds(4).plus(MARGIN);

    private final VirtualClock time = new VirtualClock();
    private final SessionExpiryBound proofs =
            pinging(new SessionExpiryBound(T, MARGIN, Optional.empty(), Optional.empty(), time.now()));

    /** The connection is old enough. */
    private SessionExpiryBound pinging(SessionExpiryBound of) {
        of.connected(time.now().minus(T.multipliedBy(2)));
        return of;
    }

    @Test
    void loneWriteCountsFromTheLatestPing_lessTheMargin() {
        assertEquals(full(time.now()).plus(LESS.negated()), atOnce(proofs));
    }

    @Test
    void writeAMarginAfterAResponse_provesTheAnsweredRequest() {
        ClockReading first = time.now();
        proofs.answered(first, first);
        time.pass(MARGIN);
        assertEquals(full(first), atOnce(proofs));
    }

    @Test
    void requestProvesNothing_lessThanAMarginBeforeTheWrite() {
        proofs.answered(time.now(), time.now());
        time.pass(MARGIN.minusMillis(1));
        assertEquals(full(time.now()).plus(LESS.negated()), atOnce(proofs));
    }

    /**
     * The request may have reached the server just before its response: the leader need not know of it a margin after
     * it was sent.
     */
    @Test
    void slowRequestIsProved_aMarginAfterItsResponse() {
        ClockReading first = time.now();
        time.pass(MARGIN);
        proofs.answered(first, time.now());
        time.pass(MARGIN.minusMillis(1));
        assertEquals(full(time.now()).plus(LESS.plus(MARGIN).negated()), atOnce(proofs));
        time.pass(Duration.ofMillis(1));
        assertEquals(full(first), atOnce(proofs));
    }

    /** The first pings behind it may take as long as it took since it was asked for, or the former one was lost. */
    @ParameterizedTest
    @CsvSource({"-1000, 2000", "0, 2000", "500, 1500"})
    void loneWriteCountsFromEarlier_afterASlowConnection(int lostMillis, int slowMillis) {
        ClockReading asked = time.now();
        ClockReading lost = asked.plus(Duration.ofMillis(lostMillis));
        time.pass(Duration.ofSeconds(2));
        SessionExpiryBound slow =
                pinging(new SessionExpiryBound(T, MARGIN, Optional.of(asked), Optional.of(lost), time.now()));
        time.pass(T.minusSeconds(2));
        assertEquals(full(time.now()).plus(LESS.plusMillis(slowMillis).negated()), atOnce(slow));
    }

    /** The same holds for the ping from which a lone write counts. */
    @Test
    void loneWriteCountsFromEarlier_afterASlowRequest() {
        ClockReading slow = time.now();
        time.pass(Duration.ofSeconds(2));
        proofs.heard(slow, time.now());
        proofs.heard(time.now(), time.now());
        time.pass(Duration.ofSeconds(1));
        assertEquals(full(time.now()).plus(LESS.plusSeconds(2).negated()), atOnce(proofs));
    }

    @Test
    void slowRequestIsForgotten_afterATimeout() {
        ClockReading slow = time.now();
        time.pass(Duration.ofSeconds(2));
        proofs.heard(slow, time.now());
        time.pass(T.plus(MARGIN));
        assertEquals(full(time.now()).plus(LESS.negated()), atOnce(proofs));
    }

    @Test
    void requestIsTimedFromTheConnection_whenItWaitedForIt() {
        ClockReading lost = time.now();
        time.pass(Duration.ofSeconds(5));
        SessionExpiryBound anew =
                pinging(new SessionExpiryBound(T, MARGIN, Optional.empty(), Optional.empty(), time.now()));
        time.pass(Duration.ofSeconds(2));
        anew.heard(lost, time.now());
        assertEquals(full(time.now()).plus(LESS.plusSeconds(2).negated()), atOnce(anew));
    }

    /**
     * There was no ping yet: the leader heard of the session when the connection was made, no earlier than when the
     * previous one was lost.
     */
    @Test
    void loneWriteCountsFromTheLossOfTheFormerConnection_onANewOne() {
        ClockReading lost = time.now();
        time.pass(LESS.plusSeconds(1));
        SessionExpiryBound anew = new SessionExpiryBound(T, MARGIN, Optional.empty(), Optional.of(lost), time.now());
        assertEquals(full(lost), atOnce(anew));
        anew.connected(time.now());
        time.pass(MARGIN.minusMillis(1));
        assertEquals(full(lost), atOnce(anew));
    }

    /**
     * A handle may be borrowed just after a connection whose response took eleven seconds: the leader last heard of the
     * session before these, and ends it a second later.
     */
    @Test
    void loneWriteProvesNothing_whenTheAgeOfTheConnectionIsUnknown() {
        SessionExpiryBound borrowed = new SessionExpiryBound(T, MARGIN, Optional.empty(), Optional.empty(), time.now());
        ClockReading sent = time.now();
        assertEquals(Optional.empty(), borrowed.committed(sent, time.now(), Duration.ZERO));
        borrowed.connected(time.now());
        assertEquals(Optional.empty(), borrowed.committed(time.now(), time.now(), Duration.ZERO));
        time.pass(MARGIN);
        assertEquals(full(sent), atOnce(borrowed));
    }

    @Test
    void loneWriteCountsFromPings_onAnOldConnection() {
        ClockReading lost = time.now();
        SessionExpiryBound idle = new SessionExpiryBound(T, MARGIN, Optional.of(lost), Optional.of(lost), time.now());
        idle.connected(time.now());
        time.pass(T);
        assertEquals(full(time.now()).plus(LESS.negated()), atOnce(idle));
    }

    @Test
    void durationOfTheLoneWriteCounts() {
        ClockReading sent = time.now();
        time.pass(Duration.ofSeconds(2));
        assertEquals(
                full(sent).plus(LESS.plusSeconds(2).negated()),
                proofs.committed(sent, time.now(), Duration.ZERO).orElseThrow());
    }

    /** During the pause, no ping may have been sent. */
    @Test
    void loneWriteCountsFromEarlier_afterAPause() {
        Duration still = Duration.ofSeconds(2);
        assertEquals(
                full(time.now()).plus(LESS.plus(still).negated()),
                proofs.committed(time.now(), time.now(), still).orElseThrow());
    }

    @Test
    void pairOfWritesProvesTheSame_afterAPause() {
        ClockReading first = time.now();
        proofs.answered(first, first);
        time.pass(MARGIN);
        assertEquals(
                full(first),
                proofs.committed(time.now(), time.now(), Duration.ofSeconds(9)).orElseThrow());
    }

    @Test
    void latestRequestOldEnoughCounts() {
        proofs.answered(time.now(), time.now());
        time.pass(Duration.ofSeconds(1));
        ClockReading latest = time.now();
        proofs.answered(latest, latest);
        time.pass(Duration.ofSeconds(2));
        proofs.answered(time.now(), time.now());
        time.pass(Duration.ofSeconds(1));
        assertEquals(full(latest), atOnce(proofs));
    }

    /** The session's heartbeat, a sixth of T, from the first create on, as in guarantees.md for a connected holder. */
    @Test
    void connectedHolderHasAFifthLeft_andAHalfFromTheThirdHeartbeat() {
        Duration beat = T.dividedBy(6);
        ClockReading deadline = atOnce(proofs);
        for (int beats = 1; beats <= 20; beats++) {
            time.pass(beat);
            Duration least = deadline.from(time.now());
            assertTrue(least.compareTo(T.dividedBy(5)) >= 0, () -> least + " left");
            if (beats > 3) {
                assertEquals(T.dividedBy(2).minus(DRIFT), least);
            }
            deadline = atOnce(proofs);
            if (beats >= 3) {
                assertEquals(T.multipliedBy(2).dividedBy(3).minus(DRIFT), deadline.from(time.now()));
            }
        }
    }

    @Test
    void readsAreRememberedForOneTimeout() {
        for (int read = 0; read < 10_000; read++) {
            time.pass(Duration.ofSeconds(1));
            proofs.answered(time.now(), time.now());
        }
        assertEquals(T.toSeconds(), proofs.remembered());
    }

    @Test
    void requestIsProvedAgain_whenASecondWriteFollowsAtOnce() {
        ClockReading first = time.now();
        proofs.answered(first, first);
        time.pass(MARGIN);
        atOnce(proofs);
        assertEquals(full(first), atOnce(proofs));
    }

    @Test
    void requestsAreThinnedOut_whenTheyFollowCloselyUponEachOther() {
        for (int request = 0; request < MARGIN.toMillis(); request++) {
            proofs.answered(time.now(), time.now());
            time.pass(Duration.ofMillis(1));
        }
        assertEquals(8, proofs.remembered());
    }

    @Test
    void newSessionCountsFromItsRequest_lessTheMargin() {
        ClockReading asked = time.now();
        SessionExpiryBound first = new SessionExpiryBound(T, MARGIN, Optional.of(asked), Optional.of(asked), asked);
        time.pass(Duration.ofSeconds(2));
        ClockReading sent = time.now();
        time.pass(Duration.ofSeconds(2));
        assertEquals(
                full(asked).plus(MARGIN.negated()),
                first.committed(sent, time.now(), Duration.ZERO).orElseThrow());
    }

    /** Sends a write that is answered at once. */
    private ClockReading atOnce(SessionExpiryBound to) {
        return to.committed(time.now(), time.now(), Duration.ZERO).orElseThrow();
    }

    /** One timeout from {@code touch} on. */
    private static ClockReading full(ClockReading touch) {
        return touch.plus(T.minus(DRIFT));
    }
}
