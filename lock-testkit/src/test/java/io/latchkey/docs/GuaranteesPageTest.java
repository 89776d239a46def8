// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * What docs/guarantees.md says of a method under a failure names a test that shows it; that it exists, LinksTest asks
 * of all pages.
 */
class GuaranteesPageTest {
    private static final Pattern TEST = Pattern.compile("`([A-Z]\\w+(?:Test|Properties|Contract))\\.(\\w+)`");
    private static final String HEAD = "| failure | method |";

    @Test
    void namesATestThatExistsInEveryRow() {
        List<String> rows = rows(
                Docs.read(Docs.root().resolve("docs/guarantees.md")).lines().toList());
        assertTrue(rows.size() >= 25, "only " + rows.size() + " rows");
        assertEquals(
                List.of(),
                rows.stream().filter(row -> !TEST.matcher(row).find()).toList(),
                "rows without a test");
    }

    private static List<String> rows(List<String> lines) {
        List<String> rows = new ArrayList<>();
        boolean inTable = false;
        for (String line : lines) {
            inTable = line.startsWith(HEAD) || (inTable && line.startsWith("|"));
            if (inTable && !line.startsWith(HEAD) && !line.startsWith("|---")) {
                rows.add(line);
            }
        }
        return rows;
    }
}
