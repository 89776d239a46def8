// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.Script;
import org.junit.jupiter.api.Test;

class LossCheckerTest {
    private static void assertSays(Class<? extends Verdict> expected, Script script) {
        Verdict verdict = LossChecker.check(script.events());
        assertInstanceOf(expected, verdict, verdict::toString);
    }

    private static Script granted() {
        return new Script().requested(0, "a", 1).granted(1, "a", 1, 5, 77).valid(2, "a", 1);
    }

    @Test
    void lossReportedOnce_obeysTheRule() {
        assertSays(Verdict.Obeyed.class, granted().lost(10, "a", 1));
        assertSays(Verdict.Obeyed.class, granted().released(10, "a", 1));
    }

    @Test
    void lossReportedTwice_breaksTheRule() {
        assertSays(Verdict.Broken.class, granted().lost(10, "a", 1).lost(11, "a", 1));
    }

    @Test
    void lossFoundByARelease_isReportedOnce() {
        History history = new History();
        Attempt attempt = history.attempt("a", "/m");
        attempt.granted(5);
        attempt.releasing();
        attempt.lost("SESSION_EXPIRED");
        attempt.released(ReleaseOutcome.LOST);
        LossChecker.check(history).assertObeyed();
    }

    @Test
    void lostLeaseIsNeverValidAgain() {
        assertSays(Verdict.Broken.class, granted().lost(10, "a", 1).valid(11, "a", 1));
    }

    @Test
    void lostLeaseIsNotReleased() {
        assertSays(Verdict.Broken.class, granted().lost(10, "a", 1).released(11, "a", 1));
        assertSays(Verdict.Obeyed.class, granted().lost(10.5, "a", 1).released(10, "a", 1));
    }

    @Test
    void lossBeforeAGrant_breaksTheRule() {
        assertSays(
                Verdict.Broken.class,
                new Script().requested(0, "a", 1).lost(1, "a", 1).granted(2, "a", 1, 5));
    }

    @Test
    void lossWithoutAReport_isUndecided() {
        Script script = granted().sessionEnds(10, 12, "a", 77, ExpiryOrder.SERVER_FIRST);
        assertSays(Verdict.Undecided.class, script);
        assertSays(Verdict.Obeyed.class, script.lost(20, "a", 1));
        assertSays(Verdict.Obeyed.class, granted().sessionEnds(10, 12, "a", 76, ExpiryOrder.SERVER_FIRST));
    }
}
