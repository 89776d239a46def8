// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.history.Script;
import org.junit.jupiter.api.Test;

class PermitsExclusionCheckerTest {
    private static LockClaim of3(int permits) {
        return LockClaim.permits("/s", permits, 3);
    }

    private static Verdict live(Script script) {
        return ExclusionChecker.permits().whileSessionsLive(script.events());
    }

    private static void assertSays(Class<? extends Verdict> expected, Script script) {
        Verdict live = live(script);
        assertInstanceOf(expected, live, live::toString);
        Verdict looks = ExclusionChecker.permits().byTheirOwnLooks(script.events());
        assertInstanceOf(expected, looks, looks::toString);
    }

    @Test
    void holdsUpToTheCapacityObeyTheRule() {
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .claiming(of3(1))
                        .held(0, 1, 10, "a", 1, 5)
                        .claiming(of3(2))
                        .held(0, 2, 9, "b", 2, 6)
                        .held(0, 9, 20, "c", 3, 7)
                        .claiming(of3(3))
                        .held(0, 20, 30, "d", 4, 8));
    }

    @Test
    void oneHoldTooManyIsFound_thoughEachPairFits() {
        Script script = new Script()
                .claiming(of3(1))
                .held(0, 1, 10, "a", 1, 5)
                .held(0, 2, 10, "b", 2, 6)
                .claiming(of3(2))
                .held(0, 8, 20, "c", 3, 7);
        assertSays(Verdict.Broken.class, script);
        String text = live(script).toString();
        assertTrue(text.contains("a (1 of 3), b (1 of 3) and c (2 of 3) for 2.000 ms"), text);
    }

    @Test
    void requestForTooManyPermits_isFound() {
        assertSays(
                Verdict.Broken.class,
                new Script()
                        .claiming(of3(1))
                        .held(0, 1, 10, "a", 1, 5)
                        .claiming(of3(3))
                        .held(0, 2, 9, "b", 2, 6));
    }

    @Test
    void largestCapacityCounts() {
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .claiming(of3(3))
                        .held(0, 1, 10, "a", 1, 5)
                        .claiming(LockClaim.permits("/s", 1, 4))
                        .held(0, 2, 9, "b", 2, 6));
    }

    @Test
    void lostPermitIsUncertain_afterItsLastLook() {
        assertSays(
                Verdict.Undecided.class,
                new Script()
                        .claiming(of3(2))
                        .requested(0, "a", 1)
                        .granted(1, "a", 1, 5)
                        .valid(8, "a", 1)
                        .lost(20, "a", 1)
                        .held(2, 15, 30, "b", 2, 6));
    }

    @Test
    void semaphoresAndOtherLocksAreCountedApart() {
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .claiming(of3(3))
                        .held(0, 1, 10, "a", 1, 5)
                        .claiming(LockClaim.permits("/t", 3, 3))
                        .held(0, 2, 9, "b", 2, 6)
                        .claiming(LockClaim.shared("/s"))
                        .held(0, 2, 9, "c", 3, 7));
    }

    @Test
    void multiLockCounts_onEveryMember() {
        assertSays(
                Verdict.Broken.class,
                new Script()
                        .claiming(LockClaim.exclusive("/m"), of3(2))
                        .held(0, 1, 10, "a", 1, 5)
                        .claiming(of3(2))
                        .held(0, 9, 20, "b", 2, 6));
    }

    @Test
    void claimsOfNothingAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> LockClaim.permits("/s", 0, 3));
        assertThrows(IllegalArgumentException.class, () -> LockClaim.permits("/s", 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new History().attempt("a", new LockClaim[0]));
    }
}
