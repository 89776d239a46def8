// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The command line inside the JVM of the tests: for what needs no process of its own, which takes seconds to start. The
 * standard streams are the test's while it runs.
 */
public final class InThisJvm {
    private InThisJvm() {}

    /** Runs a command that connects to these servers. */
    public static Program.Exit latchkey(String servers, String command, String... args) {
        return ended(connected(servers, command, args));
    }

    private static String[] connected(String servers, String command, String... args) {
        List<String> all = new ArrayList<>(List.of(command, "--connect=" + servers));
        all.addAll(List.of(args));
        return all.toArray(String[]::new);
    }

    /** Runs a command line. */
    static synchronized Program.Exit ended(String... args) {
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        ByteArrayOutputStream complained = new ByteArrayOutputStream();
        System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
        try {
            int status = Main.status(args);
            return new Program.Exit(
                    status, said.toString(StandardCharsets.UTF_8), complained.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }
}
