// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.check.Verdict;
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
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class HtmlReportTest {
    private static final List<HistoryEvent> EVENTS = Script.of(
            "C0#1 queued 0 granted 10=5@77 valid 40; C0@77 ends 60-64/PARTITION; C0#1 lost 72; C1_<b>&\"'#2 held"
                    + " 5-30-50=6; C2#3 asks 31/PT0.005S gaveUp 36; C3 note"
                    + " 20/a_note_]]>_-->_\u0001_<script>alert(1)</script>");

    private static Verdict broken() {
        return ExclusionChecker.mutex().whileSessionsLive(EVENTS).in("seed 7");
    }

    /** A wait of 1.5 s, then an overlap of 14 ms under an expiry, a note, and an attempt that gives up. */
    private static Verdict brokenAfterALongWait() {
        List<HistoryEvent> events = Script.of(
                "client-1_(one)#1 queued 10 granted 1520=5@77 valid 1590 lost 1797; client-2_(two)#2 queued 1530"
                        + " granted 1576=6@77 released 1795; client-1_(one)@77 ends 1570-1575/PARTITION; client-1_(one)#3"
                        + " asks 1600/PT0.05S gaveUp 1650; client-1_(one) note"
                        + " 1610/the_next_connection_is_refused,_and_so_are_all_that_follow_it");
        return ExclusionChecker.mutex()
                .byTheirOwnLooks(events.stream()
                        .filter(event -> event.what() != HistoryEvent.What.SESSION_ENDED)
                        .toList());
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
        assertEquals(1 + EVENTS.size(), page.getElementsByTagName("tr").getLength());
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

    /** Captions overlap neither bars nor each other, and nothing is outside of the picture. */
    @Test
    void pictureFitsThePage_andCanBeRead() throws Exception {
        for (Verdict verdict : List.of(broken(), brokenAfterALongWait())) {
            assertTrue(verdict instanceof Verdict.Broken, verdict::toString);
            Element picture = picture(parsed(verdict.report().page()));
            assertEquals("100%", picture.getAttribute("width"));
            String[] size = picture.getAttribute("viewBox").split(" ", -1);
            Box all = new Box("svg", "", 0, 0, Double.parseDouble(size[2]), Double.parseDouble(size[3]));
            List<Box> boxes = boxes(picture);
            boxes.forEach(box -> assertTrue(
                    box.left >= 0 && box.top >= 0 && box.right <= all.right && box.bottom <= all.bottom,
                    () -> box + " is outside of the picture"));
            List<Box> texts =
                    boxes.stream().filter(box -> box.tag.equals("text")).toList();
            assertTrue(texts.size() > 8, texts::toString);
            for (int i = 0; i < texts.size(); i++) {
                Box text = texts.get(i);
                Stream.concat(
                                texts.subList(i + 1, texts.size()).stream(),
                                boxes.stream()
                                        .filter(box -> !box.tag.equals("text")
                                                && box.kind.matches("(wait|held|perhaps|gone).*")))
                        .filter(text::overlaps)
                        .findFirst()
                        .ifPresent(other -> fail(text + " overlaps " + other));
            }
        }
    }

    @Test
    void findingIsWide_afterALongIdleWait() throws Exception {
        for (Box box : boxes(picture(parsed(brokenAfterALongWait().report().page())))) {
            double width = box.right - box.left;
            assertTrue(!box.kind.equals("spot") || width >= 24, box::toString);
            assertTrue(!box.kind.equals("wait") || width <= 400, box::toString);
        }
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
