// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.lock.LockException;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;

/**
 * Plays scenarios and says whether what they promise came true: exit status 0 if so, 1 if not, 2 if they could not be
 * played.
 */
public final class Demo {
    private static final Duration OPEN = Duration.ofSeconds(8);
    static final List<DemoScenario> SCENARIOS = List.of(
            new Inventory(6, 300), new SharedDocument(4, 3, OPEN), new Workers(10, OPEN), new Transfers(6, 8, OPEN));
    private static final int TRUE = 0;
    private static final int FALSE = 1;
    private static final int NOT_PLAYED = 2;

    private Demo() {}

    /** Started by the Maven profile {@code demo}. Leaves by {@code System.exit} only with a status other than 0. */
    public static void main(String[] args) throws InterruptedException {
        int status = run(System.out, args);
        if (status != TRUE) {
            System.exit(status);
        }
    }

    static int run(PrintStream out, String... args) throws InterruptedException {
        List<String> given = List.of(args);
        if (given.contains("--help") || given.contains("-h")) {
            out.print(help());
            return TRUE;
        }
        List<String> named =
                given.stream().filter(arg -> !arg.equals("--unsafe")).toList();
        List<DemoScenario> scenarios = SCENARIOS.stream()
                .filter(scenario -> named.isEmpty() || named.contains(scenario.name()))
                .toList();
        for (String name : named) {
            if (scenarios.stream().noneMatch(scenario -> scenario.name().equals(name))) {
                out.println("Neither an option nor a scenario: " + name);
                out.println();
                out.print(help());
                return NOT_PLAYED;
            }
        }
        try (Servers servers = Servers.open()) {
            return play(scenarios, servers, !given.contains("--unsafe"), out) ? TRUE : FALSE;
        } catch (IOException | KeeperException | LockException | IllegalArgumentException failed) {
            out.println("The demo broke off: " + failed.getMessage());
            return NOT_PLAYED;
        }
    }

    /** Plays one after the other, each on a site of its own. */
    static boolean play(List<DemoScenario> scenarios, Servers servers, boolean locked, PrintStream out)
            throws IOException, KeeperException, InterruptedException {
        long start = System.nanoTime();
        int held = 0;
        out.println("On " + servers + ".");
        for (DemoScenario scenario : scenarios) {
            out.println();
            out.println("%s: %s.".formatted(scenario.name().toUpperCase(Locale.ROOT), scenario.summary()));
            ScenarioNodes nodes = ScenarioNodes.open(servers);
            try {
                held += scenario.play(new ScenarioRun(servers, nodes, locked, out)) ? 1 : 0;
            } finally {
                nodes.tearDown();
            }
        }
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        out.println();
        out.println("%d of %d verdicts hold, after %s".formatted(held, scenarios.size(), ScenarioRun.text(took)));
        return held == scenarios.size();
    }

    private static String help() {
        return Stream.of(
                        Stream.of(
                                """
                                Usage: mvn -q -Pdemo [-Ddemo.args="[SCENARIO...] [--unsafe] [--help]"] [-Dlatchkey.connect=HOST:PORT,...]
                                Scenarios, all of them unless some are named; sessions are ended throughout:
                                """),
                        SCENARIOS.stream()
                                .map(scenario -> "  %-10s  %s%n".formatted(scenario.name(), scenario.summary())),
                        Stream.of(
                                """
                                Options:
                                  --unsafe    the same without locks, to see what they are good for
                                  --help      this text
                                Without -Dlatchkey.connect the demo starts three ZooKeeper servers in its own process. With it, it works on
                                yours, below a node /latchkey-demo-... that it deletes at the end. Sessions are ended there as well, but
                                only those of the demo's own clients. Plain connections only, no TLS.
                                Exit status: 0 if all verdicts hold, 1 if not (with --unsafe they do not: that is its point), 2 if the demo
                                could not be played to its end.
                                """))
                .flatMap(lines -> lines)
                .collect(Collectors.joining());
    }
}
