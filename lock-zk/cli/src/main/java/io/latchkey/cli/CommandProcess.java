// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The process of the command, with its descendants. It is ended at most once, by a loss of the lock or by a signal; a
 * second call waits for the first to complete.
 */
final class CommandProcess {
    /** Maximum wait after KILL, while the kernel removes the process. */
    private static final Duration KILLED_WITHIN = Duration.ofSeconds(10);

    private static final int LAST_SIGNAL = 64;

    /** How often new processes are looked for, whether or not one has ended. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Duration grace;
    private final String mark = UUID.randomUUID().toString();
    private Optional<Process> started = Optional.empty();
    private boolean over;

    /**
     * Prepares the process without starting it.
     *
     * @param grace the time between TERM and KILL
     */
    CommandProcess(Duration grace) {
        this.grace = grace;
    }

    /** Returns whether a command that could not be started exists, by itself or in a folder of the PATH. */
    static boolean isThere(String command) {
        if (command.indexOf('/') >= 0) {
            return isThere("", command);
        }
        String folders = Objects.requireNonNullElse(System.getenv("PATH"), "");
        return Stream.of(folders.split(File.pathSeparator, -1)).anyMatch(folder -> isThere(folder, command));
    }

    private static boolean isThere(String folder, String command) {
        try {
            return Files.exists(Path.of(folder, command));
        } catch (InvalidPathException unreadable) {
            return false; // a name with other letters than those of the locale; under cron there is none
        }
    }

    /** Starts the command with latchkey's standard streams and without its login, unless it has been ended before. */
    synchronized Optional<Process> start(List<String> command, Map<String, String> environment) throws IOException {
        if (!over) {
            ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
            builder.environment().remove(ConnectionOptions.LOGIN);
            builder.environment().putAll(environment);
            builder.environment().put(ProcessTree.MARK, mark);
            started = Optional.of(builder.start());
        }
        return started;
    }

    /**
     * Terminates the command and its descendants: sends TERM, and KILL to those that are left after the grace period,
     * also of those that were started since. Returns when they have ended. All of them get the signal, because a shell
     * would run its next command if only its child got it, or got it first, and would leave the child running if only the
     * shell got it. A command that has ended by itself is left alone; of one that a signal has ended, as at Ctrl-C, the
     * processes that have ignored the signal are ended.
     */
    synchronized void end() {
        over = true;
        if (started.isEmpty() || !(started.get().isAlive() || hasEndedByASignal(started.get()))) {
            return;
        }
        ProcessTree tree = new ProcessTree(started.get().toHandle(), mark);
        tree.living().forEach(ProcessHandle::destroy);
        if (!isGoneWithin(grace, tree, each -> {})) {
            boolean unused = isGoneWithin(KILLED_WITHIN, tree, ProcessHandle::destroyForcibly);
        }
    }

    private static boolean hasEndedByASignal(Process process) {
        int signal = process.exitValue() - ExitStatus.BY_SIGNAL;
        return signal > 0 && signal <= LAST_SIGNAL;
    }

    /** Returns whether no process is left within {@code time}; does {@code toEach} that is found, again and again. */
    private static boolean isGoneWithin(Duration time, ProcessTree tree, Consumer<ProcessHandle> toEach) {
        long start = System.nanoTime();
        while (true) {
            if (tree.hasEnded()) {
                return true;
            }
            long left = TimeUnit.NANOSECONDS.convert(time) - (System.nanoTime() - start);
            if (left <= 0) {
                return false;
            }
            List<ProcessHandle> living = tree.living();
            living.forEach(toEach);
            if (!awaitOneOf(living, Math.min(left, LOOK_NANOS))) {
                return false;
            }
        }
    }

    /** Waits for the end of one of them, for the given time at most; returns whether it was not interrupted. */
    private static boolean awaitOneOf(List<ProcessHandle> living, long nanos) {
        CompletableFuture<?>[] exits =
                living.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new);
        try {
            Object unused = CompletableFuture.anyOf(exits).get(nanos, TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException none) {
            return true;
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
