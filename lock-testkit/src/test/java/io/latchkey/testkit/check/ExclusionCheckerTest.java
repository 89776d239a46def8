// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.history.Script;
import org.junit.jupiter.api.Test;

class ExclusionCheckerTest {
    private static Verdict live(Script script) {
        return ExclusionChecker.mutex().whileSessionsLive(script.events());
    }

    private static Verdict looks(Script script) {
        return ExclusionChecker.mutex().byTheirOwnLooks(script.events());
    }

    private static void assertObeyed(Script script) {
        assertInstanceOf(Verdict.Obeyed.class, live(script), () -> live(script).toString());
        assertInstanceOf(
                Verdict.Obeyed.class, looks(script), () -> looks(script).toString());
    }

    private static void assertBroken(Script script) {
        assertInstanceOf(Verdict.Broken.class, live(script), () -> live(script).toString());
        assertInstanceOf(
                Verdict.Broken.class, looks(script), () -> looks(script).toString());
    }

    @Test
    void holdsInTurnObeyTheRule() {
        assertObeyed(new Script()
                .held(0, 1, 10, "a", 1, 5)
                .held(0.5, 10.2, 20, "b", 2, 6)
                .held(15, 20.1, 30, "a", 3, 7));
        assertObeyed(new Script());
    }

    @Test
    void overlappingHoldsBreakTheRule() {
        Script script = new Script().held(0, 1, 10, "a", 1, 5).held(2, 9, 20, "b", 2, 6);
        assertBroken(script);
        Verdict verdict = live(script);
        assertEquals(2, verdict.grants());
        assertTrue(verdict.toString().contains("a and b for 1.000 ms"), verdict::toString);
        assertTrue(verdict.toString().contains("a #1 token 5"), verdict::toString);
        assertThrows(AssertionError.class, verdict::assertObeyed);
        assertThrows(AssertionError.class, verdict::assertNotBroken);
    }

    @Test
    void overlapIsFound_behindAShorterHold() {
        assertBroken(
                new Script().held(0, 1, 100, "a", 1, 5).held(2, 3, 4, "b", 2, 6).held(2, 50, 60, "c", 3, 7));
    }

    @Test
    void nestedHoldOfOneClientBreaksTheRule() {
        assertBroken(new Script().held(0, 1, 10, "a", 1, 5).held(2, 3, 5, "a", 2, 6));
    }

    @Test
    void holdsThatTouchDoNotOverlap() {
        assertObeyed(new Script().held(0, 1, 10, "a", 1, 5).held(2, 10, 20, "b", 2, 6));
    }

    @Test
    void lostHoldCounts_untilItsLastLook() {
        Script looked = new Script()
                .requested(0, "a", 1)
                .granted(1, "a", 1, 5)
                .valid(8, "a", 1)
                .lost(20, "a", 1)
                .held(2, 7, 30, "b", 2, 6);
        assertBroken(looked);
    }

    @Test
    void overlapIsUncertain_betweenTheLastLookAndTheReportedLoss() {
        Script script = new Script()
                .requested(0, "a", 1)
                .granted(1, "a", 1, 5)
                .valid(8, "a", 1)
                .lost(20, "a", 1)
                .held(2, 15, 30, "b", 2, 6);
        assertInstanceOf(Verdict.Undecided.class, live(script));
        assertInstanceOf(Verdict.Undecided.class, looks(script));
        assertThrows(AssertionError.class, () -> looks(script).assertObeyed());
        assertDoesNotThrow(() -> looks(script).assertNotBroken());
    }

    @Test
    void holdWithoutAnEnd_mayLastForEver() {
        Script script = new Script().requested(0, "a", 1).granted(1, "a", 1, 5).held(2, 1000, 1001, "b", 2, 6);
        assertInstanceOf(Verdict.Undecided.class, looks(script));
    }

    @Test
    void holdDoesNotCount_afterTheEndOfItsSession() {
        Script script = new Script()
                .requested(0, "a", 1)
                .granted(1, "a", 1, 5, 77)
                .sessionEnds(10, 12, "a", 77, ExpiryOrder.SERVER_FIRST)
                .valid(25, "a", 1)
                .lost(30, "a", 1)
                .held(2, 13, 40, "b", 2, 6);
        assertInstanceOf(Verdict.Obeyed.class, live(script));
        Verdict looks = looks(script);
        assertInstanceOf(Verdict.Inapplicable.class, looks, "no local clock can know of it");
        AssertionError error = assertThrows(AssertionError.class, looks::assertNotBroken);
        assertTrue(error.getMessage().contains("ask whileSessionsLive"), error.getMessage());
    }

    @Test
    void overlapBreaksTheRule_beforeTheEndOfTheSession() {
        Script script = new Script()
                .requested(0, "a", 1)
                .granted(1, "a", 1, 5, 77)
                .sessionEnds(10, 12, "a", 77, ExpiryOrder.SERVER_FIRST)
                .valid(25, "a", 1)
                .lost(30, "a", 1)
                .held(2, 9, 40, "b", 2, 6);
        assertInstanceOf(Verdict.Broken.class, live(script));
    }

    @Test
    void overlapBreaksTheRule_whenAnotherSessionOfTheClientEnds() {
        Script script = new Script()
                .sessionEnds(0, 1, "a", 76, ExpiryOrder.SERVER_FIRST)
                .requested(2, "a", 1)
                .granted(3, "a", 1, 5, 77)
                .released(20, "a", 1)
                .held(2, 9, 40, "b", 2, 6);
        assertInstanceOf(Verdict.Broken.class, live(script));
    }

    @Test
    void grantToAnEndedSession_doesNotCount() {
        Script script = new Script()
                .requested(0, "a", 1)
                .sessionEnds(1, 2, "a", 77, ExpiryOrder.SERVER_FIRST)
                .held(0, 3, 20, "b", 2, 6)
                .granted(4, "a", 1, 5, 77)
                .valid(5, "a", 1)
                .lost(10, "a", 1);
        assertInstanceOf(Verdict.Obeyed.class, live(script), () -> live(script).toString());
    }

    @Test
    void grantOfAnUnknownSession_isUndecided() {
        Script script = new Script()
                .requested(0, "a", 1)
                .sessionEnds(1, 2, "a", 77, ExpiryOrder.SERVER_FIRST)
                .held(0, 3, 20, "b", 2, 6)
                .granted(4, "a", 1, 5)
                .valid(5, "a", 1)
                .lost(10, "a", 1);
        assertInstanceOf(
                Verdict.Undecided.class, live(script), () -> live(script).toString());
    }

    @Test
    void expiryByTimeIsJudgedByLooks() {
        Script obeyed = new Script()
                .requested(0, "a", 1)
                .granted(1, "a", 1, 5, 77)
                .sessionEnds(10, 30, "a", 77, ExpiryOrder.PARTITION)
                .valid(20, "a", 1)
                .lost(25, "a", 1)
                .held(2, 31, 40, "b", 2, 6);
        assertInstanceOf(Verdict.Obeyed.class, looks(obeyed));
        Script broken = new Script()
                .requested(0, "a", 1)
                .granted(1, "a", 1, 5, 77)
                .sessionEnds(10, 30, "a", 77, ExpiryOrder.PARTITION)
                .valid(35, "a", 1)
                .lost(36, "a", 1)
                .held(2, 31, 40, "b", 2, 6);
        assertInstanceOf(Verdict.Broken.class, looks(broken));
        assertInstanceOf(Verdict.Obeyed.class, live(broken), "the weaker rule does not see it");
    }
}
