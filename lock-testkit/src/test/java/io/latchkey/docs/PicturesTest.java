// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;

/** The pictures need nothing but a viewer of plain SVG: no script, no style sheet, no font or file from elsewhere. */
class PicturesTest {
    private static final Set<String> ELEMENTS = Set.of("svg", "title", "rect", "path", "text", "line");

    @Test
    void needNothingButAPlainViewer() {
        List<Path> pictures = Docs.files(Docs.root().resolve("docs"), ".svg");
        assertTrue(pictures.size() >= 4, "only " + pictures.size() + " pictures");
        assertAll(pictures.stream().map(picture -> () -> assertPlain(picture)));
    }

    @Test
    void allAreShown() {
        String pages = Docs.pages().stream().map(Docs::read).collect(Collectors.joining());
        assertEquals(
                List.of(),
                Docs.files(Docs.root().resolve("docs"), ".svg").stream()
                        .filter(picture -> !pages.contains("/" + picture.getFileName() + ")"))
                        .map(Docs::name)
                        .toList());
    }

    private static void assertPlain(Path picture) throws ParserConfigurationException, SAXException, IOException {
        String text = Docs.read(picture);
        Element svg = DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new InputSource(new StringReader(text)))
                .getDocumentElement();
        NodeList all = svg.getElementsByTagName("*");
        Set<String> others = new TreeSet<>();
        for (int i = 0; i < all.getLength(); i++) {
            others.add(all.item(i).getNodeName());
        }
        others.removeAll(ELEMENTS);
        assertEquals(Set.of(), others, picture + " has elements that are not plain");
        assertFalse(text.contains("url(") || text.contains("href"), picture + " refers to something");
        assertTrue(svg.hasAttribute("viewBox"), picture + " has no viewBox");
        Element ground = (Element) svg.getElementsByTagName("rect").item(0);
        assertEquals(
                List.of(svg.getAttribute("width"), svg.getAttribute("height"), "#ffffff"),
                List.of(ground.getAttribute("width"), ground.getAttribute("height"), ground.getAttribute("fill")),
                picture + " is not readable on a dark page: it has no ground of its own");
    }
}
