package io.latchkey.demo;

import java.util.List;

/** What the command line asks for. */
record Options(Scenario scenario, Mode mode, boolean wantsHelp) {
    /** Whether the clients use locks. */
    enum Mode {
        LOCKED,
        UNSAFE
    }

    static Options parse(List<Scenario> scenarios, String... args) {
        Options options = new Options(scenarios.get(0), Mode.LOCKED, false);
        for (String arg : args) {
            options = switch (arg) {
                case "--unsafe" -> new Options(options.scenario, Mode.UNSAFE, options.wantsHelp);
                case "--help", "-h" -> new Options(options.scenario, options.mode, true);
                default -> new Options(find(scenarios, arg), options.mode, options.wantsHelp);
            };
        }
        return options;
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
                Usage: mvn -q -Pdemo [-Ddemo.args="[SCENARIO] [--unsafe] [--help]"] [-Dlatchkey.connect=HOST:PORT,...]

                Scenarios:
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

                        Exit status: 0 if the verdict holds, 1 if not (with --unsafe it does not: that is its point), 2 if the demo
                        could not be played to its end.
                        """)
                .toString();
    }
}
