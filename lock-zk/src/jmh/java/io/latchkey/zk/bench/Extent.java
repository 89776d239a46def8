// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * How much is measured, and for how long.
 *
 * @param rounds how often each system has its turn in each case
 * @param freeRounds the same where nobody else wants the lock: an operation is short there, and what it costs the servers little
 * @param idle how long the servers are looked at while nobody asks them for anything
 * @param distinctPaths how many paths one client takes
 * @param others names of the cases of those who work with something else than ZooKeeper
 * @param leftOut names of cases that take too long for it
 * @param curatorsWaiters the longest queue that Curator is asked to stand in: each of its requests reads the whole queue, and has a
 *     thread
 */
record Extent(
        String name,
        int rounds,
        int freeRounds,
        Duration warmUp,
        Duration measured,
        Duration rehearsal,
        Duration idle,
        int curatorsWaiters,
        Duration drainsWithin,
        List<Duration> distancesOfWaiters,
        List<Duration> distancesOfStorage,
        int distinctPaths,
        Set<String> others,
        Set<String> leftOut) {
    private static final Duration AWAY = Duration.ofMillis(2);

    static Extent named(String name) {
        return switch (name) {
            case "short" -> briefly();
            case "full" -> fully();
            default -> throw new IllegalArgumentException("-Dlatchkey.bench is short, full or docs, not " + name);
        };
    }

    /** A look, of under three minutes. Single figures vary by a tenth and more. */
    private static Extent briefly() {
        return new Extent(
                "short",
                2,
                2,
                Duration.ofMillis(100),
                Duration.ofMillis(250),
                Duration.ofSeconds(8),
                Duration.ofSeconds(1),
                1_000,
                Duration.ofSeconds(30),
                List.of(Duration.ZERO),
                List.of(AWAY),
                1_000,
                Set.of(Case.FREE_MUTEX, Case.MUTEX_8),
                Set.of(Case.FREE_MULTI_20, Case.THREADS_1000, Case.THREADS_8_8));
    }

    /** Figures to be quoted. */
    private static Extent fully() {
        return new Extent(
                "full",
                5,
                8,
                Duration.ofMillis(500),
                Duration.ofMillis(1_500),
                Duration.ofSeconds(60),
                Duration.ofSeconds(5),
                1_000,
                Duration.ofMinutes(5),
                List.of(Duration.ZERO, AWAY),
                List.of(AWAY, Duration.ZERO),
                100_000,
                Case.MUTEXES,
                Set.of());
    }

    /** What is measured at that distance: all that counts at a distance, and on loopback, if there is little time, what targets ask for. */
    List<Case> cases(Duration roundTrip) {
        boolean all = leftOut.isEmpty() || !roundTrip.isZero();
        return (all ? Stream.concat(Case.free().stream(), Case.contended().stream()) : Case.ofStorage().stream())
                .filter(each -> !leftOut.contains(each.name()))
                .toList();
    }

    /** What is measured again where the log is stored otherwise. */
    List<Case> casesOfStorage() {
        return leftOut.isEmpty() ? Case.ofStorage() : Case.ofStorage().subList(0, 2);
    }

    /** What those are measured in who work with something else than ZooKeeper. */
    List<Case> casesOf(Product other) {
        return Case.of(other).stream()
                .filter(each -> others.contains(each.name()))
                .toList();
    }

    /** Each path is made by its first request. */
    Case firstContact() {
        return Case.of(Case.DISTINCT, new Load.DistinctPaths(distinctPaths, 16)).weighing(60);
    }

    /** One client that takes very many paths does so once. */
    int rounds(Case which) {
        return which.load() instanceof Load.Free ? freeRounds : which.load() instanceof Load.DistinctPaths ? 1 : rounds;
    }

    /** A short queue is over in no time, so it is looked at some times; the longest once. */
    int roundsOfWaiters(int waiters) {
        return waiters <= 100 ? Math.max(3, rounds) : waiters <= curatorsWaiters ? rounds : 1;
    }

    /** To hold many locks until it is calm takes long. */
    int roundsOfIdle() {
        return rounds / 2;
    }
}
