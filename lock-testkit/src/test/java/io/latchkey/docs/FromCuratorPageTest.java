// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.junit.jupiter.api.Test;

/** docs/from-curator.md has a row for each class of Curator's locks, of the version that is here. */
class FromCuratorPageTest {
    private static final Pattern OF_THE_PACKAGE =
            Pattern.compile(InterProcessMutex.class.getPackageName().replace('.', '/') + "/(\\w+)\\.class");

    @Test
    void everyClassOfTheirsHasARow() throws IOException, URISyntaxException {
        Path jar = Path.of(InterProcessMutex.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        List<String> theirs;
        try (JarFile file = new JarFile(jar.toFile())) {
            theirs = file.stream()
                    .flatMap(entry -> OF_THE_PACKAGE.matcher(entry.getName()).results())
                    .map(found -> found.group(1))
                    .toList();
        }
        assertTrue(theirs.size() >= 18, "only " + theirs);
        List<String> cells = Docs.read(Docs.root().resolve("docs/from-curator.md"))
                .lines()
                .filter(line -> line.startsWith("| "))
                .map(line -> line.split("\\|", -1)[1])
                .toList();
        assertEquals(
                List.of(),
                theirs.stream()
                        .filter(name -> cells.stream().noneMatch(cell -> cell.contains("`" + name + "`")))
                        .toList());
    }
}
