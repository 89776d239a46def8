// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Stops and continues other processes; not on Windows. */
public final class Signals {
    private Signals() {}

    /**
     * Stops all threads of the process (SIGSTOP), until it {@linkplain #goOn goes on}. On Linux all have stopped when
     * this returns. The signal alone does not see to that: one thread has to take it before the others are stopped,
     * which takes a while where processors are busy.
     *
     * @param process one that the test has started
     * @throws IllegalStateException if it has ended
     */
    public static void stop(Process process) {
        send("STOP", process);
        Path threads = Path.of("/proc", Long.toString(process.pid()), "task");
        try {
            while (Files.exists(threads) && !allAreStopped(threads)) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot look at the threads of a process", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a process was being stopped", e);
        }
    }

    /** The state of a thread stands behind its name, which is in parentheses and may have any characters. */
    private static boolean allAreStopped(Path threads) throws IOException {
        try (Stream<Path> each = Files.list(threads)) {
            for (Path thread : each.toList()) {
                try {
                    String stat = Files.readString(thread.resolve("stat"), ISO_8859_1);
                    if (!stat.startsWith("T", stat.lastIndexOf(')') + 2)) {
                        return false;
                    }
                } catch (NoSuchFileException ended) {
                    // A thread that has ended runs no more either.
                }
            }
        }
        return true;
    }

    /**
     * Lets its threads go on (SIGCONT).
     *
     * @param process one that was stopped
     * @throws IllegalStateException if it has ended
     */
    public static void goOn(Process process) {
        send("CONT", process);
    }

    private static void send(String name, Process process) {
        try {
            Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
            if (kill.waitFor() != 0) {
                throw new IllegalStateException("kill -" + name + " ended with " + kill.exitValue());
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot send a signal", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while sending a signal", e);
        }
    }
}
