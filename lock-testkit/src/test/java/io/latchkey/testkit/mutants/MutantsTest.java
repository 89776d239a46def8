// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.testkit.Slowness;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every seeded bug is caught, and nothing is found wrong with the locks as they are. With
 * {@code -Dlatchkey.mutants.seconds=50} the random schedules get so long for each mutant that names no test, and
 * {@code -Dlatchkey.mutants=release} hunts only mutants with that in their names.
 */
@Tag("once")
@Tag("long")
@Tag("alone")
class MutantsTest {
    private static final Duration SCHEDULES = Duration.ofSeconds(Long.getLong("latchkey.mutants.seconds", 45));
    private static final Duration CONTROL = Duration.ofSeconds(10);
    private static final Duration LIMIT = Slowness.stretched(Duration.ofMinutes(1));
    private static final String CHOSEN = System.getProperty("latchkey.mutants", "");
    /** Most who hunt with a test of a real server only wait for what never comes. */
    private static final int HUNTERS = 5;

    private static final List<Mutant> ALL = Stream.of(
                    RuleMutants.ALL,
                    MachineMutants.ALL,
                    WatchMutants.ALL,
                    LeavingMutants.ALL,
                    TimeMutants.ALL,
                    DoorMutants.ALL,
                    FurtherMutants.ALL)
            .flatMap(List::stream)
            .filter(mutant -> mutant.name().contains(CHOSEN))
            .toList();

    @Test
    void everyMutantIsKilled() throws Exception {
        Hunt hunt = new Hunt(SCHEDULES, LIMIT);
        List<Hunt.Result> results = new ArrayList<>();
        ExecutorService hunters = Executors.newFixedThreadPool(HUNTERS);
        try {
            List<Future<Hunt.Result>> hunts = ALL.stream()
                    .map(mutant -> hunters.submit(() -> hunt.hunt(mutant)))
                    .toList();
            for (Future<Hunt.Result> one : hunts) {
                results.add(one.get());
            }
        } finally {
            hunters.shutdownNow();
        }
        results.forEach(result -> System.out.println(line(result)));
        List<String> survivors = results.stream()
                .filter(result -> result.kill().isEmpty())
                .map(result -> result.mutant().name())
                .toList();
        System.out.println("killed " + (results.size() - survivors.size()) + " of " + results.size());
        assertEquals(List.of(), survivors);
    }

    /**
     * The control: what catches mutants has nothing against the locks as they are. Of each test class one test, since all run
     * without mutants anyway.
     */
    @Test
    void nothingIsFoundWrongWithoutAMutant() throws Exception {
        Map<String, String> byClass = new TreeMap<>();
        ALL.stream()
                .flatMap(mutant -> mutant.tests().stream())
                .forEach(test -> byClass.putIfAbsent(test.substring(0, test.indexOf('#')), test));
        Hunt hunt = new Hunt(CONTROL, LIMIT);
        assertEquals(Optional.empty(), hunt.hunt(Mutant.NONE).kill());
        for (String test : byClass.values()) {
            assertEquals(Optional.empty(), hunt.hunt(Mutant.NONE.caughtBy(test)).kill());
        }
    }

    private static String line(Hunt.Result result) {
        String by = result.kill()
                .map(kill -> kill.by() + (kill.after().isEmpty() ? "" : ", " + kill.after()) + ": "
                        + kill.why().lines().findFirst().orElse(""))
                .orElse("SURVIVED");
        return String.format(
                Locale.ROOT,
                "%-62s %5.1f s  %s",
                result.mutant().name(),
                result.took().toMillis() / 1e3,
                by.length() > 150 ? by.substring(0, 150) : by);
    }
}
