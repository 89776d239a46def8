// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.check.Verdict;
import io.latchkey.testkit.history.Script;
import io.latchkey.testkit.report.Timeline.Evidence;
import io.latchkey.testkit.report.Timeline.Evidence.Spot;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TimelineTest {
    private static String text(String script, long from, long to, Long... attempts) {
        return new Timeline(Script.of(script), new Spot(Set.of(attempts), from * 1_000_000, to * 1_000_000)).toString();
    }

    @Test
    void drawsOneLineForEachClientToScale() {
        assertEquals(
                List.of(
                        "                       0.000 ms to 96.000 ms",
                        "  C0:                  |------- acquire -------|========= held"
                                + " ========........................x lost",
                        " ".repeat(23 + 60) + "^ session ends, SERVER_FIRST at 60.000 ms",
                        " ".repeat(23 + 64) + "^ session has ended at 64.000 ms",
                        "  C1:" + " ".repeat(66) + "|------- acquire -------|======== held ========| released",
                        " ".repeat(23 + 72) + "^".repeat(24),
                        "  C0 #1 token 5 on /m: asked 0.000 granted 24.000 last looked 48.000 lost 72.000 ms",
                        "  C1 #2 token 6 on /m: asked 48.000 granted 72.000 releasing 95.000 released 96.000 ms"),
                text(
                                "C0#1 asks 0 granted 24=5@77 valid 48; C0@77 ends 60-64; C0#1 lost 72; C1#2 held"
                                        + " 48-72-95=6",
                                72,
                                96,
                                1L,
                                2L)
                        .lines()
                        .toList());
    }

    @Test
    void clientHasTwoLines_withTwoAttemptsAtATime() {
        String text = text("a#1 asks 0 granted 1=5; a#2 asks 2 gaveUp 3; a#3 asks 4", 0, 4, 1L, 2L, 3L);
        assertTrue(text.contains("goes on") && text.contains("/") && text.contains("> waits"), text);
    }

    @Test
    void longHistoriesAndNotes_areCutToTheSurroundingsOfTheFinding() {
        String text = text("a#1 held 0-1-100000=5; b#2 held 2-99990-200000=6", 99_990, 100_000, 1L, 2L);
        assertTrue(text.contains("99950.000 ms to 100040.000 ms") && text.contains("<---"), text);
        String name = "a-client-with-a-name-that-is-much-too-long-to-read-in-a-picture";
        String notes = IntStream.range(0, 20)
                .mapToObj(i -> "; %s note %s/something_long_number_%d_%s".formatted(name, i / 2.0, i, "x".repeat(120)))
                .collect(Collectors.joining());
        String noted = text(name + "#1 held 0-1-10=5" + notes, 0, 10, 1L);
        assertTrue(noted.contains("... and 14 more"), noted);
        (text + "\n" + noted)
                .lines()
                .filter(line -> !line.contains("asked"))
                .forEach(line -> assertTrue(line.length() <= 140, line));
    }

    @Test
    void verdictsTellTheContextRightBehindTheRule() {
        Verdict verdict = ExclusionChecker.mutex()
                .whileSessionsLive(Script.of("a#1 held 0-1-10=5; b#2 held 2-9-20=6"))
                .in("seed 42; again with: mvn verify -Dseed=42");
        List<String> lines = verdict.toString().lines().toList();
        assertTrue(lines.get(0).startsWith("mutual exclusion while sessions live: BROKEN once in 2 grants"));
        assertEquals("seed 42; again with: mvn verify -Dseed=42", lines.get(1));
        assertFalse(new Verdict.Obeyed("rule", 1).in("seed").toString().contains("seed"));
        Verdict open = new Verdict.Undecided("rule", 2, List.of("finding"), Evidence.NONE);
        assertTrue(open.toString().startsWith("rule: cannot be decided in 1 place\n"), open::toString);
    }
}
