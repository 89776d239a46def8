// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A process that runs without a terminal, without input, and with no environment but what it is given. */
public final class Program implements AutoCloseable {
    /**
     * Far more than any of them needs. A process that leads a session is a group of its own to Linux's scheduler, and
     * beside a busy one it was seen ready to run, and without a processor, for more than ten seconds.
     */
    private static final Duration WITHIN = Duration.ofSeconds(90);

    /**
     * A process ignores the signals that its parent ignores. A build does so with INT in the background of a shell
     * without job control, and with HUP under {@code nohup}.
     */
    private static final List<String> WITHOUT_IGNORED_SIGNALS = List.of("/usr/bin/env", "--default-signal=INT,HUP");

    private final Process process;
    private final Path out;
    private final Path err;

    private Program(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    /** How it ended. */
    public record Exit(int status, String out, String err) {}

    /** The command line from its classes. */
    static Program latchkey(Path folder, Map<String, String> environment, String... args) {
        List<String> command = new ArrayList<>(List.of("/usr/bin/setsid")); // leads a process group, as in a terminal
        command.addAll(command(args));
        return start(folder, environment, command);
    }

    /** The same as a command for a shell or another program, with the options that docs/command-line.md gives. */
    static List<String> command(String... args) {
        // Without our tests' classes, which have a logging backend.
        Stream<String> libraries = Arrays.stream(
                        System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("test-classes"));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:+DisplayVMOutputToStderr",
                "-Dslf4j.internal.verbosity=ERROR",
                "-cp",
                libraries.collect(Collectors.joining(File.pathSeparator)),
                "io.latchkey.cli.Main"));
        command.addAll(List.of(args));
        return command;
    }

    /** What becomes of the command line from its jar. */
    static Exit jarEnded(Path folder, String servers, List<String> jvm, String... args) throws InterruptedException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1"));
        command.addAll(jvm);
        command.addAll(List.of("-jar", System.getProperty("latchkey.cli.jar")));
        command.addAll(List.of(args));
        try (Program program = start(folder, Map.of("PATH", "/usr/bin:/bin", "LATCHKEY_CONNECT", servers), command)) {
            return program.ended(3);
        }
    }

    static Program start(Path folder, Map<String, String> environment, List<String> command) {
        try {
            Path out = Files.createTempFile(folder, "out", "");
            Path err = Files.createTempFile(folder, "err", "");
            List<String> whole = new ArrayList<>(WITHOUT_IGNORED_SIGNALS);
            whole.addAll(command);
            ProcessBuilder builder = new ProcessBuilder(whole)
                    .directory(folder.toFile())
                    .redirectInput(new File("/dev/null"))
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile());
            builder.environment().clear();
            builder.environment().putAll(environment);
            return new Program(builder.start(), out, err);
        } catch (IOException cannot) {
            throw new UncheckedIOException(cannot);
        }
    }

    Process process() {
        return process;
    }

    /** What it has said so far. */
    String out() {
        return read(out);
    }

    /** What it has said on standard error so far. */
    String err() {
        return read(err);
    }

    Program awaitSaid(String text) throws InterruptedException {
        try {
            Eventually.holds(
                    "a program that says '" + text + "'", WITHIN, () -> out().contains(text) || !process.isAlive());
        } catch (AssertionError late) {
            throw new AssertionError(late.getMessage() + "; it said " + out() + err() + state(), late);
        }
        if (!out().contains(text)) {
            throw new AssertionError("it did not say '" + text + "': " + ended());
        }
        return this;
    }

    /** Sends it a signal, by its name. */
    void signal(String name) throws IOException, InterruptedException {
        kill(name, Long.toString(process.pid()));
    }

    /** Sends it to the whole process group, as a terminal does with Ctrl-C. */
    void signalGroup(String name) throws IOException, InterruptedException {
        kill(name, "-" + process.pid());
    }

    private static void kill(String name, String whom) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, "--", whom).start().waitFor();
    }

    /** Waits for its end. */
    Exit ended() throws InterruptedException {
        return ended(1);
    }

    /** The same, where it starts so many programs one after the other: each has the time of one. */
    Exit ended(int programs) throws InterruptedException {
        if (!process.waitFor(programs * Slowness.stretched(WITHIN).toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError("still running; said " + out() + read(err) + state());
        }
        return new Exit(process.exitValue(), out(), read(err));
    }

    /** What the system knows of its process, and the stacks of its threads if it is a JVM that answers. */
    private String state() throws InterruptedException {
        StringBuilder state = new StringBuilder();
        Path threads = Path.of("/proc", Long.toString(process.pid()), "task");
        try (Stream<Path> all = Files.list(threads)) {
            for (Path thread : all.toList()) {
                state.append('\n').append(read(thread.resolve("stat")).strip());
                state.append(' ').append(read(thread.resolve("wchan")).strip());
            }
            int said = err().length();
            signal("QUIT");
            process.waitFor(2, TimeUnit.SECONDS);
            return state.append('\n').append(err().substring(said)).toString();
        } catch (IOException | UncheckedIOException unknown) {
            return state + "\n" + unknown;
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException cannot) {
            throw new UncheckedIOException(cannot);
        }
    }

    /** Ends it and what it has started, if a test has failed. */
    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }

    /** One that has ended and that its parent has not waited for is listed as alive. */
    static boolean runs(ProcessHandle process) {
        try {
            return process.isAlive()
                    && !Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"))
                            .contains(") Z ");
        } catch (IOException gone) {
            return false;
        }
    }
}
