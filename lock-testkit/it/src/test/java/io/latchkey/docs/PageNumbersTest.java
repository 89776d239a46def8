// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bounds, defaults and numbers of the build in the sentences of pages: they are those of the sources. */
class PageNumbersTest {
    private static final Map<Integer, String> WORDS =
            Map.of(2, "two", 4, "four", 5, "five", 6, "six", 10, "ten", 20, "twenty");

    /** The number of a constant, or what stands in a pom. */
    private static int numberIn(String source, String name) {
        List<Path> files = Docs.ofModules("src/main/java", "/" + source + ".java");
        String text = Docs.read(source.endsWith(".xml") ? Docs.root().resolve(source) : files.get(0));
        Matcher number = Pattern.compile("\\b" + name + "(?:>| = (?:\\w+\\.\\w+\\()?)([\\d_]+)")
                .matcher(text);
        assertTrue(number.find(), () -> source + " has no " + name);
        return Integer.parseInt(number.group(1).replace("_", ""));
    }

    /** @param sentence with # in place of the number, or * in place of the word for it */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "README.md; session ends, after # s by default; ClientSettings; DEFAULT_SESSION_TIMEOUT",
                "docs/settings.md; | `sessionTimeout` | # s |; ClientSettings; DEFAULT_SESSION_TIMEOUT",
                "docs/settings.md; | `sessionNodeBytes` | # |; ClientSettings; DEFAULT_SESSION_NODE_BYTES",
                "docs/settings.md; at most # printable characters; PrintableText; LONGEST",
                "docs/guarantees.md; remembers up to # paths; ClientContext; MOST_REMEMBERED",
                "docs/limits.md; | paths that a session remembers | #; ClientContext; MOST_REMEMBERED",
                "docs/observing.md; While # calls wait for it; ObserverDispatcher; MOST_WAITING",
                "docs/observing.md; After * lines in five seconds; LossLog; LINES",
                "docs/observing.md; in * seconds, further losses; LossLog; SPAN",
                "docs/observing.md; reads # nodes; LockSearch; MOST_NODES",
                "docs/command-line.md; reads at most # nodes; LockSearch; MOST_NODES",
                "docs/command-line.md; nodes and # requests; LockSearch; MOST_REQUESTS",
                "docs/troubleshooting.md; the first * have lines of their own; LossLog; LINES",
                "docs/protocol.md; over their nodes every T/#; Heartbeat; BEATS",
                "docs/protocol.md; at most # checks; NodeChecks; PART",
                "docs/protocol.md; checks and # bytes; NodeChecks; PART_BYTES",
                "docs/protocol.md; T/# apart; SystemClock; PULSES",
                "docs/protocol.md; but never more than # ms; SystemClock; LONGEST",
                "docs/protocol.md; and never less than # ms; SystemClock; SHORTEST",
                "docs/protocol.md; a caller waits up to # ms; TurnQueue; PATIENCE",
                "docs/contributing.md; * test classes run side by side; pom.xml; forkCount",
                "docs/testing.md; * test classes run side by side; pom.xml; forkCount",
            })
    void numberIsThatOfTheSources(String page, String sentence, String source, String name) {
        int number = numberIn(source, name);
        String expected = sentence.replace("#", String.format(Locale.ROOT, "%,d", number))
                .replace("*", WORDS.getOrDefault(number, "?"))
                .toLowerCase(Locale.ROOT);
        String text =
                Docs.read(Docs.root().resolve(page)).replaceAll("\\s+", " ").toLowerCase(Locale.ROOT);
        assertTrue(text.contains(expected), () -> page + " does not say: " + expected);
    }
}
