// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Stops and continues other processes; not on Windows. */
final class Signals {
    private Signals() {}

    /** No thread of the process runs from now on (SIGSTOP). */
    static void stop(Process process) {
        send("STOP", process);
    }

    /** It goes on (SIGCONT). */
    static void goOn(Process process) {
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
