// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.history.Script;
import org.junit.jupiter.api.Test;

class FifoCheckerTest {
    private static final LockClaim ALONE = LockClaim.exclusive("/m");
    private static final LockClaim SHARED = LockClaim.shared("/m");

    private static LockClaim of3(int permits) {
        return LockClaim.permits("/m", permits, 3);
    }

    private static Verdict assertSays(Class<? extends Verdict> expected, Script script) {
        Verdict verdict = FifoChecker.check(script.events());
        return assertInstanceOf(expected, verdict, verdict::toString);
    }

    @Test
    void grantsInTheOrderOfPlacingObeyTheRule() {
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .queued(0, "a", 1)
                        .queued(1, "b", 2)
                        .granted(2, "a", 1, 5)
                        .released(3, "a", 1)
                        .granted(4, "b", 2, 6)
                        .released(5, "b", 2));
    }

    @Test
    void overtakingOfAnEarlierPlacedRequest_isFound() {
        Script script = new Script()
                .queued(0, "a", 1)
                .queued(1, "b", 2)
                .granted(2, "b", 2, 6)
                .released(3, "b", 2)
                .granted(4, "a", 1, 5)
                .released(5, "a", 1);
        Verdict verdict = assertSays(Verdict.Broken.class, script);
        assertTrue(verdict.toString().contains("/m: b #2 token 6 was granted before a #1 token 5"), verdict::toString);
    }

    @Test
    void simultaneousRequestsHaveNoOrder() {
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .requested(0, "a", 1)
                        .queued(1, "b", 2)
                        .placed(1.2, "a", 1)
                        .granted(2, "b", 2, 6)
                        .released(3, "b", 2)
                        .granted(4, "a", 1, 5)
                        .released(5, "a", 1));
    }

    @Test
    void ruleDoesNotApply_whenRequestsWaitAndNoPlacingIsRecorded() {
        assertSays(
                Verdict.Inapplicable.class,
                new Script().held(0, 1, 10, "a", 1, 5).held(0.5, 11, 20, "b", 2, 6));
        assertSays(Verdict.Obeyed.class, new Script().held(0, 1, 10, "a", 1, 5).held(11, 12, 20, "b", 2, 6));
    }

    @Test
    void grantsOfReadersHaveNoOrder() {
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .claiming(SHARED)
                        .queued(0, "a", 1)
                        .queued(1, "b", 2)
                        .granted(2, "b", 2, 6)
                        .granted(3, "a", 1, 5)
                        .released(4, "a", 1)
                        .released(4, "b", 2));
    }

    @Test
    void readerThatOvertakesAWaitingWriter_isFound() {
        assertSays(
                Verdict.Broken.class,
                new Script()
                        .claiming(SHARED)
                        .queued(0, "first", 1)
                        .granted(1, "first", 1, 5)
                        .released(20, "first", 1)
                        .claiming(ALONE)
                        .queued(2, "writer", 2)
                        .granted(30, "writer", 2, 6)
                        .claiming(SHARED)
                        .queued(5, "late", 3)
                        .granted(6, "late", 3, 7)
                        .released(7, "late", 3));
    }

    @Test
    void downgradedHoldKeepsItsPlace_aheadOfWaitingWriters() {
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .queued(0, "a", 1)
                        .granted(1, "a", 1, 5)
                        .queued(2, "writer", 2)
                        .downgraded(5, "a", 1, 3, "/m")
                        .released(8, "a", 3)
                        .claiming(ALONE)
                        .granted(10, "writer", 2, 6));
    }

    @Test
    void permitsMayOvertake_onlyWithEnoughForBoth() {
        Script enough = new Script()
                .claiming(of3(2))
                .queued(0, "a", 1)
                .claiming(of3(1))
                .queued(1, "b", 2)
                .granted(2, "b", 2, 6)
                .claiming(of3(2))
                .granted(3, "a", 1, 5);
        assertSays(Verdict.Obeyed.class, enough);
        Script bargedIn = new Script()
                .claiming(of3(2))
                .queued(0, "holder", 1)
                .granted(1, "holder", 1, 5)
                .released(20, "holder", 1)
                .queued(2, "a", 2)
                .claiming(of3(1))
                .queued(3, "b", 3)
                .granted(4, "b", 3, 7)
                .claiming(of3(2))
                .granted(21, "a", 2, 6);
        assertSays(Verdict.Broken.class, bargedIn);
    }

    @Test
    void attemptThatGaveUp_isNotOvertaken() {
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .queued(0, "a", 1)
                        .queued(1, "b", 2)
                        .granted(2, "b", 2, 6)
                        .gaveUp(3, "a", 1));
    }

    @Test
    void ungrantedAttempt_isOvertaken_unlessItsSessionMayHaveEnded() {
        Script script = new Script().queued(0, "a", 1).queued(1, "b", 2).granted(2, "b", 2, 6);
        assertSays(Verdict.Broken.class, script);
        assertSays(Verdict.Undecided.class, script.sessionEnds(1.8, 1.9, "a", 77, ExpiryOrder.SERVER_FIRST));
    }

    @Test
    void requestOfAnEndedSession_isNotInTheQueue() {
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .queued(0, "a", 1)
                        .sessionEnds(1, 2, "a", 77, ExpiryOrder.SERVER_FIRST)
                        .queued(1.2, "b", 2)
                        .granted(3, "b", 2, 6)
                        .granted(4, "a", 1, 5, 77)
                        .lost(5, "a", 1));
    }

    @Test
    void multiLockWaits_onEveryMember() {
        LockClaim other = LockClaim.exclusive("/other");
        assertSays(
                Verdict.Broken.class,
                new Script()
                        .claiming(ALONE, other)
                        .queued(0, "both", 1)
                        .claiming(other)
                        .queued(1, "b", 2)
                        .granted(2, "b", 2, 6)
                        .released(3, "b", 2)
                        .claiming(ALONE, other)
                        .granted(4, "both", 1, 5));
    }
}
