// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.history.Script;
import org.junit.jupiter.api.Test;

class LinearizabilityCheckerTest {
    private static final long STEPS = 100_000;
    private static final LockClaim ALONE = LockClaim.exclusive("/m");
    private static final LockClaim SHARED = LockClaim.shared("/m");

    private static LockClaim of3(int permits) {
        return LockClaim.permits("/m", permits, 3);
    }

    private static Verdict assertSays(Class<? extends Verdict> expected, Script script) {
        Verdict verdict = LinearizabilityChecker.check(script.events(), STEPS);
        return assertInstanceOf(expected, verdict, verdict::toString);
    }

    // ---- mutex

    @Test
    void holdsInTurnHaveAnOrder() {
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .held(0, 1, 10, "a", 1, 5)
                        .held(0.5, 10.2, 20, "b", 2, 6)
                        .held(3, 20.5, 30, "a", 3, 7));
        assertSays(Verdict.Obeyed.class, new Script());
    }

    @Test
    void overlappingHoldsHaveNoOrder() {
        Verdict verdict = assertSays(
                Verdict.Broken.class, new Script().held(0, 1, 10, "a", 1, 5).held(2, 9, 20, "b", 2, 6));
        assertTrue(verdict.toString().contains("no order explains that #2 acquires /m"), verdict::toString);
    }

    @Test
    void releaseTakesEffect_beforeItReturns() {
        // Granted between the beginning and the end of the release: the holder had released by then.
        assertSays(Verdict.Obeyed.class, new Script().held(0, 1, 10, "a", 1, 5).held(2, 10.5, 20, "b", 2, 6));
    }

    @Test
    void unjustifiedRefusal_isFound() {
        assertSays(
                Verdict.Broken.class,
                new Script()
                        .held(0, 1, 10, "a", 1, 5)
                        .requested(12, "b", 2, "PT0S")
                        .gaveUp(13, "b", 2));
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .held(0, 1, 10, "a", 1, 5)
                        .requested(5, "b", 2, "PT0S")
                        .gaveUp(6, "b", 2));
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .requested(11.5, "waits", 3)
                        .held(0, 1, 10, "a", 1, 5)
                        .requested(12, "b", 2, "PT0S")
                        .gaveUp(13, "b", 2));
    }

    @Test
    void releaseWithoutAnEnd_mayTakeEffectAtAnyTime() {
        Script script = new Script()
                .requested(0, "a", 1)
                .granted(1, "a", 1, 5)
                .releasing(5, "a", 1)
                .held(2, 100, 110, "b", 2, 6);
        // It counts as released only once that is known: until then the client's last look is what is sure.
        assertSays(Verdict.Obeyed.class, script);
    }

    @Test
    void lostHoldEnds_afterItsLastLook() {
        Script script = new Script()
                .requested(0, "a", 1)
                .granted(1, "a", 1, 5)
                .valid(8, "a", 1)
                .lost(20, "a", 1);
        assertSays(Verdict.Undecided.class, script.held(2, 15, 30, "b", 2, 6));
        assertSays(
                Verdict.Broken.class,
                new Script()
                        .requested(0, "a", 1)
                        .granted(1, "a", 1, 5)
                        .valid(8, "a", 1)
                        .lost(20, "a", 1)
                        .held(2, 7, 30, "b", 2, 6));
    }

    @Test
    void grantToAnEndedSession_isIgnored() {
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .requested(0, "a", 1)
                        .sessionEnds(1, 2, "a", 77, ExpiryOrder.SERVER_FIRST)
                        .held(0, 3, 20, "b", 2, 6)
                        .granted(4, "a", 1, 5, 77)
                        .valid(5, "a", 1)
                        .lost(10, "a", 1));
    }

    @Test
    void verdictIsUndecided_whenTheSearchTakesTooLong() {
        Script script = new Script();
        for (int i = 1; i < 100; i++) {
            script.held(i, i + 0.5, i + 0.6, "a", i, i);
        }
        Verdict verdict = LinearizabilityChecker.check(script.events(), 50);
        assertInstanceOf(Verdict.Undecided.class, verdict, verdict::toString);
    }

    // ---- views

    @Test
    void view_mayBeLockedAgainOnlyByItsHolder() {
        Script again = new Script().held(0, 1, 10, "a/t", 1, 0).held(2, 3, 5, "a/t", 2, 0);
        assertInstanceOf(Verdict.Obeyed.class, LinearizabilityChecker.ofViews(again.events(), STEPS));
        assertSays(Verdict.Broken.class, again);
        Script other = new Script().held(0, 1, 10, "a/t", 1, 0).held(2, 3, 5, "a/u", 2, 0);
        assertInstanceOf(Verdict.Broken.class, LinearizabilityChecker.ofViews(other.events(), STEPS));
        Script early = new Script()
                .held(0, 1, 10, "a/t", 1, 0)
                .held(2, 3, 5, "a/t", 2, 0)
                .held(4, 7, 8, "a/u", 3, 0);
        assertInstanceOf(
                Verdict.Broken.class,
                LinearizabilityChecker.ofViews(early.events(), STEPS),
                "the inner release admits no waiter");
    }

    // ---- read-write lock

    @Test
    void overlappingReadersHaveAnOrder_andWritersHaveNone() {
        assertSays(
                Verdict.Obeyed.class,
                new Script().claiming(SHARED).held(0, 1, 10, "a", 1, 5).held(0, 2, 9, "b", 2, 6));
        assertSays(
                Verdict.Broken.class,
                new Script()
                        .claiming(SHARED)
                        .held(0, 1, 10, "a", 1, 5)
                        .claiming(ALONE)
                        .held(0, 9, 20, "b", 2, 6));
    }

    @Test
    void noOperationIsOrderedBetweenTheTwoHoldsOfADowngrade() {
        Script downgraded = new Script()
                .requested(0, "a", 1)
                .granted(1, "a", 1, 0)
                .downgraded(5, "a", 1, 2, "/m")
                .released(20, "a", 2)
                .held(3, 7, 9, "reader", 3, 7);
        assertSays(Verdict.Obeyed.class, downgraded);
        assertSays(Verdict.Broken.class, downgraded.claiming(ALONE).held(4, 10, 11, "writer", 4, 6));
    }

    @Test
    void readerBeforeTheDowngrade_isFound() {
        assertSays(
                Verdict.Broken.class,
                new Script()
                        .requested(0, "a", 1)
                        .granted(1, "a", 1, 0)
                        .downgraded(5, "a", 1, 2, "/m")
                        .released(20, "a", 2)
                        .held(2, 4, 9, "reader", 3, 7));
    }

    // ---- semaphore

    @Test
    void holdsHaveNoOrder_whenOnePermitIsTooMany() {
        Script three = new Script()
                .claiming(of3(1))
                .held(0, 1, 10, "a", 1, 5)
                .claiming(of3(2))
                .held(0, 2, 10, "b", 2, 6);
        assertSays(Verdict.Obeyed.class, three);
        assertSays(Verdict.Broken.class, three.claiming(of3(1)).held(0, 3, 10, "c", 3, 7));
    }

    @Test
    void shrinkCounts_fromItsTime() {
        LockClaim two = LockClaim.permits("/m", 1, 2);
        LockClaim one = LockClaim.permits("/m", 1, 1);
        Script before = new Script()
                .claiming(two)
                .held(0, 1, 20, "a", 1, 5)
                .held(0, 2, 20, "b", 2, 6)
                .claiming(one)
                .resized(5, 6, "c", 3);
        assertSays(Verdict.Obeyed.class, before);
        Script after = new Script()
                .claiming(two)
                .held(0, 1, 20, "a", 1, 5)
                .held(7, 8, 20, "b", 2, 6)
                .claiming(one)
                .resized(5, 6, "c", 3);
        assertSays(Verdict.Broken.class, after);
        Script turnHadCome = new Script()
                .claiming(two)
                .held(0, 1, 20, "a", 1, 5)
                .held(4, 8, 20, "b", 2, 6)
                .claiming(one)
                .resized(5, 6, "c", 3);
        assertSays(Verdict.Obeyed.class, turnHadCome);
    }

    // ---- several at once

    @Test
    void multiLockTakesAllMembersAtOnce() {
        Script apart = new Script()
                .claiming(LockClaim.exclusive("/a"), of3(2))
                .held(0, 1, 10, "both", 1, 5)
                .claiming(of3(1))
                .held(0, 2, 9, "permit", 2, 6)
                .claiming(LockClaim.exclusive("/a"))
                .held(0, 11.5, 12, "a", 3, 7);
        assertSays(Verdict.Obeyed.class, apart);
        assertSays(Verdict.Broken.class, apart.claiming(of3(1)).held(0, 3, 9, "more", 4, 8));
    }

    /** It had its permits before the shrink, and the mutex after it. */
    @Test
    void verdictIsUndecided_whenASemaphoreShrinksWhileAMultiLockWaits() {
        LockClaim one = LockClaim.permits("/m", 1, 1);
        Script waits = new Script()
                .claiming(LockClaim.exclusive("/a"))
                .held(0, 1, 10, "a", 1, 5)
                .claiming(LockClaim.exclusive("/a"), LockClaim.permits("/m", 2, 2))
                .held(2, 11, 20, "both", 2, 6)
                .claiming(one)
                .resized(5, 6, "c", 3);
        assertSays(Verdict.Undecided.class, waits);
        Script asksLater = new Script()
                .claiming(LockClaim.exclusive("/a"), LockClaim.permits("/m", 2, 2))
                .held(7, 8, 20, "both", 1, 5)
                .claiming(one)
                .resized(5, 6, "c", 2);
        assertSays(Verdict.Broken.class, asksLater);
    }

    @Test
    void refusalOfAMultiLock_isJustified_whenOneMemberIsHeld() {
        Script taken = new Script()
                .claiming(LockClaim.exclusive("/a"))
                .held(0, 1, 10, "a", 1, 5)
                .claiming(LockClaim.exclusive("/a"), LockClaim.exclusive("/b"))
                .requested(5, "both", 2, "PT0S")
                .gaveUp(6, "both", 2);
        assertSays(Verdict.Obeyed.class, taken);
        assertSays(Verdict.Broken.class, taken.requested(15, "both", 3, "PT0S").gaveUp(16, "both", 3));
    }
}
