// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every seeded bug is caught, and nothing is found wrong with the locks as they are. A bug that names a test is given
 * to that test alone; all others, and with {@code -Dlatchkey.mutants.general=true} all, to the general judges first,
 * and the last lines say how many they caught. {@code -Dlatchkey.mutants.seconds=30} lets them play schedules for so
 * long against each; {@code -Dlatchkey.mutants=release} hunts only mutants whose names contain that regular expression.
 */
@Tag("once")
@Tag("long")
@Tag("alone")
class MutantsTest {
    private static final Duration SCHEDULES = Duration.ofSeconds(Long.getLong("latchkey.mutants.seconds", 30));
    private static final Duration CONTROL = Duration.ofSeconds(10);
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final boolean ALL_GENERALLY = Boolean.getBoolean("latchkey.mutants.general");
    private static final String CHOSEN = ".*(" + System.getProperty("latchkey.mutants", "") + ").*";
    /** Tests mostly wait. */
    private static final int HUNTERS = 4;

    private static final List<Mutant> ALL = Stream.of(
                    RuleMutants.ALL,
                    MachineMutants.ALL,
                    WatchMutants.ALL,
                    LeavingMutants.ALL,
                    TimeMutants.ALL,
                    DoorMutants.ALL,
                    FurtherMutants.ALL)
            .flatMap(List::stream)
            .filter(mutant -> mutant.name().matches(CHOSEN))
            .toList();

    @Test
    void everyMutantIsKilled() throws Exception {
        Hunt hunt =
                new Hunt(SCHEDULES, mutant -> ALL_GENERALLY || mutant.tests().isEmpty(), LIMIT);
        List<Hunt.Result> results = new ArrayList<>();
        ExecutorService hunters = Executors.newFixedThreadPool(HUNTERS);
        try {
            List<Future<Hunt.Result>> hunts = ALL.stream()
                    .map(mutant -> hunters.submit(() -> hunt.hunt(mutant)))
                    .toList();
            for (Future<Hunt.Result> one : hunts) {
                Hunt.Result result = one.get();
                System.out.println(line(result));
                results.add(result);
            }
        } finally {
            hunters.shutdownNow();
        }
        Map<Hunt.Ending, List<String>> endings = results.stream()
                .collect(Collectors.groupingBy(
                        Hunt.Result::ending,
                        () -> new EnumMap<>(Hunt.Ending.class),
                        Collectors.mapping(result -> result.mutant().name(), Collectors.toList())));
        endings.forEach((ending, names) -> System.out.println(ending + ": " + names.size() + " of " + results.size()));
        endings.keySet().removeAll(List.of(Hunt.Ending.GENERAL, Hunt.Ending.NAMED));
        assertEquals(Map.of(), endings);
    }

    /**
     * The control: what catches mutants has nothing against the locks as they are. Of each test class one test, since
     * all run without mutants anyway.
     */
    @Test
    void nothingIsFoundWrongWithoutAMutant() throws Exception {
        Map<String, String> byClass = new TreeMap<>();
        ALL.stream()
                .flatMap(mutant -> mutant.tests().stream())
                .forEach(test -> byClass.putIfAbsent(test.substring(0, test.indexOf('#')), test));
        Hunt hunt = new Hunt(CONTROL, mutant -> true, LIMIT);
        Hunt.Result control = hunt.hunt(Mutant.NONE);
        assertEquals(Hunt.Ending.SURVIVED, control.ending(), control.by());
        for (String test : byClass.values()) {
            assertEquals(Optional.empty(), new TestsKiller(test).kill(MutantClasses.unchanged()));
        }
    }

    private static String line(Hunt.Result result) {
        return String.format(
                Locale.ROOT,
                "%-62s %5.1f s  %-8s %.150s",
                result.mutant().name(),
                result.took().toMillis() / 1e3,
                result.ending(),
                result.by());
    }
}
