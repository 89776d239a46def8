// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.check.Verdict;
import io.latchkey.testkit.history.Script;
import io.latchkey.testkit.report.Evidence.Spot;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TimelineTest {
    private static String text(Script script, long from, long to, Long... attempts) {
        return new Timeline(script.events(), new Spot(Set.of(attempts), from * 1_000_000, to * 1_000_000)).toString();
    }

    private static void assertNarrow(String text) {
        text.lines().forEach(line -> assertTrue(line.length() <= 140, line));
    }

    @Test
    void drawsOneLineForEachClientToScale() {
        Script script = new Script()
                .requested(0, "C0", 1)
                .granted(24, "C0", 1, 5, 77)
                .valid(48, "C0", 1)
                .sessionEnds(60, 64, "C0", 77, ExpiryOrder.SERVER_FIRST)
                .lost(72, "C0", 1)
                .held(48, 72, 95, "C1", 2, 6);
        assertEquals(
                List.of(
                        "                       0.000 ms to 96.000 ms",
                        "  C0:                  |------- acquire -------|========= held ========........................x lost",
                        " ".repeat(23 + 60) + "^ session ends, SERVER_FIRST at 60.000 ms",
                        " ".repeat(23 + 64) + "^ session has ended at 64.000 ms",
                        "  C1:" + " ".repeat(66) + "|------- acquire -------|======== held ========| released",
                        " ".repeat(23 + 72) + "^".repeat(24),
                        "  C0 #1 token 5 on /m: asked 0.000 granted 24.000 last looked 48.000 lost 72.000 ms",
                        "  C1 #2 token 6 on /m: asked 48.000 granted 72.000 releasing 95.000 released 96.000 ms"),
                text(script, 72, 96, 1L, 2L).lines().toList());
    }

    @Test
    void cutsALongHistoryToTheSurroundingsOfTheFinding() {
        Script script = new Script().held(0, 1, 100_000, "a", 1, 5).held(2, 99_990, 200_000, "b", 2, 6);
        String text = text(script, 99_990, 100_000, 1L, 2L);
        assertTrue(text.contains("99950.000 ms to 100040.000 ms"), text);
        assertTrue(text.contains("<---"), text);
        assertNarrow(text);
    }

    @Test
    void clientHasTwoLines_withTwoAttemptsAtATime() {
        String text = text(
                new Script()
                        .requested(0, "a", 1)
                        .granted(1, "a", 1, 5)
                        .requested(2, "a", 2)
                        .gaveUp(3, "a", 2)
                        .requested(4, "a", 3),
                0,
                4,
                1L,
                2L,
                3L);
        assertTrue(text.contains("goes on"), text);
        assertTrue(text.contains("/"), text);
        assertTrue(text.contains("> waits"), text);
    }

    @Test
    void namesAndNotesOfAnyLengthStayWithin140Columns() {
        String name = "a-client-with-a-name-that-is-much-too-long-to-read-in-a-picture";
        Script script = new Script().held(0, 1, 10, name, 1, 5);
        for (int i = 0; i < 20; i++) {
            script.note(i / 2.0, name, "something long that was done to it, number " + i + " " + "x".repeat(90));
        }
        String text = text(script, 0, 10, 1L);
        assertNarrow(text.lines().filter(line -> !line.contains("asked")).reduce("", (a, b) -> a + "\n" + b));
        assertTrue(text.contains("... and 14 more"), text);
    }

    @Test
    void verdictsTellTheContextRightBehindTheRule() {
        Verdict verdict = ExclusionChecker.mutex()
                .whileSessionsLive(new Script()
                        .held(0, 1, 10, "a", 1, 5)
                        .held(2, 9, 20, "b", 2, 6)
                        .events())
                .in("seed 42; again with: mvn verify -Dseed=42");
        List<String> lines = verdict.toString().lines().toList();
        assertTrue(lines.get(0).startsWith("mutual exclusion while sessions live: BROKEN once in 2 grants"));
        assertEquals("seed 42; again with: mvn verify -Dseed=42", lines.get(1));
        assertFalse(new Verdict.Obeyed("rule", 1).in("seed").toString().contains("seed"));
        Verdict open = new Verdict.Undecided("rule", 2, List.of("finding"), Evidence.NONE);
        assertTrue(open.toString().startsWith("rule: cannot be decided in 1 place\n"), open::toString);
    }
}
