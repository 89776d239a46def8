// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The table of old bugs, to which every branch adds: a merge may leave rows twice, or on the page where the table was
 * before.
 */
class OldBugsPageTest {
    private static final String HEAD = "| bug | found by | test |";

    @Test
    void everyBugHasOneRow() {
        List<String> bugs = Docs.pages().stream()
                .filter(page -> Docs.name(page).startsWith("docs/testing"))
                .map(Docs::read)
                .filter(page -> page.contains(HEAD))
                .flatMap(page ->
                        page.substring(page.indexOf(HEAD) + HEAD.length()).lines())
                .filter(line -> line.startsWith("| "))
                .map(line -> line.substring(0, line.indexOf(" | ", 2)))
                .toList();
        assertTrue(bugs.size() >= 100, () -> "only " + bugs.size());
        Set<String> seen = new HashSet<>();
        assertEquals(List.of(), bugs.stream().filter(bug -> !seen.add(bug)).toList());
    }
}
