// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.history.Script;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LivenessCheckerTest {
    private static final Duration ALLOWANCE = Duration.ofMillis(5);
    private static final Duration SERVED = Duration.ofMillis(20);

    private static Verdict assertSays(Class<? extends Verdict> expected, Script script) {
        Verdict verdict = LivenessChecker.check(script.events(), ALLOWANCE, SERVED);
        return assertInstanceOf(expected, verdict, verdict::toString);
    }

    @Test
    void grantInTurn_obeysTheRule() {
        assertSays(Verdict.Obeyed.class, new Script().held(0, 1, 100, "a", 1, 5).held(2, 110, 200, "b", 2, 6));
    }

    @Test
    void attemptMustEnd_withinItsTimeoutAndTheAllowance() {
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .held(0, 1, 500, "a", 1, 5)
                        .requested(2, "b", 2, "PT0.1S")
                        .gaveUp(107, "b", 2));
        Verdict late = assertSays(
                Verdict.Broken.class,
                new Script()
                        .held(0, 1, 500, "a", 1, 5)
                        .requested(2, "b", 2, "PT0.1S")
                        .gaveUp(108, "b", 2));
        assertTrue(late.toString().contains("b #2 had 100.000 ms and ended 1.000 ms later"), late::toString);
    }

    @Test
    void grantAfterTheTimeout_isLate() {
        assertSays(
                Verdict.Broken.class,
                new Script()
                        .requested(0, "a", 1, "PT0.01S")
                        .granted(16, "a", 1, 5)
                        .released(17, "a", 1));
    }

    @Test
    void tryWithoutATimeout_endsWithinTheTimeOfService() {
        assertSays(
                Verdict.Broken.class,
                new Script()
                        .held(0, 1, 500, "a", 1, 5)
                        .requested(2, "b", 2, "PT0S")
                        .gaveUp(23, "b", 2));
    }

    @Test
    void unfinishedTimedAttempt_isLate() {
        Verdict verdict = assertSays(
                Verdict.Broken.class,
                new Script().requested(2, "b", 2, "PT0.1S").held(0, 1, 500, "a", 1, 5));
        assertTrue(verdict.toString().contains("has not ended"), verdict::toString);
    }

    @Test
    void waiterOfAFreeLock_isFound() {
        Verdict verdict = assertSays(
                Verdict.Broken.class,
                new Script().held(0, 1, 10, "a", 1, 5).requested(2, "b", 2).granted(33, "b", 2, 6));
        assertTrue(verdict.toString().contains("b #2 token 6: could hold"), verdict::toString);
    }

    @Test
    void laterArrivals_doNotHideAWaiterThatIsNotWoken() {
        Script script = new Script().held(0, 1, 10, "a", 1, 5);
        for (int i = 2; i < 10; i++) {
            script.requested(i * 5, "b" + i, i);
        }
        assertSays(Verdict.Broken.class, script.note(60, "a", "the end"));
    }

    @Test
    void fault_restartsTheBound() {
        assertSays(
                Verdict.Obeyed.class,
                new Script()
                        .held(0, 1, 10, "a", 1, 5)
                        .requested(2, "b", 2)
                        .sessionEnds(20, 25, "c", 7, ExpiryOrder.SERVER_FIRST)
                        .granted(44, "b", 2, 6)
                        .released(50, "b", 2));
    }

    @Test
    void waiterForAHolderThatNeverReleases_isNamed() {
        Verdict verdict = assertSays(
                Verdict.Undecided.class,
                new Script()
                        .requested(0, "a", 1)
                        .granted(1, "a", 1, 5)
                        .requested(2, "b", 2)
                        .note(500, "a", "the end"));
        assertTrue(
                verdict.toString().contains("b #2 still waits at the end of the record, while these may hold: a #1"),
                verdict::toString);
    }

    @Test
    void waitingReaderIsFound_besideReaders() {
        Script reader = new Script()
                .claiming(LockClaim.shared("/m"))
                .requested(0, "a", 1)
                .granted(1, "a", 1, 5)
                .requested(2, "b", 2)
                .note(500, "a", "the end");
        assertSays(Verdict.Broken.class, reader);
        Script writer = new Script()
                .claiming(LockClaim.shared("/m"))
                .requested(0, "a", 1)
                .granted(1, "a", 1, 5)
                .claiming(LockClaim.exclusive("/m"))
                .requested(2, "b", 2)
                .claiming(LockClaim.shared("/m"))
                .requested(3, "c", 3)
                .note(500, "a", "the end");
        assertSays(Verdict.Undecided.class, writer);
    }

    @Test
    void permitsAreCountedWithTheSmallestCapacity() {
        Script script = new Script()
                .claiming(LockClaim.permits("/s", 2, 3))
                .requested(0, "a", 1)
                .granted(1, "a", 1, 5)
                .claiming(LockClaim.permits("/s", 1, 3))
                .requested(2, "b", 2)
                .note(500, "a", "the end");
        assertSays(Verdict.Broken.class, script);
        assertSays(
                Verdict.Undecided.class,
                script.claiming(LockClaim.permits("/s", 2, 2)).resized(0.1, 0.2, "c", 3));
    }

    @Test
    void multiLockWaits_forItsLastMember() {
        assertSays(
                Verdict.Undecided.class,
                new Script()
                        .claiming(LockClaim.exclusive("/a"))
                        .requested(0, "a", 1)
                        .granted(1, "a", 1, 5)
                        .claiming(LockClaim.exclusive("/a"), LockClaim.exclusive("/b"))
                        .requested(2, "both", 2)
                        .claiming(LockClaim.exclusive("/b"))
                        .requested(3, "behind", 3)
                        .note(500, "a", "the end"));
    }

    @Test
    void unfinishedAttempt_isUndecided() {
        assertSays(Verdict.Undecided.class, new Script().requested(0, "a", 1).note(10, "a", "the end"));
    }
}
