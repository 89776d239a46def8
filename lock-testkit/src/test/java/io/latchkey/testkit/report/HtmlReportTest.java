// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.check.Verdict;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.Script;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class HtmlReportTest {
    private static final List<HistoryEvent> EVENTS = Script.of(
            "C0#1 queued 0 granted 10=5@77 valid 40; C0@77 ends 60-64/PARTITION; C0#1 lost 72; C1_<b>&\"'#2 held"
                    + " 5-30-50=6; C2#3 asks 31/PT0.005S gaveUp 36; C3 note"
                    + " 20/a_note_]]>_-->_\u0001_<script>alert(1)</script>");

    private static Verdict broken() {
        return ExclusionChecker.mutex().whileSessionsLive(EVENTS).in("seed 7");
    }

    private static Document parsed(String page) throws Exception {
        DocumentBuilder builder = DocumentBuilderFactory.newInstance().newDocumentBuilder();
        builder.setEntityResolver((publicId, systemId) -> new InputSource(new StringReader("")));
        return builder.parse(new InputSource(new StringReader(page)));
    }

    @Test
    void pageHasTheVerdictAndEachEvent() throws Exception {
        Document page = parsed(broken().report().page());
        assertEquals(
                broken().toString(), page.getElementsByTagName("pre").item(0).getTextContent());
        assertTrue(broken().toString().contains("acquire"), "with a timeline");
        assertEquals(1 + EVENTS.size(), page.getElementsByTagName("tr").getLength());
    }

    @Test
    void pageOfAHistoryHasItsTimeline() {
        History history = new History();
        history.attempt("a", "/m").granted(5);
        history.attempt("b", "/m").gaveUp("out of time");
        String page = HtmlReport.of(history).page();
        assertTrue(page.contains("a #1 token 5 on /m: asked"), page);
        assertTrue(page.contains("gave up"), page);
    }

    @Test
    void page_isSelfContainedAndEscaped() throws Exception {
        String page = broken().report().page();
        parsed(page);
        assertFalse(Pattern.compile("<script|src=|https?:|url\\(|@import|<link")
                .matcher(page)
                .find());
        assertTrue(page.contains("C1 &lt;b&gt;&amp;\"'"), page);
        assertTrue(page.contains("&lt;script&gt;"), page);
        assertTrue(page.contains("seed 7"), page);
        assertTrue(page.contains("PARTITION"), page);
    }

    @Test
    void longHistoryIsCutAroundTheFinding() throws Exception {
        String held = IntStream.rangeClosed(1, 6000)
                .mapToObj(i -> "c%d#%d held %d-%d-%d=%2$d;".formatted(i % 7, i, i * 10, i * 10 + 1, i * 10 + 5))
                .collect(Collectors.joining());
        Verdict verdict = ExclusionChecker.mutex()
                .whileSessionsLive(Script.of(held + "thief#6001 held 30000.5-30003-30004=9000"));
        String page = verdict.report().page();
        parsed(page);
        assertTrue(page.contains("thief"));
        assertTrue(page.contains("of 24004, around the first finding"), "rows are cut");
        assertTrue(page.length() < 6_000_000, "length " + page.length());
    }

    @Test
    void failedAssertionNamesItsPage() throws Exception {
        AssertionError error = assertThrows(AssertionError.class, () -> broken().assertNotBroken());
        List<String> lines = error.getMessage().lines().toList();
        assertTrue(lines.get(0).contains("BROKEN"), error.getMessage());
        Matcher name = Pattern.compile("page: (.*\\.html)").matcher(lines.get(1));
        assertTrue(name.matches(), lines.get(1));
        assertEquals("seed 7", lines.get(2));
        Path file = Path.of(name.group(1));
        parsed(Files.readString(file));
        assertEquals("latchkey-histories", file.getParent().getFileName().toString());
        Files.delete(file);
    }

    @Test
    void verdictIsTold_whenThePropertyIsNoPath() {
        String before = System.setProperty("latchkey.histories", "\0");
        try {
            AssertionError error = assertThrows(AssertionError.class, () -> broken().assertNotBroken());
            assertTrue(error.getMessage().contains("no page written: "), error.getMessage());
        } finally {
            if (before == null) {
                System.clearProperty("latchkey.histories");
            } else {
                System.setProperty("latchkey.histories", before);
            }
        }
    }

    @Test
    void keepsTheLastPagesOnlyAndSaysWhenItCannotWrite(@TempDir Path folder) throws Exception {
        for (int i = 0; i < 205; i++) {
            assertTrue(ReportFolder.announce(folder, "a rule", "page").startsWith("page: "));
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(200, files.count());
        }
        Path file = Files.createFile(folder.resolve("file"));
        assertTrue(ReportFolder.announce(file, "a rule", "page").startsWith("no page written: "));
    }
}
