// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The language of comments, string literals, test names and pages: sentences about requests, clients, sessions and
 * nodes, in the words of the field. The patterns below find sentences to rewrite; replacing the word alone is not
 * enough.
 */
class WordsTest {
    private static final Pattern PATTERNS = Pattern.compile(
            "\\b(who|whom|whoever|nobody|somebody|anybody|everybody|he|his|him"
                    + "|anew|once more|meanwhile|all the same|as it were|(by )?decrees?"
                    + "|(is|are|was|were|be|been|being|not|never) told|lets? go|letting go"
                    + "|(comes?|came) to(?! an end)|of (yours|mine|one's own)|there (is|are|was|were) none)\\b"
                    + "|(?<=[.;:] )(What|Whose)\\b(?![^.]*\\?)",
            Pattern.CASE_INSENSITIVE);

    /** Good English that the patterns would find; "who" is for people only. */
    private static final Pattern ALLOWED =
            Pattern.compile("told apart|\\b(?:readers|operators|developers) who\\b|\\bWhat[^.]*\\?");

    private static final Pattern COMMENT_OR_STRING = Pattern.compile(
            "(?s)//[^\n]*|/\\*.*?\\*/|\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\.|[^'\\\\])+'|\\bvoid \\w+(?=\\()");

    private static final Pattern BREAK_OF_COMMENT = Pattern.compile("\\n\\s*(?:\\*|//) ?");
    private static final Pattern HUMP = Pattern.compile("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])");
    private static final Pattern WIDE = Pattern.compile("(?m)^(?=.{121,}$).*(?:\\* |// ).*$");

    /** The changelog and the decisions are history, and left out. */
    @Test
    void noSentenceOfTheIdiom_andNoWideComment_isLeft() {
        Stream<String> pages = Docs.pages().stream()
                .filter(page -> !page.endsWith("CHANGELOG.md")
                        && !page.startsWith(Docs.root().resolve("docs/decisions")))
                .flatMap(page -> found(page, inText(Docs.read(page))));
        Stream<String> sources = Stream.of("lock-api/src", "lock-zk/src", "lock-testkit/src")
                .flatMap(root -> Stream.of(".java", ".kt").flatMap(end -> files(root, end)))
                .filter(file -> !file.endsWith("WordsTest.java"))
                .flatMap(file ->
                        Stream.concat(found(file, inJava(Docs.read(file))), found(file, all(WIDE, Docs.read(file)))));
        assertEquals(List.of(), Stream.concat(pages, sources).toList(), "rewrite these sentences");
    }

    @Test
    void sentencesOfTheIdiom_areFound_andPlainOnesAreNot() {
        assertEquals(
                List.of("Whoever", "is told", "who", "lets go", "somebody", "once more"),
                inJava(
                        "// Whoever waits is told.\nvoid whoWaits() { fail(\"lets go, as somebody\\n\"); }\n/*\n * once\n"
                                + " * more */"));
        assertEquals(
                List.of(),
                inJava("/** Returns what it holds. */ int who = 1; // cannot be told apart by readers who look"));
    }

    private static Stream<Path> files(String root, String ending) {
        return Docs.files(Docs.root().resolve(root), ending).stream();
    }

    private static Stream<String> found(Path file, List<String> hits) {
        return hits.stream().map(hit -> Docs.name(file) + ": " + hit);
    }

    private static List<String> all(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(MatchResult::group).toList();
    }

    private static List<String> inJava(String source) {
        return COMMENT_OR_STRING
                .matcher(source)
                .results()
                .map(MatchResult::group)
                .map(text -> text.startsWith("void ") ? HUMP.matcher(text).replaceAll(" ") : text)
                .flatMap(text -> inText(BREAK_OF_COMMENT.matcher(text).replaceAll(" ")).stream())
                .toList();
    }

    private static List<String> inText(String text) {
        return all(PATTERNS, ALLOWED.matcher(text).replaceAll("").replaceAll("\\s+", " "));
    }
}
