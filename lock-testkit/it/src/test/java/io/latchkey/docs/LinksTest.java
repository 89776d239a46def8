// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Every link of a page to a file, and to a heading in it, leads somewhere; so does every test that a page names, and
 * every heading of a page that a comment names.
 */
class LinksTest {
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern ELSEWHERE = Pattern.compile("[a-z]+:.*");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.*)$");
    private static final Pattern FENCED = Pattern.compile("(?ms)^```.*?^```");
    private static final Pattern CODE = Pattern.compile("`[^`\n]*`");
    /** As in a comment: {@code docs/}page, comma, the heading in quotes. */
    private static final Pattern NAMED_HEADING = Pattern.compile("(docs/[\\w/-]+\\.md), \"([^\"]+)\"");

    private static final Pattern LINE_OF_COMMENT = Pattern.compile("\\n\\s*(?:\\*|//) ");

    private static final Pattern TEST =
            Pattern.compile("`([A-Z]\\w*(?:Test|[a-z]IT|Properties|Contract))(?:\\.(?!java`)([a-z]\\w*))?`");

    /** Nothing else that pages name has so long a name. */
    private static final Pattern METHOD = Pattern.compile("`([a-z]\\w{24,})`");

    @Test
    void everyLinkLeadsSomewhere() {
        List<String> broken = new ArrayList<>();
        int links = 0;
        for (Path page : Docs.pages()) {
            String prose =
                    CODE.matcher(FENCED.matcher(Docs.read(page)).replaceAll("")).replaceAll("");
            for (MatchResult link : LINK.matcher(prose).results().toList()) {
                if (!ELSEWHERE.matcher(link.group(1)).matches()) {
                    links++;
                    if (!leadsSomewhere(page, link.group(1))) {
                        broken.add(Docs.name(page) + " -> " + link.group(1));
                    }
                }
            }
        }
        assertTrue(links >= 40, "only " + links + " links");
        assertEquals(List.of(), broken);
    }

    @Test
    void everyTestThatIsNamedExists() {
        Map<String, Path> tests = new HashMap<>();
        for (String folder : List.of("src/test/java", "src/main/java", "src/sample")) {
            Docs.ofModules(folder, ".java")
                    .forEach(file -> tests.put(file.getFileName().toString().replace(".java", ""), file));
        }
        List<Path> pages = new ArrayList<>(Docs.pages());
        pages.add(Docs.TESTS_OF_FAILURES);
        List<String> missing = new ArrayList<>();
        int named = 0;
        for (Path page : pages) {
            for (MatchResult test : TEST.matcher(Docs.read(page)).results().toList()) {
                named++;
                Path file = tests.get(test.group(1));
                boolean there = file != null
                        && (test.group(2) == null || Docs.read(file).contains("void " + test.group(2) + "("));
                if (!there) {
                    missing.add(Docs.name(page) + ": " + test.group());
                }
            }
        }
        String all = tests.values().stream().map(Docs::read).collect(Collectors.joining());
        for (Path page : pages) {
            METHOD.matcher(Docs.read(page))
                    .results()
                    .filter(method -> !all.contains("void " + method.group(1) + "("))
                    .forEach(method -> missing.add(Docs.name(page) + ": " + method.group()));
        }
        assertTrue(named >= 100, "only " + named + " tests named");
        assertEquals(List.of(), missing);
    }

    @Test
    void everyHeadingThatACommentNamesExists() {
        List<String> missing = new ArrayList<>();
        int named = 0;
        for (Path file : Docs.ofModules("src", ".java")) {
            String text = LINE_OF_COMMENT.matcher(Docs.read(file)).replaceAll(" ");
            for (MatchResult heading : NAMED_HEADING.matcher(text).results().toList()) {
                named++;
                Path page = Docs.root().resolve(heading.group(1));
                if (!Files.exists(page) || !anchors(page).contains(anchor(heading.group(2)))) {
                    missing.add(Docs.name(file) + ": " + heading.group());
                }
            }
        }
        assertTrue(named >= 20, "only " + named + " headings named");
        assertEquals(List.of(), missing);
    }

    private static boolean leadsSomewhere(Path page, String link) {
        int mark = link.indexOf('#');
        String file = mark < 0 ? link : link.substring(0, mark);
        Path target = file.isEmpty() ? page : page.resolveSibling(file).normalize();
        if (!Files.exists(target)) {
            return false;
        }
        return mark < 0 || !target.toString().endsWith(".md") || anchors(target).contains(link.substring(mark + 1));
    }

    /** The headings of a page as the usual viewers name them. */
    private static Set<String> anchors(Path page) {
        Set<String> anchors = new HashSet<>();
        String prose = FENCED.matcher(Docs.read(page)).replaceAll("");
        for (MatchResult heading : HEADING.matcher(prose).results().toList()) {
            String anchor = anchor(heading.group(1));
            String unique = anchor;
            for (int again = 1; !anchors.add(unique); again++) {
                unique = anchor + "-" + again;
            }
        }
        return anchors;
    }

    private static String anchor(String heading) {
        return heading.replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}\\s_-]", "")
                .strip()
                .replace(' ', '-');
    }
}
