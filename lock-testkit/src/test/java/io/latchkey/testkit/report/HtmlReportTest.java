// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.check.Verdict;
import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.Script;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class HtmlReportTest {
    private static Script script() {
        return new Script()
                .queued(0, "C0", 1)
                .granted(10, "C0", 1, 5, 77)
                .valid(40, "C0", 1)
                .sessionEnds(60, 64, "C0", 77, ExpiryOrder.PARTITION)
                .lost(72, "C0", 1)
                .held(5, 30, 50, "C1 <b>&\"'", 2, 6)
                .requested(31, "C2", 3, "PT0.005S")
                .gaveUp(36, "C2", 3)
                .note(20, "C3", "a note ]]> --> \u0001 <script>alert(1)</script>");
    }

    private static Verdict broken() {
        return ExclusionChecker.mutex().whileSessionsLive(script().events()).in("seed 7");
    }

    private static Document parsed(String page) throws Exception {
        DocumentBuilder builder = DocumentBuilderFactory.newInstance().newDocumentBuilder();
        builder.setEntityResolver((publicId, systemId) -> new InputSource(new StringReader("")));
        return builder.parse(new InputSource(new StringReader(page)));
    }

    private static long count(Document page, String tag, String kind) {
        NodeList all = page.getElementsByTagName(tag);
        long found = 0;
        for (int i = 0; i < all.getLength(); i++) {
            boolean inPicture = all.item(i).getParentNode().getNodeName().equals("g");
            found += inPicture && ((Element) all.item(i)).getAttribute("class").equals(kind) ? 1 : 0;
        }
        return found;
    }

    @Test
    void showsEachWaitHoldAndLossOnce() throws Exception {
        Document page = parsed(broken().report().page());
        assertEquals(3, count(page, "rect", "wait"));
        assertEquals(2, count(page, "rect", "held hit"), "the two that hold at once");
        assertEquals(1, count(page, "path", "lost"));
        assertEquals(1, count(page, "rect", "spot"));
        assertEquals(1, count(page, "circle", "placed"));
        assertEquals(
                1 + script().events().size(), page.getElementsByTagName("tr").getLength());
    }

    /** A wait of 1.5 s, then an overlap of 14 ms under an expiry, a note, and an attempt that gives up. */
    private static Script afterALongWait() {
        return new Script()
                .queued(10, "client-1 (one)", 1)
                .granted(1520, "client-1 (one)", 1, 5, 77)
                .queued(1530, "client-2 (two)", 2)
                .sessionEnds(1570, 1575, "client-1 (one)", 77, ExpiryOrder.SERVER_FIRST)
                .granted(1576, "client-2 (two)", 2, 6, 77)
                .valid(1590, "client-1 (one)", 1)
                .requested(1600, "client-1 (one)", 3, "PT0.05S")
                .note(1610, "client-1 (one)", "the next connection is refused, and so are all that follow it")
                .gaveUp(1650, "client-1 (one)", 3)
                .released(1795, "client-2 (two)", 2)
                .lost(1797, "client-1 (one)", 1);
    }

    private static Verdict brokenAfterALongWait() {
        Verdict verdict = ExclusionChecker.mutex()
                .byTheirOwnLooks(afterALongWait().events().stream()
                        .filter(event -> event.what() != HistoryEvent.What.SESSION_ENDED)
                        .map(event -> event.note().equals("SERVER_FIRST") ? timed(event) : event)
                        .toList());
        assertTrue(verdict instanceof Verdict.Broken, verdict::toString);
        return verdict;
    }

    private static HistoryEvent timed(HistoryEvent end) {
        return new HistoryEvent(
                end.nanos(), end.client(), 0, List.of(), end.what(), 0, end.session(), ExpiryOrder.PARTITION.name());
    }

    /** What the picture shows, as boxes in the units of its view box. */
    private record Box(String tag, String kind, double left, double top, double right, double bottom) {
        static Box of(Element drawn) {
            String kind = drawn.getAttribute("class");
            double x = number(drawn, "x", "x1", "cx");
            double y = number(drawn, "y", "y1", "cy");
            return switch (drawn.getTagName()) {
                case "rect" -> new Box("rect", kind, x, y, x + number(drawn, "width"), y + number(drawn, "height"));
                case "text" ->
                    new Box("text", kind, x, y - 9, x + 6 * words(drawn).length(), y + 2);
                case "line" -> new Box("line", kind, x, y, number(drawn, "x2"), number(drawn, "y2"));
                default -> new Box(drawn.getTagName(), kind, x, y, x, y);
            };
        }

        private static double number(Element drawn, String... names) {
            return Stream.of(names)
                    .map(drawn::getAttribute)
                    .filter(value -> !value.isEmpty())
                    .mapToDouble(Double::parseDouble)
                    .findFirst()
                    .orElse(0);
        }

        private static String words(Element text) {
            return text.getLastChild().getTextContent();
        }

        boolean overlaps(Box other) {
            return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
        }
    }

    private static Element picture(Document page) {
        NodeList all = page.getElementsByTagName("div");
        return (Element) ((Element) all.item(0)).getElementsByTagName("svg").item(0);
    }

    private static List<Box> boxes(Element picture) {
        return Stream.of("rect", "line", "text", "circle", "path")
                .flatMap(tag -> {
                    NodeList all = picture.getElementsByTagName(tag);
                    return IntStream.range(0, all.getLength()).mapToObj(i -> Box.of((Element) all.item(i)));
                })
                .toList();
    }

    @Test
    void pictureFitsThePage_andShowsNothingOutsideOfItself() throws Exception {
        for (Verdict verdict : List.of(broken(), brokenAfterALongWait())) {
            Element picture = picture(parsed(verdict.report().page()));
            assertEquals("100%", picture.getAttribute("width"));
            String[] size = picture.getAttribute("viewBox").split(" ", -1);
            for (Box box : boxes(picture)) {
                assertTrue(
                        box.left >= 0
                                && box.top >= 0
                                && box.right <= Double.parseDouble(size[2])
                                && box.bottom <= Double.parseDouble(size[3]),
                        () -> box + " is outside of the picture");
            }
        }
    }

    @Test
    void captionsOverlapNeitherBarsNorEachOther() throws Exception {
        for (Verdict verdict : List.of(broken(), brokenAfterALongWait())) {
            List<Box> boxes = boxes(picture(parsed(verdict.report().page())));
            List<Box> texts =
                    boxes.stream().filter(box -> box.tag.equals("text")).toList();
            List<Box> bars = boxes.stream()
                    .filter(box -> box.kind.matches("(wait|held|perhaps|gone).*"))
                    .toList();
            assertTrue(texts.size() > 8, texts::toString);
            for (int i = 0; i < texts.size(); i++) {
                Box text = texts.get(i);
                Stream.concat(texts.stream().skip(i + 1), bars.stream())
                        .filter(text::overlaps)
                        .findFirst()
                        .ifPresent(other -> fail(text + " overlaps " + other));
            }
        }
    }

    @Test
    void findingIsWide_afterALongIdleWait() throws Exception {
        Element picture = picture(parsed(brokenAfterALongWait().report().page()));
        Box spot = boxes(picture).stream()
                .filter(box -> box.kind.equals("spot"))
                .findFirst()
                .orElseThrow();
        Box wait = boxes(picture).stream()
                .filter(box -> box.kind.equals("wait"))
                .findFirst()
                .orElseThrow();
        assertTrue(spot.right - spot.left >= 24, spot::toString);
        assertTrue(wait.right - wait.left <= 400, wait::toString);
    }

    @Test
    void verdictWrapsAtTheEdgeOfThePage() {
        String page = broken().report().page();
        assertTrue(page.contains("pre-wrap"));
        assertFalse(page.contains("overflow-x"), "nothing is behind a scroll bar");
        assertFalse(page.contains("max-height"), "nothing is behind a scroll bar");
    }

    @Test
    void page_isSelfContainedAndEscaped() throws Exception {
        String page = broken().report().page();
        parsed(page);
        assertFalse(Pattern.compile("<script|src=|https?:|url\\(|@import|<link")
                .matcher(page)
                .find());
        assertTrue(page.contains("C1 &lt;b&gt;&amp;&quot;&#39;"), page);
        assertTrue(page.contains("&lt;script&gt;"), page);
        assertTrue(page.contains("seed 7"), page);
        assertTrue(page.contains("PARTITION"), page);
    }

    @Test
    void historyHasAPage_withoutAVerdict() throws Exception {
        History history = new History();
        Attempt attempt = history.attempt("a", "/m");
        attempt.granted(5);
        attempt.releasing();
        attempt.released(io.latchkey.lock.ReleaseOutcome.RELEASED);
        Document page = parsed(HtmlReport.of(history).page());
        assertEquals(5, page.getElementsByTagName("tr").getLength());
        parsed(HtmlReport.of(new History()).page());
    }

    @Test
    void longHistoryIsCutAroundTheFinding() throws Exception {
        Script script = new Script();
        for (int i = 1; i <= 6000; i++) {
            script.held(i * 10, i * 10 + 1, i * 10 + 5, "c" + i % 7, i, i);
        }
        script.held(30_000.5, 30_003, 30_004, "thief", 6001, 9000);
        Verdict verdict = ExclusionChecker.mutex().whileSessionsLive(script.events());
        String page = verdict.report().page();
        parsed(page);
        assertTrue(page.contains("thief"));
        assertTrue(page.contains("of 24004, around the first finding"), "rows are cut");
        assertTrue(page.contains("Cut to the time around"), "the picture is cut");
        assertTrue(page.length() < 6_000_000, "length " + page.length());
    }

    @Test
    void failedAssertionNamesItsPage() throws Exception {
        AssertionError error = assertThrows(AssertionError.class, () -> broken().assertNotBroken());
        List<String> lines = error.getMessage().lines().toList();
        assertTrue(lines.get(0).contains("BROKEN"), error.getMessage());
        Matcher name = Pattern.compile("picture: (.*\\.html)").matcher(lines.get(1));
        assertTrue(name.matches(), lines.get(1));
        assertEquals("seed 7", lines.get(2));
        Path file = Path.of(name.group(1));
        parsed(Files.readString(file));
        assertEquals("latchkey-histories", file.getParent().getFileName().toString());
        Files.delete(file);
    }

    @Test
    void report_isWrittenToTheGivenFolder(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("history.html");
        broken().report().write(file);
        parsed(Files.readString(file));
    }

    @Test
    void keepsTheLastPagesOnlyAndSaysWhenItCannotWrite(@TempDir Path folder) throws Exception {
        for (int i = 0; i < 205; i++) {
            assertTrue(ReportFolder.announce(folder, "a rule", "page").startsWith("picture: "));
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(200, files.count());
        }
        Path file = Files.createFile(folder.resolve("file"));
        assertTrue(ReportFolder.announce(file, "a rule", "page").startsWith("no page written: "));
    }
}
