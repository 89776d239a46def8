// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.time.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessTreeTest {
    /** Shells that wait for each other: so many that their ids, modulo any small power of two, do not only grow. */
    private static final int TREES = 4;

    private static final int DEPTH = 20;

    private static final String SCRIPT = "if [ $1 -gt 0 ]; then sh $0 $(($1 - 1)); echo and on; else sleep 300; fi\n";

    @TempDir
    private Path folder;

    private final List<ProcessTree> trees = new ArrayList<>();

    @AfterEach
    void end() {
        trees.forEach(tree -> tree.living().forEach(ProcessHandle::destroyForcibly));
    }

    /** A shell that outlives what it waits for runs its next command. */
    @Test
    void shellEndsBeforeWhatItWaitsFor() throws Exception {
        Path script = Files.writeString(folder.resolve("wait.sh"), SCRIPT);
        for (int i = 0; i < TREES; i++) {
            Path said = folder.resolve("said" + i);
            Process shell = new ProcessBuilder("sh", script.toString(), Integer.toString(DEPTH))
                    .redirectOutput(said.toFile())
                    .start();
            Eventually.holds(
                    "all shells",
                    Duration.ofSeconds(10),
                    () -> shell.descendants().count() == DEPTH + 1);
            ProcessTree tree = new ProcessTree(shell.toHandle(), "no mark");
            trees.add(tree);
            List<ProcessHandle> living = tree.living();

            for (ProcessHandle each : living) {
                assertTrue(
                        living.indexOf(each.parent().orElseThrow()) < living.indexOf(each),
                        () -> each + " of " + living);
            }
            living.forEach(ProcessHandle::destroy);
            Eventually.holds("the end", Duration.ofSeconds(10), tree::hasEnded);
            assertEquals("", Files.readString(said));
        }
    }
}
