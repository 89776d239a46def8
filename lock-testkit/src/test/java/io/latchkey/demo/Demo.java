// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.demo.Options.Mode;
import io.latchkey.lock.LockException;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.apache.zookeeper.KeeperException;

/**
 * Plays scenarios and says whether what they promise came true: exit status 0 if so, 1 if not, 2 if they could not be
 * played.
 */
public final class Demo {
    private static final Duration OPEN = Duration.ofSeconds(8);

    static final List<Scenario> SCENARIOS = List.of(
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
        Options options;
        try {
            options = Options.parse(SCENARIOS, args);
        } catch (IllegalArgumentException wrong) {
            out.println(wrong.getMessage());
            out.println();
            out.print(Options.help(SCENARIOS));
            return NOT_PLAYED;
        }
        if (options.wantsHelp()) {
            out.print(Options.help(SCENARIOS));
            return TRUE;
        }
        try (Servers servers = Servers.open()) {
            return play(options.scenarios(), servers, options.mode(), new Screen(out)) ? TRUE : FALSE;
        } catch (IOException | KeeperException | LockException | IllegalArgumentException failed) {
            out.println("The demo broke off: " + failed.getMessage());
            return NOT_PLAYED;
        }
    }

    /** Plays one after the other, each on a site of its own. */
    static boolean play(List<Scenario> scenarios, Servers servers, Mode mode, Screen screen)
            throws IOException, KeeperException, InterruptedException {
        long start = System.nanoTime();
        int held = 0;
        screen.line("On " + servers + ".");
        for (Scenario scenario : scenarios) {
            screen.line("");
            screen.line("%s: %s.".formatted(scenario.name().toUpperCase(Locale.ROOT), scenario.summary()));
            Site site = Site.open(servers);
            try {
                held += scenario.play(new Stage(servers, site, mode, screen)) ? 1 : 0;
            } finally {
                site.tearDown();
            }
        }
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        screen.line("");
        screen.line("%d of %d verdicts hold, after %s".formatted(held, scenarios.size(), Report.text(took)));
        return held == scenarios.size();
    }
}
