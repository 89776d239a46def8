// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import java.util.ArrayList;
import java.util.List;

/** What the command line asks for. */
record Options(List<Scenario> scenarios, Mode mode, boolean wantsHelp) {
    /** Whether the clients use locks. */
    enum Mode {
        LOCKED,
        UNSAFE
    }

    static Options parse(List<Scenario> scenarios, String... args) {
        List<Scenario> named = new ArrayList<>();
        Mode mode = Mode.LOCKED;
        boolean wantsHelp = false;
        for (String arg : args) {
            switch (arg) {
                case "--unsafe" -> mode = Mode.UNSAFE;
                case "--help", "-h" -> wantsHelp = true;
                default -> named.add(find(scenarios, arg));
            }
        }
        return new Options(named.isEmpty() ? scenarios : List.copyOf(named), mode, wantsHelp);
    }

    private static Scenario find(List<Scenario> scenarios, String name) {
        return scenarios.stream()
                .filter(scenario -> scenario.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("Neither an option nor a scenario: " + name));
    }

    static String help(List<Scenario> scenarios) {
        StringBuilder text = new StringBuilder(
                """
                Usage: mvn -q -Pdemo [-Ddemo.args="[SCENARIO...] [--unsafe] [--help]"] [-Dlatchkey.connect=HOST:PORT,...]

                Scenarios, all of them unless some are named; sessions are ended throughout:
                """);
        for (Scenario scenario : scenarios) {
            text.append("  %-10s  %s%n".formatted(scenario.name(), scenario.summary()));
        }
        return text.append(
                        """

                        Options:
                          --unsafe    the same without locks, to see what they are good for
                          --help      this text

                        Without -Dlatchkey.connect the demo starts three ZooKeeper servers in its own process. With it, it works on
                        yours, below a node /latchkey-demo-... that it deletes at the end. Sessions are ended there as well, but
                        only those of the demo's own clients. Plain connections only, no TLS.

                        Exit status: 0 if all verdicts hold, 1 if not (with --unsafe they do not: that is its point), 2 if the demo
                        could not be played to its end.
                        """)
                .toString();
    }
}
