// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LossCause;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * What docs/troubleshooting.md says one may see: each exception, reason and cause of a loss that there is, and lines
 * that are logged.
 */
class TroubleshootingPageTest {
    private static final String PAGE = Docs.read(Docs.root().resolve("docs/troubleshooting.md"));
    private static final Pattern FIRST_CELL = Pattern.compile("(?m)^\\| `([^`]+)`(?: itself)? \\|");
    private static final Pattern ELLIPSIS = Pattern.compile("…");
    private static final Pattern SECOND_CELL = Pattern.compile("(?m)^\\|[^|]*\\| `(\\w+)` \\|");

    @Test
    void everyExceptionReasonAndCauseHasARow() {
        List<String> exceptions = Docs.files(Docs.root().resolve("lock-api/src/main/java"), "Exception.java").stream()
                .map(file -> file.getFileName().toString().replace(".java", ""))
                .toList();
        assertTrue(exceptions.size() >= 9, () -> "only " + exceptions);
        assertAll(
                () -> assertEquals(List.of(), without(exceptions, FIRST_CELL)),
                () -> assertEquals(List.of(), without(names(LossCause.values()), FIRST_CELL)),
                () -> assertEquals(List.of(), without(names(LockException.Reason.values()), SECOND_CELL)));
    }

    private static List<String> names(Enum<?>[] constants) {
        return Arrays.stream(constants).map(Enum::name).toList();
    }

    private static List<String> without(List<String> names, Pattern cell) {
        List<String> cells =
                cell.matcher(PAGE).results().map(row -> row.group(1)).toList();
        return names.stream().filter(name -> !cells.contains(name)).toList();
    }

    @Test
    void everyLogLineStandsInTheCode() {
        String code = Docs.files(Docs.root().resolve("lock-zk/src/main/java"), ".java").stream()
                .map(Docs::read)
                .map(source -> source.replaceAll("\"\\s*\\+\\s*\"", ""))
                .collect(Collectors.joining());
        String section = PAGE.substring(PAGE.indexOf("## A log line"), PAGE.indexOf("## A wait"));
        List<String> lines =
                FIRST_CELL.matcher(section).results().map(row -> row.group(1)).toList();
        assertTrue(lines.size() >= 12, () -> "only " + lines);
        assertEquals(
                List.of(),
                lines.stream()
                        .filter(line ->
                                !ELLIPSIS.splitAsStream(line).map(String::strip).allMatch(code::contains))
                        .toList());
    }
}
