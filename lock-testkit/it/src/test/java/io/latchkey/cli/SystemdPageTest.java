// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.latchkey.docs.Docs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The units of docs/systemd.md, as systemd reads them. */
@Timeout(120)
class SystemdPageTest {
    private static final Path ANALYZE = Path.of("/usr/bin/systemd-analyze");
    private static final Pattern UNIT = Pattern.compile("```ini\n# (\\S+)\n(.*?)```", Pattern.DOTALL);

    @TempDir
    private Path folder;

    @Test
    void unitsAreAcceptedBySystemd() throws Exception {
        List<MatchResult> units = UNIT.matcher(Files.readString(Docs.root().resolve("docs/systemd.md")))
                .results()
                .toList();
        assertEquals(2, units.size());
        assumeTrue(Files.isExecutable(ANALYZE), "systemd-analyze is not installed: the units were not verified");
        // systemd-analyze looks for the programs of a unit.
        Path program = Files.writeString(folder.resolve("latchkey"), "#!/bin/sh\n");
        assertTrue(program.toFile().setExecutable(true));
        List<String> files = new ArrayList<>(List.of(ANALYZE.toString(), "verify", "--man=no"));
        for (MatchResult unit : units) {
            Path file = folder.resolve(unit.group(1));
            Files.writeString(file, unit.group(2).replace("/usr/local/bin/latchkey", program.toString()));
            files.add(file.toString());
        }
        Path said = folder.resolve("said");
        Process verify = new ProcessBuilder(files)
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        assertTrue(verify.waitFor(60, TimeUnit.SECONDS), "systemd-analyze is slow");
        List<String> ours = Files.readString(said)
                .lines()
                .filter(line -> line.contains("nightly"))
                .toList();
        assertEquals(List.of(), ours);
        assertEquals(0, verify.exitValue(), Files.readString(said));
    }
}
