// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Stops and continues other processes; not on Windows. */
public final class Signals {
    private Signals() {}

    /**
     * Stops all threads of the process (SIGSTOP), until it {@linkplain #goOn goes on}.
     *
     * @param process one that the test has started
     * @throws IllegalStateException if it has ended
     */
    public static void stop(Process process) {
        send("STOP", process);
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
