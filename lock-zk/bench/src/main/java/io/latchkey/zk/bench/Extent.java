// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import com.google.common.collect.Sets;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The extent and duration of a run.
 *
 * @param onlooked the duration of the second part of a turn, with an onlooker
 * @param rounds the number of turns of each system in each case
 * @param freeRounds the number of turns in cases of a free lock, where operations are short and cost the servers little
 * @param idle the duration for which the idle servers are observed
 * @param others the names of the cases for systems without ZooKeeper
 * @param leftOut the names of cases that take too long for this run
 * @param curatorsWaiters the longest queue that is measured with Curator, each of whose requests reads the whole queue
 *     and has a thread
 */
record Extent(
        String name,
        int rounds,
        int freeRounds,
        Duration warmUp,
        Duration measured,
        Duration onlooked,
        Duration rehearsal,
        Duration idle,
        int curatorsWaiters,
        Duration drainsWithin,
        List<Duration> distancesOfWaiters,
        List<Duration> distancesOfStorage,
        Set<String> others,
        Set<String> leftOut) {
    private static final Duration AWAY = Duration.ofMillis(2);

    static Extent named(String name) {
        return switch (name) {
            case "short" -> briefly();
            case "full" -> fully();
            default ->
                throw new IllegalArgumentException("-Dlatchkey.bench is short, full, growth or docs, not " + name);
        };
    }

    /** A short run, under three minutes. Single figures vary by a tenth and more. */
    private static Extent briefly() {
        return new Extent(
                "short",
                2,
                2,
                Duration.ofMillis(100),
                Duration.ofMillis(250),
                Duration.ofMillis(250),
                Duration.ofSeconds(8),
                Duration.ofSeconds(1),
                1_000,
                Duration.ofSeconds(30),
                List.of(Duration.ZERO),
                List.of(AWAY),
                Set.of(Case.FREE_MUTEX, Case.MUTEX_8),
                Sets.union(
                        Set.of(Case.FREE_MULTI_20, Case.THREADS_1000, Case.THREADS_8_8, Case.SEMAPHORE_THREADS_32),
                        Set.copyOf(Case.held().stream().map(Case::name).toList())));
    }

    /** A run with figures to be quoted. */
    private static Extent fully() {
        return new Extent(
                "full",
                5,
                8,
                Duration.ofMillis(500),
                Duration.ofMillis(1_500),
                Duration.ofSeconds(3),
                Duration.ofSeconds(60),
                Duration.ofSeconds(5),
                1_000,
                Duration.ofMinutes(5),
                List.of(Duration.ZERO, AWAY),
                List.of(AWAY, Duration.ZERO),
                Case.MUTEXES,
                Set.of());
    }

    /**
     * Returns the cases for that distance: all cases that depend on distance; on loopback, in a short run, those with
     * targets.
     */
    List<Case> cases(Duration roundTrip) {
        boolean all = leftOut.isEmpty() || !roundTrip.isZero();
        return (all ? Stream.of(Case.free(), Case.contended(), Case.held()) : Stream.of(Case.ofStorage()))
                .flatMap(List::stream)
                .filter(each -> !leftOut.contains(each.name()))
                .toList();
    }

    /** Returns the cases that are measured again with other storage of the log. */
    List<Case> casesOfStorage() {
        return leftOut.isEmpty() ? Case.ofStorage() : Case.ofStorage().subList(0, 2);
    }

    /** Returns the cases for systems without ZooKeeper. */
    List<Case> casesOf(Product other) {
        return Case.of(other).stream()
                .filter(each -> others.contains(each.name()))
                .toList();
    }

    int rounds(Case which) {
        return which.load() instanceof Load.Free ? freeRounds : rounds;
    }

    /** A short queue drains quickly, so it is measured several times; the longest once. */
    int roundsOfWaiters(int waiters) {
        return waiters <= 100 ? Math.max(3, rounds) : waiters <= curatorsWaiters ? rounds : 1;
    }
}
