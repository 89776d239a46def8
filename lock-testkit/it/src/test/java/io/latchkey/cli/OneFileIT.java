// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonParser;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The file {@code latchkey} that the build makes, copied to a folder of the PATH, on a machine with nothing but Java. */
@EnabledOnOs(OS.LINUX)
@LatchkeyTest(sessionMillis = 10_000)
@Timeout(300)
class OneFileIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Path BUILT =
            Path.of(System.getProperty("latchkey.cli.jar")).resolveSibling("latchkey");

    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;
    private final LockClient other;
    private Path installed;

    OneFileIT(EmbeddedZooKeeper server, LockClient other) {
        this.server = server;
        this.other = other;
    }

    @BeforeEach
    void install() throws IOException {
        installed = Files.createDirectories(folder.resolve("bin")).resolve("latchkey");
        Files.copy(BUILT, installed, StandardCopyOption.COPY_ATTRIBUTES);
    }

    private Map<String, String> environment() {
        Map<String, String> environment = new HashMap<>();
        environment.put("PATH", installed.getParent() + ":/usr/bin:/bin");
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        environment.put("HOME", folder.toString());
        environment.put("LATCHKEY_CONNECT", server.connectString());
        return environment;
    }

    private Program.Exit shell(Map<String, String> environment, String script) throws InterruptedException {
        try (Program program = Program.start(folder, environment, List.of("/bin/sh", "-c", script))) {
            return program.ended(3);
        }
    }

    private Program.Exit shell(String script) throws InterruptedException {
        return shell(environment(), script);
    }

    private static Optional<String> jdk(String version) throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/usr/lib/jvm"))) {
            return all.filter(home -> Files.isExecutable(home.resolve("bin/java")))
                    .filter(home -> {
                        try {
                            return Files.readString(home.resolve("release"))
                                    .contains("JAVA_VERSION=\"" + version + ".");
                        } catch (IOException none) {
                            return false;
                        }
                    })
                    .map(Path::toString)
                    .findFirst();
        }
    }

    // ---- Java

    @ParameterizedTest
    @ValueSource(strings = {"17", "25"})
    void fileRuns_onJava(String version) throws Exception {
        Optional<String> home = jdk(version);
        assumeTrue(home.isPresent(), "no JDK " + version + " in /usr/lib/jvm: not tried on it");
        Map<String, String> environment = environment();
        environment.put("JAVA_HOME", home.get());

        Program.Exit ran = shell(environment, "latchkey run /one/" + version + " -- echo ran && latchkey --version");
        Program.Exit again = shell(environment, "latchkey run /one/" + version + " -- echo ran");

        assertEquals("", ran.err());
        assertTrue(ran.out().matches("ran\nlatchkey \\d+\\.\\d+\\.\\d+\\S*\n"), ran::toString);
        assertEquals(new Program.Exit(0, "ran\n", ""), again);
        Path archives = folder.resolve(".cache/latchkey");
        assertEquals(version.equals("25"), Files.isDirectory(archives), "an archive of classes");
    }

    @ParameterizedTest
    @CsvSource({"HOME=/proc", "HOME=", "XDG_CACHE_HOME=/dev/null"})
    void homeThatCannotBeWritten_changesNothing(String home) throws Exception {
        Map<String, String> environment = environment();
        jdk("25").ifPresent(each -> environment.put("JAVA_HOME", each));
        environment.put(home.split("=", -1)[0], home.split("=", -1)[1]);
        Program.Exit ended = shell(environment, "latchkey --version");
        assertEquals(0, ended.status(), ended::toString);
        assertEquals("", ended.err());
        assertTrue(ended.out().startsWith("latchkey "), ended::toString);
    }

    @Test
    void archiveThatIsBroken_changesNothing() throws Exception {
        Optional<String> home = jdk("25");
        assumeTrue(home.isPresent(), "no JDK 25 in /usr/lib/jvm: not tried on it");
        Map<String, String> environment = environment();
        environment.put("JAVA_HOME", home.get());
        shell(environment, "latchkey --version");
        try (Stream<Path> archives = Files.list(folder.resolve(".cache/latchkey"))) {
            for (Path archive : archives.toList()) {
                Files.writeString(archive, "no archive");
            }
        }
        Program.Exit ended = shell(environment, "latchkey --version");
        assertEquals(0, ended.status(), ended::toString);
        assertEquals("", ended.err());
        assertEquals(1, ended.out().lines().count(), ended::toString);
    }

    @Test
    void javaThatIsMissingOrTooOld_isNamed() throws Exception {
        Map<String, String> without = environment();
        without.remove("JAVA_HOME");
        without.put("PATH", installed.getParent().toString());
        Program.Exit none = shell(without, "latchkey --version");
        assertEquals(78, none.status(), none::toString);
        assertTrue(none.err().startsWith("latchkey: no Java is found. Install Java 17 or later"), none::toString);

        Path old = Files.createDirectories(folder.resolve("old/bin")).getParent();
        Files.writeString(old.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"11.0.22\"\n");
        Path java = Files.writeString(old.resolve("bin/java"), "#!/bin/sh\necho ran\n");
        assertTrue(java.toFile().setExecutable(true));
        without.put("JAVA_HOME", old.toString());
        Program.Exit tooOld = shell(without, "latchkey --version");
        assertEquals(78, tooOld.status(), tooOld::toString);
        assertTrue(tooOld.err().startsWith("latchkey: Java 11.0.22 in " + old + " is too old"), tooOld::toString);
    }

    /** bash looks for its script in the PATH as well. */
    @Test
    void fileThatIsFoundByItsNameOnly_isRefused() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/bash")), "bash is not installed");
        Program.Exit ended = shell("bash latchkey --version");
        assertEquals(78, ended.status(), ended::toString);
        assertEquals(
                "latchkey: this file is not found as latchkey. Give its whole path. Nothing was done.\n", ended.err());
    }

    // ---- streams

    /** Each gets what /dev/null gives, and no file of the shell's or the JVM's. */
    @ParameterizedTest
    @CsvSource({"sh, 0<&-", "sh, 1>&-", "sh, 2>&-", "sh, 0<&- 1>&- 2>&-", "bash, 2>&-", "bash, 1>&- 2>&-"})
    void closedStreamIsOpenedOnNothing(String shell, String closed) throws Exception {
        // A redirection would show: dash makes it in the shell itself.
        String look = "for n in 0 1 2; do all=\"$all $(readlink /proc/$$/fd/$n)\"; done; printf %s\\\\n $all > "
                + folder + "/fds";
        Program.Exit ended = shell(shell + " " + installed + " run /one/closed -- sh -ec 'cat; echo out; echo err >&2; "
                + look + "' " + closed);
        assertEquals(0, ended.status(), ended::toString);
        List<String> files = Files.readString(folder.resolve("fds")).lines().toList();
        for (int stream = 0; stream < 3; stream++) {
            if (closed.contains(stream == 0 ? "0<" : stream + ">")) {
                assertEquals("/dev/null", files.get(stream), files::toString);
            }
        }
        assertEquals(closed.contains("1>") ? "" : "out\n", ended.out());
        assertEquals(closed.contains("2>") ? "" : "err\n", ended.err());
    }

    @Test
    void statusIs74_whenTheOutputIsFullOrBroken() throws Exception {
        try (Lease held = other.mutex("/one/full").acquire()) {
            for (String out : List.of("> /dev/full", "| true")) {
                Program.Exit ended = shell("{ latchkey ls /one; echo $? > status; } " + out);
                assertEquals("74", Files.readString(folder.resolve("status")).strip(), out + ended);
                assertTrue(ended.err().contains("standard output could not be written"), ended::toString);
            }
            assertTrue(held.isValid());
        }
    }

    @Test
    void watchWritesItsPage_whenASignalEndsIt() throws Exception {
        try (Lease held = other.mutex("/one/watch").acquire();
                Program program = Program.start(
                        folder,
                        environment(),
                        List.of(installed.toString(), "watch", "/one/watch", "--html", "watch.html"))) {
            program.awaitSaid("granted");
            program.signal("INT");
            assertEquals(130, program.ended().status());
            String page = Files.readString(folder.resolve("watch.html"));
            assertTrue(page.contains(Long.toString(held.token())) && page.endsWith("</html>\n"), page);
        }
    }

    // ---- what is inside

    @Test
    void billOfMaterialsLicencesAndVersionAreInside() throws Exception {
        try (ZipFile jar = new ZipFile(installed.toFile())) {
            // .ci/release fails without one.
            assumeTrue(jar.getEntry("META-INF/sbom/bom.json") != null, "built offline: no bill of materials");
            String bill = read(jar, "META-INF/sbom/bom.json");
            List<String> parts =
                    JsonParser.parseString(bill).getAsJsonObject().getAsJsonArray("components").asList().stream()
                            .map(each -> each.getAsJsonObject().get("name").getAsString())
                            .toList();
            assertTrue(parts.containsAll(List.of("zookeeper", "guava", "picocli", "netty-handler", "lock-zk")), bill);
            String licences = read(jar, "META-INF/THIRD-PARTY.txt");
            for (String part : List.of("zookeeper", "guava", "picocli", "netty-handler", "gson", "slf4j-simple")) {
                assertTrue(licences.contains(":" + part + ":"), licences);
            }
            assertTrue(read(jar, "META-INF/LICENSE").contains("Apache License"));
            assertTrue(read(jar, "META-INF/MANIFEST.MF").contains("Implementation-Version: "));
        }
        assertTrue(Files.isReadable(BUILT) && Files.isExecutable(BUILT));
        assertTrue(Files.getPosixFilePermissions(BUILT).toString().contains("OTHERS_READ"), "others may run it");
    }

    private static String read(ZipFile jar, String name) throws IOException {
        ZipEntry entry = jar.getEntry(name);
        assertTrue(entry != null, name);
        return new String(jar.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"bash", "zsh"})
    void completionIsAScript(String shell) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin", shell)), shell + " is not installed");
        Files.writeString(
                folder.resolve("try"),
                (shell.equals("zsh") ? "autoload -U compinit bashcompinit; compinit -u -D; bashcompinit\n" : "")
                        + "source <(latchkey completion) && "
                        + (shell.equals("zsh") ? "echo $_comps[latchkey]\n" : "complete -p latchkey\n")
                        + (shell.equals("zsh")
                                ? ""
                                : "COMP_WORDS=(latchkey ev); COMP_CWORD=1; COMP_LINE='latchkey ev'; COMP_POINT=11;"
                                        + " _complete_latchkey; echo \"${COMPREPLY[@]}\"\n"));
        Program.Exit ended = shell("/usr/bin/" + shell + " try");
        assertEquals(0, ended.status(), ended::toString);
        assertTrue(ended.out().contains("_complete_latchkey"), ended::toString);
        assertTrue(shell.equals("zsh") || ended.out().endsWith("evict\n"), ended::toString);
    }

    // ---- a terminal

    @Test
    void top_fillsATerminal_andLeavesItAsItWas() throws Exception {
        boolean there = Files.isExecutable(Path.of("/usr/bin/tmux"));
        if (!there) {
            System.out.println("tmux is not installed: top was not tried in a terminal");
        }
        assumeTrue(there, "tmux is not installed: top was not tried in a terminal");
        String tmux = "tmux -L latchkey-" + ProcessHandle.current().pid() + " ";
        Map<String, String> environment = environment();
        environment.put("TERM", "xterm");
        environment.put("LC_ALL", "C.UTF-8");
        try (Lease busy = other.mutex("/term/busy").acquire();
                Lease calm = other.mutex("/term/calm").acquire()) {
            CompletableFuture<Lease> waiter = other.mutex("/term/busy").acquireAsync();
            shell(environment, tmux + "-f /dev/null new-session -d -x 100 -y 12 'sh'");
            shell(
                    environment,
                    tmux
                            + "send-keys 'PS1=; echo bef\"\"ore; latchkey top /term --interval 2s; echo sta\"\"tus $?' Enter");
            String first = awaitScreen(environment, tmux, "sorted by waiters");
            assertTrue(first.contains("q quit"), first);
            List<String> rows =
                    first.lines().filter(line -> line.contains("/term/")).toList();
            assertEquals(2, rows.size(), first);
            assertTrue(rows.get(0).contains("/term/busy") && rows.get(0).contains(" mutex  1  "), first);
            assertFalse(first.contains("before"), "the second page of the terminal");

            CompletableFuture<Lease> more = other.mutex("/term/calm").acquireAsync();
            awaitScreen(environment, tmux, "* /term/calm", "*  /term/calm");
            try (Lease added = other.mutex("/term/added").acquire()) {
                awaitScreen(environment, tmux, "+  /term/added");
                assertTrue(added.isValid());
            }
            shell(environment, tmux + "send-keys p");
            awaitScreen(environment, tmux, "sorted by path");
            shell(environment, tmux + "resize-window -x 60 -y 8");
            shell(environment, tmux + "send-keys w");
            awaitScreen(environment, tmux, "sorted by waiters"); // drawn since
            // With -J, what the terminal had to wrap is one line again.
            String narrow = shell(environment, tmux + "capture-pane -p -J").out();
            assertTrue(narrow.lines().map(String::stripTrailing).allMatch(line -> line.length() <= 60), narrow);
            shell(environment, tmux + "send-keys q");
            String after = awaitScreen(environment, tmux, "status 0");
            assertTrue(after.contains("before"), after);
            shell(environment, tmux + "send-keys 'stty -a' Enter");
            String modes = awaitScreen(environment, tmux, "icanon");
            assertTrue(modes.contains(" icanon") && !modes.contains("-icanon") && !modes.contains(" -echo "), modes);
            // After the signal, the modes that matter, in few lines: the window is low now.
            shell(
                    environment,
                    tmux
                            + "send-keys \"clear; latchkey top /term; echo sta''tus \\$?; stty -a | grep -o '.icanon'\" Enter");
            awaitScreen(environment, tmux, "sorted by waiters");
            shell(environment, tmux + "send-keys C-c");
            String broken = awaitScreen(environment, tmux, "status 130");
            broken = broken.contains("icanon") ? broken : awaitScreen(environment, tmux, " icanon", "-icanon");
            assertTrue(broken.contains(" icanon") || broken.lines().anyMatch("icanon"::equals), broken);
            waiter.cancel(false);
            more.cancel(false);
            assertTrue(busy.isValid() && calm.isValid());
        } finally {
            shell(environment, tmux + "kill-server");
        }
    }

    /** Waits until the screen has one of the texts. */
    private String awaitScreen(Map<String, String> environment, String tmux, String... texts)
            throws InterruptedException {
        String[] last = {""};
        Eventually.holds("a screen with " + Stream.of(texts).collect(Collectors.joining(" or ")), SOON, () -> {
            last[0] = shell(environment, tmux + "capture-pane -p").out();
            return Stream.of(texts).anyMatch(last[0]::contains);
        });
        return last[0];
    }
}
