// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The command line inside the JVM of the tests: for what needs no process of its own, which takes seconds to start. The
 * standard streams are the test's while it runs.
 */
public final class InThisJvm {
    private InThisJvm() {}

    /** A command that runs in a thread of its own. */
    record Running(CompletableFuture<Program.Ended> end, ByteArrayOutputStream said) {
        /** The lines that it has completed so far. */
        List<String> lines() {
            String text = said.toString(StandardCharsets.UTF_8);
            return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
        }
    }

    /** Runs a command that connects to these servers. */
    public static Program.Ended latchkey(String servers, String command, String... args) {
        return ended(new ByteArrayOutputStream(), connected(servers, command, args));
    }

    /** Begins to run it. */
    static Running start(String servers, String command, String... args) {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        return new Running(CompletableFuture.supplyAsync(() -> ended(said, connected(servers, command, args))), said);
    }

    /** Runs a command line. */
    static Program.Ended ended(String... args) {
        return ended(new ByteArrayOutputStream(), args);
    }

    private static String[] connected(String servers, String command, String... args) {
        List<String> all = new ArrayList<>(List.of(command, "--connect=" + servers));
        all.addAll(List.of(args));
        return all.toArray(String[]::new);
    }

    private static synchronized Program.Ended ended(ByteArrayOutputStream said, String... args) {
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream complained = new ByteArrayOutputStream();
        System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
        try {
            int status = Main.status(args);
            return new Program.Ended(
                    status, said.toString(StandardCharsets.UTF_8), complained.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }
}
