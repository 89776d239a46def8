// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.testkit.Eventually;
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
import java.util.stream.Stream;

/** A process that runs without a terminal, without input, and with no environment but what it is given. */
final class Program implements AutoCloseable {
    private static final Duration WITHIN = Duration.ofSeconds(30);

    /** A process in the background of a shell without job control ignores INT, and so does every process that it starts. */
    private static final List<String> SIGNALS_AS_USUAL = List.of("/usr/bin/env", "--default-signal=INT,HUP");

    private final Process process;
    private final Path out;
    private final Path err;

    private Program(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    /** How it ended. */
    record Ended(int status, String out, String err) {}

    /** The command line from its classes, which the build has put beside those of lock-zk. */
    static Program latchkey(Path folder, Map<String, String> environment, String... args) {
        Path classes = Path.of("../lock-zk/target/cli-classes").toAbsolutePath();
        if (!Files.exists(classes)) {
            throw new IllegalStateException(classes + " is missing: the build of lock-zk compiles it");
        }
        // Without our tests' classes, which have a logging backend.
        Stream<String> libraries = Arrays.stream(
                        System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("test-classes"));
        List<String> command = new ArrayList<>(SIGNALS_AS_USUAL);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Dslf4j.internal.verbosity=ERROR",
                "-cp",
                String.join(
                        File.pathSeparator,
                        Stream.concat(Stream.of(classes.toString()), libraries).toList()),
                "io.latchkey.cli.Main"));
        command.addAll(List.of(args));
        return start(folder, environment, command);
    }

    static Program start(Path folder, Map<String, String> environment, List<String> command) {
        try {
            Path out = Files.createTempFile(folder, "out", "");
            Path err = Files.createTempFile(folder, "err", "");
            ProcessBuilder builder = new ProcessBuilder(command)
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

    Program awaitSaid(String text) throws InterruptedException {
        Eventually.holds(
                "a program that says '" + text + "'", WITHIN, () -> out().contains(text) || !process.isAlive());
        if (!out().contains(text)) {
            throw new AssertionError("it did not say '" + text + "': " + ended());
        }
        return this;
    }

    /** Sends it a signal, by its name. */
    void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
    }

    /** Waits for its end. */
    Ended ended() throws InterruptedException {
        if (!process.waitFor(WITHIN.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError("still running; said " + out() + read(err));
        }
        return new Ended(process.exitValue(), out(), read(err));
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
}
