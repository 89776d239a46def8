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
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every seeded bug is caught, and the unchanged locks pass. A bug that names a test runs against that test alone. All
 * others run against the general judges first, as do all bugs with {@code -Dlatchkey.mutants.general=true}; the last
 * lines say how many these caught.
 *
 * <p>{@code -Dlatchkey.mutants.seconds=30} sets the time of random schedules against each bug; {@code
 * -Dlatchkey.mutants=release} selects bugs whose names contain that regular expression, and {@code
 * -Dlatchkey.mutants.third=0} (or 1, 2) each third of these, as {@code .ci/run} does.
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
    private static final int THIRD = Integer.getInteger("latchkey.mutants.third", -1);
    /** The number of parallel hunts: tests mostly wait. */
    private static final int HUNTERS = 4;

    static final List<Mutant> ALL = third(Stream.of(
                    RuleMutants.ALL,
                    MachineMutants.ALL,
                    WatchMutants.ALL,
                    LeavingMutants.ALL,
                    TimeMutants.ALL,
                    DoorMutants.ALL,
                    TurnMutants.ALL,
                    FurtherMutants.ALL,
                    EndMutants.ALL)
            .flatMap(List::stream)
            .filter(mutant -> mutant.name().matches(CHOSEN))
            .toList());

    private static List<Mutant> third(List<Mutant> chosen) {
        return THIRD < 0
                ? chosen
                : IntStream.range(0, chosen.size())
                        .filter(i -> i % 3 == THIRD)
                        .mapToObj(chosen::get)
                        .toList();
    }

    @Test
    void everySeededBug_isCaught() throws Exception {
        Hunt hunt =
                new Hunt(SCHEDULES, mutant -> ALL_GENERALLY || mutant.tests().isEmpty(), LIMIT);
        List<Hunt.Result> results = new ArrayList<>();
        inParallel(
                ALL.stream()
                        .<Callable<Hunt.Result>>map(mutant -> () -> hunt.hunt(mutant))
                        .toList(),
                result -> {
                    System.out.println(line(result));
                    results.add(result);
                });
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
     * The control: all killers accept the unchanged locks. One test of each class is enough, since the suite runs them
     * all.
     */
    @Test
    void unchangedLocks_passAllKillers() throws Exception {
        Map<String, String> byClass = new TreeMap<>();
        ALL.stream()
                .flatMap(mutant -> mutant.tests().stream())
                .forEach(test -> byClass.putIfAbsent(test.substring(0, test.indexOf('#')), test));
        Hunt hunt = new Hunt(CONTROL, mutant -> true, LIMIT);
        Hunt.Result control = hunt.hunt(Mutant.NONE);
        assertEquals(Hunt.Ending.SURVIVED, control.ending(), control.by());
        inParallel(
                byClass.values().stream()
                        .<Callable<Optional<Killer.Kill>>>map(
                                test -> () -> new TestsKiller(test).kill(MutantClasses.unchanged()))
                        .toList(),
                kill -> assertEquals(Optional.empty(), kill));
    }

    /** Gives the results on in the order of the tasks. */
    private static <T> void inParallel(List<Callable<T>> tasks, Consumer<T> results) throws Exception {
        // Tests look at the threads of their group for those that they have left running.
        ExecutorService hunters = Executors.newFixedThreadPool(
                HUNTERS, hunter -> new Thread(new ThreadGroup("hunter"), hunter, "hunter"));
        try {
            for (Future<T> result : tasks.stream().map(hunters::submit).toList()) {
                results.accept(result.get());
            }
        } finally {
            hunters.shutdownNow();
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
