// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import io.latchkey.docs.Docs;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What docs/command-line.md and docs/cron.md tell to type, typed as it stands there, with the jar that the build has
 * made.
 */
@LatchkeyTest(sessionMillis = 10_000)
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class CommandLinePageIT {
    private static final Pattern SHELL = Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL);
    private static final Pattern CRONTAB = Pattern.compile("```crontab\n(.*?)```", Pattern.DOTALL);
    private static final Pattern START = Pattern.compile("\\blatchkey (ls|show|run|evict|top|watch|ping)\\b");
    private static final Path PAGE = Docs.root().resolve("docs/command-line.md");
    private static final Path CRON = Docs.root().resolve("docs/cron.md");

    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;

    CommandLinePageIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    /** What the page takes to be there. */
    @BeforeEach
    void install() throws IOException {
        Files.createDirectories(folder.resolve("bin"));
        Files.copy(
                Path.of(System.getProperty("latchkey.cli.jar")).resolveSibling("latchkey"),
                folder.resolve("bin/latchkey"),
                StandardCopyOption.COPY_ATTRIBUTES);
        for (String script : List.of("report.sh", "import.sh", "copy.sh", "nightly.sh")) {
            Path file = Files.writeString(folder.resolve(script), "#!/bin/sh\necho did " + script + "\n");
            assertTrue(file.toFile().setExecutable(true));
        }
    }

    private List<String> blocks(Pattern pattern, Path page) throws IOException {
        return pattern.matcher(Files.readString(page))
                .results()
                .map(block -> here(block.group(1)))
                .toList();
    }

    /** The same on this machine. */
    private String here(String text) {
        return text.replace("zk1:2181,zk2:2181,zk3:2181", server.connectString())
                .replace("/opt/jobs/", folder + "/");
    }

    private Map<String, String> environment() {
        String java = Path.of(System.getProperty("java.home"), "bin").toString();
        return Map.of("PATH", folder.resolve("bin") + ":" + java + ":/usr/bin:/bin");
    }

    /** As long as what it starts may take; a loop that looks until something is so starts it more than once. */
    private Program.Exit shell(String script) throws InterruptedException {
        int starts = (int) START.matcher(script).results().count();
        try (Program program = Program.start(folder, environment(), List.of("sh", "-e", "-c", script))) {
            return program.ended(1 + starts);
        }
    }

    @Test
    void everyCommandOfThePageWorks(LockClient other) throws Exception {
        Program.Exit ended;
        try (Lease held = other.semaphore("/jobs/import", 3).acquire()) {
            ended = shell(String.join("\n", blocks(SHELL, PAGE)));
            assertTrue(held.isValid());
        }

        assertAll(
                () -> assertEquals(0, ended.status(), ended::toString),
                () -> assertTrue(
                        ended.err().startsWith("latchkey: the lock /jobs/stuck was lost while the command ran ("),
                        ended.err()),
                () -> assertEquals(1, ended.err().lines().count(), ended.err()),
                () -> assertTrue(ended.out().endsWith("run ended with 76\n"), ended.out()),
                () -> assertTrue(
                        ended.out().contains("did report.sh\ndid report.sh\ndid import.sh\ndid copy.sh\n/jobs/report "),
                        ended.out()),
                () -> assertTrue(ended.out().contains("/jobs/nightly: "), ended.out()),
                () -> assertTrue(ended.out().contains("acquiring   acquired and released in "), ended.out()),
                () -> assertTrue(
                        ended.out().lines().anyMatch(line -> line.matches("\\S+Z +/jobs/import +semaphore +1 +0 .*")),
                        ended.out()),
                () -> assertTrue(
                        Files.readString(folder.resolve("nightly.html"))
                                .contains("<h1>Lock <bdi>/jobs/nightly</bdi></h1>"),
                        "nightly.html"),
                () -> assertTrue(
                        JsonParser.parseString(Files.readString(folder.resolve("locks.json")))
                                .isJsonArray(),
                        "locks.json"));
    }

    /** It would reach the command, or name a lock, as something else. */
    @Test
    void undecodableArgumentIsRefused() throws Exception {
        String job =
                "latchkey run --connect zk1:2181,zk2:2181,zk3:2181 /jobs/x -- ./report.sh \"$(printf 'gr\\303\\266n')\"";
        Program.Exit ended = shell(here(job));

        assertEquals(64, ended.status(), ended::toString);
        assertEquals("", ended.out());
        assertEquals(new Program.Exit(0, "did report.sh\n", ""), shell("export LC_ALL=C.UTF-8\n" + here(job)));
    }

    /** Variables first, then five fields and the command, as cron reads it. */
    @Test
    void jobOfTheCrontabRunsOnOneMachineOnly(LockClient other) throws Exception {
        List<String> lines = blocks(CRONTAB, CRON).get(0).lines().toList();
        String servers = lines.get(0).substring("LATCHKEY_CONNECT=".length());
        String job = lines.get(2).split("\\s+", 6)[5];

        Program.Exit busy;
        try (Lease held = other.mutex("/jobs/nightly").acquire()) {
            busy = shell("export LATCHKEY_CONNECT=" + servers + "\n" + job);
            assertTrue(held.isValid());
        }
        Program.Exit done = shell("export LATCHKEY_CONNECT=" + servers + "\n" + job);

        assertEquals(new Program.Exit(75, "", ""), busy);
        assertEquals(new Program.Exit(0, "did nightly.sh\n", ""), done);
    }
}
