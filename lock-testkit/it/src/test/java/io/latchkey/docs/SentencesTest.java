// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Length of sentences and paragraphs on the pages; code, tables, headings and generated parts aside. An item of a list
 * is a paragraph.
 */
class SentencesTest {
    private static final int SENTENCE = 40;
    private static final int PARAGRAPH = 90;

    /** What was written once and is not rewritten. */
    private static final Pattern HISTORY = Pattern.compile("CHANGELOG\\.md|docs/decisions/.*");

    private static final Pattern NO_PROSE = Pattern.compile(
            "(?ms)^ *```.*?^ *```|<!-- drawn: .*?<!-- end -->|<!-- generated: begin .*?<!-- generated: end -->|<!--.*?-->"
                    + "|^#.*?$|^\\|.*?$|^ {4,}\\S.*?$");

    private static final Pattern BETWEEN_PARAGRAPHS = Pattern.compile("\\n\\s*\\n|\\n(?= *(?:[-*]|\\d+\\.) )");
    private static final Pattern BETWEEN_SENTENCES = Pattern.compile("(?<=[.?!][)\"”]?)\\s+(?=[\\p{Lu}\\d(\"“])");
    private static final Pattern WORD = Pattern.compile("[\\p{L}\\p{N}]\\S*");

    @Test
    void sentencesAndParagraphsAreShort_onEachPage() {
        List<String> tooLong = Docs.pages().stream()
                .filter(page -> !HISTORY.matcher(Docs.name(page)).matches())
                .flatMap(page -> tooLong(Docs.read(page)).stream().map(text -> Docs.name(page) + ": " + text))
                .toList();
        assertTrue(tooLong.isEmpty(), () -> String.join("\n", tooLong));
    }

    @Test
    void longSentencesAndParagraphsAreFound() {
        String forty = "Word " + "word ".repeat(38) + "end.";
        assertEquals(List.of(), tooLong("# Title\n\n" + forty + "\n- " + forty + " " + forty + "\n"));
        assertEquals(1, tooLong("One " + forty).size());
        assertEquals(1, tooLong((forty + "\n").repeat(3)).size());
        assertEquals(List.of(), tooLong("| " + forty.repeat(3) + " |\n```\n" + forty.repeat(3) + "\n```\n"));
    }

    private static List<String> tooLong(String page) {
        List<String> found = new ArrayList<>();
        String prose = NO_PROSE.matcher(page)
                .replaceAll("\n")
                .replaceAll("`[^`]*`", "Code")
                .replaceAll("]\\([^)]*\\)", "")
                .replaceAll("[*\\[\\]]{2}|[\\[\\]]", "");
        for (String paragraph : BETWEEN_PARAGRAPHS.splitAsStream(prose).toList()) {
            if (words(paragraph) > PARAGRAPH) {
                found.add("paragraph of " + words(paragraph) + " words: " + opening(paragraph));
            }
            for (String sentence :
                    BETWEEN_SENTENCES.splitAsStream(paragraph.strip()).toList()) {
                if (words(sentence) > SENTENCE) {
                    found.add("sentence of " + words(sentence) + " words: " + opening(sentence));
                }
            }
        }
        return found;
    }

    private static long words(String text) {
        return WORD.matcher(text).results().count();
    }

    private static String opening(String text) {
        String line = text.strip().replaceAll("\\s+", " ");
        return line.substring(0, Math.min(80, line.length()));
    }
}
