// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The ages of simulated sessions: T is 6 s, a tick 2 s, and servers report every second. */
class SessionsTest {
    private final SimulatedTime time = new SimulatedTime();
    private final Sessions sessions = new Sessions(time, Sessions.Expiry.BY_TIME, this::ended);
    private final long session = sessions.open(Duration.ofSeconds(6).toNanos());

    private void ended(long which) {
        assertTrue(sessions.close(which));
    }

    private void moveTo(double seconds) {
        long moment = (long) (seconds * 1e9);
        while (time.hasNext() && time.nextAt() <= moment) {
            time.runNext();
        }
        time.moveTo(moment);
    }

    private void assertEndsAt(int seconds) {
        moveTo(seconds - 0.001);
        assertTrue(sessions.has(session), "it ended early");
        moveTo(seconds);
        assertFalse(sessions.has(session), "it lives on");
    }

    @Test
    void sessionEndsAtTheTickAfterItsTimeout() {
        assertEndsAt(8);
    }

    @Test
    void touchCountsFromItsReport() {
        moveTo(2.5);
        sessions.touch(session); // reported after 3 s
        assertEndsAt(10);
    }

    @Test
    void reconnectCounts_behindAReportOfBefore() {
        moveTo(0.1);
        sessions.touch(session); // reported after 1 s
        moveTo(2.5);
        sessions.touchAtLeader(session);
        assertEndsAt(10);
    }
}
