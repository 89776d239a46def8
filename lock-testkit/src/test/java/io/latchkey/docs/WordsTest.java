// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The language of comments, string literals, test names and pages: sentences about requests, clients, sessions and
 * nodes, in the words of the field. The patterns below find sentences to rewrite; replacing the word alone is not
 * enough.
 */
class WordsTest {
    /**
     * The source roots with occurrences of {@link #PATTERNS} or with comment lines of more than 120 columns, and both
     * counts. A count may only fall, and the record with it; every other root has none. The changelog and the decisions
     * are history and not counted.
     */
    private static final String RECORD = """
            lock-zk/src/main             0     2
            """;

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

    private static final Path HITS = Path.of("target", "words.txt");

    @Test
    void countsOfTheIdiom_areThoseOfTheRecord() throws Exception {
        List<String> hits = new ArrayList<>();
        String counts = Stream.of(
                        "lock-api/src",
                        "lock-zk/src/main",
                        "lock-zk/src/cli",
                        "lock-zk/src/jmh",
                        "lock-zk/src/test",
                        "lock-testkit/src/main",
                        "lock-testkit/src/sample",
                        "lock-testkit/src/test",
                        "docs")
                .map(root -> counted(root, hits))
                .collect(Collectors.joining());
        Files.write(HITS, hits);
        assertEquals(
                RECORD,
                counts,
                "rewrite the sentences, or lower the record, of what " + HITS.toAbsolutePath() + " lists");
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

    private static String counted(String root, List<String> hits) {
        long wide = 0;
        int before = hits.size();
        for (Path file : files(root)) {
            String text = Docs.read(file);
            boolean page = file.toString().endsWith(".md");
            (page ? inText(text) : inJava(text)).forEach(hit -> hits.add(Docs.name(file) + ": " + hit));
            wide += page ? 0 : WIDE.matcher(text).results().count();
        }
        int found = hits.size() - before;
        return found == 0 && wide == 0 ? "" : String.format("%-24s %5d %5d%n", root, found, wide);
    }

    private static List<Path> files(String root) {
        if (root.equals("docs")) {
            Path history = Docs.root().resolve("docs/decisions");
            return Docs.pages().stream()
                    .filter(page -> !page.endsWith("CHANGELOG.md") && !page.startsWith(history))
                    .toList();
        }
        return Stream.of(".java", ".kt")
                .flatMap(ending -> Docs.files(Docs.root().resolve(root), ending).stream())
                .filter(file -> !file.endsWith("WordsTest.java"))
                .toList();
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
        return PATTERNS.matcher(ALLOWED.matcher(text).replaceAll("").replaceAll("\\s+", " "))
                .results()
                .map(MatchResult::group)
                .toList();
    }
}
