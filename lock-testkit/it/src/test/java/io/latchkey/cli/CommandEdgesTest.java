// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.docs.Docs;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.zk.ZkLockClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The edges of {@code latchkey run}: signals, processes that the command starts, terminals, streams and servers. Each
 * row or item about them in docs/command-line.md has a test here.
 */
@Tag("once")
@Tag("long")
@EnabledOnOs(OS.LINUX)
@LatchkeyTest(sessionMillis = 10_000)
@Timeout(300)
class CommandEdgesTest extends CommandFixture {
    private static final Duration SOON = Duration.ofSeconds(60);
    /** The longest time of the command line. */
    private static final String AGES = "999999999d";

    private static final Pattern PROCESS = Pattern.compile("process (\\d+)");

    CommandEdgesTest(EmbeddedZooKeeper server, LockClient other) {
        super(server, other);
    }

    private Map<String, String> environment() {
        return Map.of("LATCHKEY_CONNECT", server.connectString(), "PATH", PATH);
    }

    @Override
    Program start(Map<String, String> environment, String... args) {
        return withItsProcesses(super.start(environment, args));
    }

    /** The processes that it says to have started end with the test as well. */
    private Program withItsProcesses(Program program) {
        AutoCloseable unused = kept(() -> processes(program).forEach(ProcessHandle::destroyForcibly));
        return program;
    }

    /** A shell that runs latchkey with these arguments in place of {@code LATCHKEY}. */
    private Program shell(String script, String... args) {
        String latchkey = Program.command(args).stream()
                .map(arg -> "'" + arg.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" "));
        return shell(script.replace("LATCHKEY", latchkey));
    }

    private Program shell(String script) {
        return withItsProcesses(kept(Program.start(folder, environment(), List.of("/bin/sh", "-c", script))));
    }

    /** Those that the command has said to have started. */
    private static List<ProcessHandle> processes(Program program) {
        Matcher said = PROCESS.matcher(program.out());
        List<ProcessHandle> all = new ArrayList<>();
        while (said.find()) {
            ProcessHandle.of(Long.parseLong(said.group(1))).ifPresent(all::add);
        }
        return all;
    }

    // ---- signals

    @Test
    void tableNamesEachSignalOfTheSystem() throws Exception {
        String page = Files.readString(Docs.root().resolve("docs/command-line.md"));
        String table = page.substring(page.indexOf("CommandEdgesTest"), page.indexOf("## Exit status"));
        Process kill = new ProcessBuilder("sh", "-c", "for n in $(seq 31); do kill -l $n; done").start();
        List<String> names = kill.inputReader()
                .lines()
                .map(name -> name.replaceFirst("^SIG", ""))
                .toList();
        assertEquals(31, names.size(), names::toString);
        Set<String> inTheTable = new HashSet<>(List.of(table.split("[^A-Z0-9]+", -1)));
        assertEquals(
                List.of(),
                names.stream()
                        .filter(name -> !inTheTable.contains(name))
                        // Some shells have no name for STKFLT.
                        .filter(name -> !name.equals("16"))
                        .toList(),
                "signals that the table does not name");
    }

    @ParameterizedTest
    @CsvSource({
        "HUP,129",
        "INT,130",
        "ABRT,134",
        "USR1,138",
        "USR2,140",
        "ALRM,142",
        "TERM,143",
        "STKFLT,144",
        "XCPU,152",
        "VTALRM,154",
        "PROF,155",
        "IO,157",
        "PWR,158",
        "SYS,159"
    })
    void signalEndsTheCommandFirst(String signal, int status) throws Exception {
        String path = "/edges/" + signal;
        Program program = runScript(path, OBEDIENT).awaitSaid("running");

        program.signal(signal);

        Program.Exit ended = program.ended();
        assertEquals(status, ended.status(), ended::toString);
        assertEquals("running\ngot TERM\n", ended.out(), "the command ended before latchkey");
        assertEquals(List.of(), requests(path), "released");
    }

    @ParameterizedTest
    @ValueSource(strings = {"PIPE", "CHLD", "URG", "WINCH", "XFSZ", "CONT"})
    void signalHasNoEffect(String signal) throws Exception {
        String path = "/edges/" + signal;
        Program program = runScript(path, OBEDIENT).awaitSaid("running");

        program.signal(signal);
        program.signal("TERM");

        assertEquals(143, program.ended().status());
        assertEquals("running\ngot TERM\n", program.out());
    }

    /** These cannot be handled: the command goes on, until the lock is lost for others to take and beyond. */
    @ParameterizedTest
    @ValueSource(strings = {"KILL", "34", "64", "BUS", "FPE", "ILL", "SEGV", "TRAP"})
    void signalEndsLatchkeyAndNotTheCommand(String signal) throws Exception {
        Program program = runScript("/edges/" + signal, "echo process $$.; exec sleep 300", "--session-timeout=30s")
                .awaitSaid(".");

        program.signal(signal);

        program.ended();
        assertTrue(processes(program).get(0).isAlive(), "the command was ended");
        assertEquals(1, requests("/edges/" + signal).size(), "until the session has expired");
    }

    @Test
    void dumpOfQuit_isNotAmongTheOutputOfTheCommand() throws Exception {
        Program program = runScript("/edges/quit", OBEDIENT).awaitSaid("running");

        program.signal("QUIT");
        Eventually.holds("a dump", SOON, () -> program.err().contains("Full thread dump"));
        program.signal("TERM");

        assertEquals("running\ngot TERM\n", program.ended().out());
    }

    @ParameterizedTest
    @CsvSource({"trap '' HUP USR1; exec LATCHKEY, HUP USR1", "exec nohup LATCHKEY, HUP"})
    void signalsThatTheCallerIgnores_areIgnored(String script, String ignored) throws Exception {
        Program program = shell(script, "run", "/edges/ignored", "--", "sh", "-c", OBEDIENT)
                .awaitSaid("running");

        for (String signal : ignored.split(" ", -1)) {
            program.signal(signal);
        }
        program.signal("TERM");

        assertEquals(143, program.ended().status());
    }

    @ParameterizedTest
    @ValueSource(strings = {"STOP", "TSTP", "TTIN", "TTOU"})
    void commandGoesOn_whenLatchkeyIsStoppedForLessThanASession(String signal) throws Exception {
        new ProcessBuilder("mkfifo", folder.resolve("wait").toString()).start().waitFor();
        Program program = runScript("/edges/" + signal, "echo running; read -r line < wait; echo done")
                .awaitSaid("running");

        program.signal(signal);
        program.signal("CONT");
        Files.writeString(folder.resolve("wait"), "go\n");

        assertEquals(new Program.Exit(0, "running\ndone\n", ""), program.ended());
    }

    @Test
    void commandIsEnded_whenLatchkeyIsStoppedForLongerThanItsSession() throws Exception {
        Program program =
                runScript("/edges/stopped", OBEDIENT, "--session-timeout=6s").awaitSaid("running");

        program.signal("STOP");
        Eventually.holds(
                "the session expires", SOON, () -> requests("/edges/stopped").isEmpty());
        assertEquals("running\n", program.out(), "it cannot end the command while it is stopped");
        program.signal("CONT");

        Program.Exit ended = program.ended();
        assertEquals(76, ended.status(), ended::toString);
        assertEquals("running\ngot TERM\n", ended.out());
    }

    // ---- times that are longer than a number of nanoseconds can say

    @Test
    void commandIsEnded_whenTheLockIsLost_howeverLongItsTimesAre() throws Exception {
        Program program = runScript(
                        "/edges/ages",
                        OBEDIENT,
                        "--session-timeout=30s",
                        "--connect-timeout=" + AGES,
                        "--timeout=" + AGES,
                        "--held-at-most=" + AGES,
                        "--grace=" + AGES)
                .awaitSaid("running");

        server.expireSession(requests("/edges/ages").get(0).session());

        Program.Exit ended = program.ended();
        assertEquals(76, ended.status(), ended::toString);
        assertEquals("running\ngot TERM\n", ended.out());
    }

    @Test
    void topQuits_howeverLongItsIntervalIs() throws Exception {
        Program program = atATerminal("q", "top", "/edges", "--interval=" + AGES);
        program.awaitSaid("/edges");
        Files.createFile(folder.resolve("pressed"));
        assertEquals(0, program.ended().status(), program::out);
    }

    /** On a server of its own: it is not the only test that lists everything. */
    @Test
    void topHasTheStatusOfItsLastLook_inATerminal() throws Exception {
        try (EmbeddedZooKeeper own = EmbeddedZooKeeper.start();
                LockClient theirs = ZkLockClient.builder()
                        .connectString(own.connectString())
                        .auth("digest", "me:mine".getBytes(StandardCharsets.UTF_8))
                        .build();
                Lease mine = theirs.mutex("/mine/lock").acquire()) {
            Program program = atATerminal("q", "top", "--connect=" + own.connectString());
            program.awaitSaid("1 paths are not shown");
            Files.createFile(folder.resolve("pressed"));
            assertEquals(77, program.ended().status(), program::out);
            assertTrue(mine.isValid());
        }
    }

    // ---- processes of the command

    /** No process of it existed, so its period is not used up. Without a locale the folder has no name in Java. */
    @Test
    void commandIsNotFound_whenAFolderOfThePathIsNotAscii() throws Exception {
        String script = "PATH=\"$PATH:$(printf '/caf\\303\\251')\"; exec LATCHKEY";
        String[] run = {"run", "/edges/path", "--once-per=36500d", "--at-most-once", "--", "no-such-command"};
        Program.Exit ended = shell(script, run).ended();
        assertEquals(127, ended.status(), ended::toString);
        run[run.length - 1] = "true";
        assertEquals(new Program.Exit(0, "", ""), shell(script, run).ended());
    }

    /**
     * It ignores TERM, is a grandchild, or is started by a clean-up that waits for it or does not, or is the last of
     * many of which each starts the next and ends. The grace is long enough for all of them to begin, and the session
     * for all to wait, on a machine that has no processor for them for seconds.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "trap '' TERM; echo process $$.; while :; do sleep 0.05; done",
                "(trap '' TERM; sh -c 'echo process $$.; sleep 300'; :) & wait",
                "trap 'sh -c \"echo process \\$\\$; exec sleep 300\"' TERM; echo .; while :; do sleep 0.05; done",
                "trap 'setsid sleep 300 & echo process $!; exit 0' TERM; echo .; while :; do sleep 0.05; done",
                "trap '(sleep 300 & echo process $!) ; exit 0' TERM; echo .; while :; do sleep 0.05; done",
                "relay() { [ $1 -gt 0 ] && { (relay $(($1 - 1))) & } || exec sh -c 'echo process $$; exec sleep 300'; }; "
                        + "trap 'relay 60; exit 0' TERM; echo .; while :; do sleep 0.05; done"
            })
    void noProcessOutlivesTheGrace(String command) throws Exception {
        String seconds = "300." + System.nanoTime();
        String script = command.replace("sleep 300", "sleep " + seconds) + " # " + seconds;
        Program program = runScript("/edges/tree", script, "--session-timeout=30s", "--grace=12s")
                .awaitSaid(".");

        program.signal("TERM");

        assertEquals(143, program.ended().status());
        assertEquals(List.of(), requests("/edges/tree"), program::err);
        assertTrue(program.out().contains("process "), program::out);
        Eventually.holds("no process is left of " + program.out(), SOON, () -> ProcessHandle.allProcesses()
                .filter(each -> each.info().commandLine().orElse("").contains(seconds))
                .noneMatch(Program::runs));
    }

    @Test
    void commandThatIgnoresTerm_isKilledAtOnce_withoutAGrace() throws Exception {
        String script = "trap '' TERM; echo process $$.; while :; do sleep 0.05; done";
        Program program = runScript("/edges/no-grace", script, "--grace=0").awaitSaid(".");
        program.signal("TERM");
        assertEquals(143, program.ended().status());
        assertFalse(processes(program).stream().anyMatch(Program::runs));
    }

    @Test
    void processThatHasLeftBefore_isNotEnded() throws Exception {
        String script =
                "(setsid sleep 300 & echo process $!); trap 'exit 0' TERM; echo .; while :; do sleep 0.05; done";
        Program program = runScript("/edges/daemon", script).awaitSaid(".");
        program.signal("TERM");
        assertEquals(143, program.ended().status());
        assertTrue(processes(program).get(0).isAlive());
    }

    // ---- a terminal, and full outputs

    /** Runs latchkey at a terminal, at which a key is pressed once there is a file {@code pressed}. */
    private Program atATerminal(String key, String... args) throws IOException {
        Files.writeString(
                folder.resolve("run.sh"), "#!/bin/sh\nexec " + String.join(" ", Program.command(args)) + "\n");
        return shell("mkfifo keys; { while [ ! -e pressed ]; do sleep 0.1; done; printf '" + key
                + "'; sleep 20; } > keys & script -qefc 'sh run.sh' /dev/null < keys");
    }

    /** The terminal sends INT to the whole group. */
    @Test
    void controlCAtATerminal_endsTheCommand() throws Exception {
        Program program =
                atATerminal("\\003", "run", "/edges/terminal", "--", "sh", "-c", "'echo running; exec sleep 300'");
        program.awaitSaid("running");
        Files.createFile(folder.resolve("pressed"));
        assertEquals(130, program.ended().status());
        Eventually.holds("released", SOON, () -> requests("/edges/terminal").isEmpty());
    }

    @ParameterizedTest
    @ValueSource(strings = {"ls", "ls --json", "show /edges/full", "--help", "run --help"})
    void statusIs74_whenTheOutputIsFull(String line) throws Exception {
        Program program = shell("exec LATCHKEY > /dev/full", line.split(" ", -1));
        Program.Exit ended = program.ended();
        assertEquals(74, ended.status(), ended::toString);
        assertTrue(
                ended.err().contains("latchkey: standard output could not be written, and is not complete"),
                ended::toString);
    }

    // ---- servers

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void commandGoesOn_whenTheServersComeBackInTime(boolean inTime) throws Exception {
        try (EmbeddedZooKeeper away = EmbeddedZooKeeper.start()) {
            Program program = start(
                            Map.of("LATCHKEY_CONNECT", away.connectString(), "PATH", PATH),
                            "run",
                            "/away",
                            "--session-timeout=" + (inTime ? "30s" : "2s"),
                            "--",
                            "sh",
                            "-c",
                            OBEDIENT)
                    .awaitSaid("running");
            away.stop();
            if (inTime) {
                away.restart();
                program.signal("TERM");
            }
            Program.Exit ended = program.ended();
            assertEquals(inTime ? 143 : 76, ended.status(), ended::toString);
            assertEquals("running\ngot TERM\n", ended.out());
            assertEquals(inTime, !ended.err().contains("DEADLINE_PASSED"), ended::toString);
            if (!inTime) {
                away.restart();
            }
        }
    }
}
