// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * A performance target. The bounds never change.
 *
 * @param what the compared figures
 * @param bound the bound, as text
 * @param figure the figure of the run; null if the case was not measured
 * @param reached whether the figure is within the bound
 */
record Target(String what, String bound, Function<Results, OptionalDouble> figure, ToReach reached) {
    private static final double FAR = 2;
    private static final double NEAR = 0;

    /** A bound. */
    @FunctionalInterface
    interface ToReach {
        boolean by(double figure);
    }

    static List<Target> all() {
        List<Target> all = new ArrayList<>();
        for (String free : List.of(
                Case.FREE_MUTEX, Case.FREE_READ, Case.FREE_WRITE, Case.FREE_SEMAPHORE_1, Case.FREE_SEMAPHORE_3)) {
            all.add(atMost(
                    1.15,
                    free + ": p50 to raw create",
                    results -> quotient(results, free, FAR, Contestant.LATCHKEY, Contestant.RAW, CaseFigures::p50Us)));
        }
        new TreeMap<>(Map.of(
                        Case.FREE_MUTEX, 1.8,
                        Case.FREE_READ, 1.8,
                        Case.FREE_WRITE, 1.8,
                        Case.FREE_SEMAPHORE_1, 4.5,
                        Case.FREE_SEMAPHORE_3, 12.0))
                .forEach((free, least) -> all.add(atLeast(
                        least,
                        free + ": p50, Curator's to ours",
                        results -> quotient(
                                results, free, FAR, Contestant.CURATOR, Contestant.LATCHKEY, CaseFigures::p50Us))));
        all.add(faster(7, Case.FREE_MULTI_5, FAR));
        all.add(faster(1.8, Case.MUTEX_8, FAR));
        all.add(faster(1.8, Case.MUTEX_32, FAR));
        all.add(faster(1, Case.MUTEX_2, NEAR));
        all.add(faster(1, Case.MUTEX_8, NEAR));
        all.add(faster(1, Case.MUTEX_32, NEAR));
        all.add(faster(10, Case.THREADS_32, FAR));
        all.add(atLeast(
                100,
                Case.THREADS_32 + ": operations/s, ours with local turns to Curator's",
                results -> quotient(
                        results,
                        Case.THREADS_32,
                        FAR,
                        Contestant.LATCHKEY_TURNS,
                        Contestant.CURATOR,
                        CaseFigures::opsPerS)));
        for (String hold : List.of("", Case.HELD)) {
            for (double rtt : List.of(FAR, NEAR)) {
                all.add(turns(0.7, Case.READ_THREADS_32, hold, rtt));
                all.add(turns(0.7, Case.SEMAPHORE_THREADS_32, hold, rtt));
                all.add(turns(0.5, Case.MIXED_THREADS_32, hold, rtt));
            }
        }
        all.add(faster(3, Case.SEMAPHORE_32, FAR));
        all.add(faster(2.5, Case.ASYNC_RELEASE, FAR));
        for (String which : Stream.concat(Case.free().stream(), Case.contended().stream())
                .map(Case::name)
                .toList()) {
            all.add(atMost(
                    0.8,
                    which + ": server CPU per operation, ours to Curator's",
                    results -> quotient(
                            results,
                            which,
                            FAR,
                            Contestant.LATCHKEY,
                            Contestant.CURATOR,
                            CaseFigures::serverCpuUsPerOp)));
        }
        for (double rtt : List.of(FAR, NEAR)) {
            all.add(allInOrder(rtt));
            all.add(even("time of a hand-over", 1_000, rtt, Waiters.HANDOVER));
            all.add(even("time of a hand-over", 10_000, rtt, Waiters.HANDOVER));
            all.add(even("requests in all", 10_000, rtt, Waiters.ALL_REQUESTS));
            all.add(even("bytes in all", 10_000, rtt, Waiters.ALL_BYTES));
            all.add(even(
                    "server CPU of a hand-over",
                    10_000,
                    rtt,
                    results -> quotient(
                            value(
                                    results,
                                    Waiters.name(10_000),
                                    rtt,
                                    Contestant.LATCHKEY,
                                    CaseFigures::serverCpuUsPerOp),
                            value(
                                    results,
                                    Waiters.name(100),
                                    rtt,
                                    Contestant.LATCHKEY,
                                    CaseFigures::serverCpuUsPerOp))));
        }
        for (int waiters : List.of(100, 1_000, 10_000)) {
            all.add(new Target(
                    Waiters.name(waiters) + ": client's heap per waiting request, bytes",
                    "under 2048",
                    results -> more(results, Waiters.name(waiters), NEAR, Waiters.CLIENT_HEAP),
                    figure -> figure < 2048));
        }
        return all;
    }

    private static Target atMost(double most, String what, Function<Results, OptionalDouble> figure) {
        return new Target(what, "at most " + displayPath(most), figure, found -> found <= most);
    }

    private static Target atLeast(double least, String what, Function<Results, OptionalDouble> figure) {
        return new Target(what, "at least " + displayPath(least), figure, found -> found >= least);
    }

    private static Target faster(double times, String which, double rtt) {
        return atLeast(
                times,
                which + at(rtt) + ": operations/s, ours to Curator's",
                results ->
                        quotient(results, which, rtt, Contestant.LATCHKEY, Contestant.CURATOR, CaseFigures::opsPerS));
    }

    /** The local turns of all recipes, beside those of a mutex with the same holds. */
    private static Target turns(double least, String which, String hold, double rtt) {
        return atLeast(
                least,
                which + hold + at(rtt) + ": operations/s with local turns, to the mutex's",
                results -> quotient(
                        value(results, which + hold, rtt, Contestant.LATCHKEY_TURNS, CaseFigures::opsPerS),
                        value(results, Case.THREADS_32 + hold, rtt, Contestant.LATCHKEY_TURNS, CaseFigures::opsPerS)));
    }

    private static Target allInOrder(double rtt) {
        String queue = Waiters.name(10_000);
        return new Target(
                queue + at(rtt) + ": granted, in order",
                "all",
                results -> more(results, queue, rtt, Waiters.MISSING).stream()
                        .map(missing -> missing == 0
                                        && more(results, queue, rtt, Waiters.IN_ORDER)
                                                        .orElse(0)
                                                == 1
                                ? 1
                                : 0)
                        .findFirst(),
                figure -> figure == 1);
    }

    private static Target even(String what, int waiters, double rtt, String figure) {
        return even(
                what,
                waiters,
                rtt,
                results -> quotient(
                        more(results, Waiters.name(waiters), rtt, figure),
                        more(results, Waiters.name(100), rtt, figure)));
    }

    /** The bound is the same for every length of the queue. */
    private static Target even(String what, int waiters, double rtt, Function<Results, OptionalDouble> figure) {
        return new Target(
                "%s, %d waiters to 100%s".formatted(what, waiters, at(rtt)),
                "0.8 to 1.2",
                figure,
                found -> found >= 0.8 && found <= 1.2);
    }

    private static String at(double rtt) {
        return rtt == NEAR ? " on loopback" : "";
    }

    private static OptionalDouble quotient(
            Results results,
            String which,
            double rtt,
            Contestant of,
            Contestant to,
            ToDoubleFunction<CaseFigures> figure) {
        return quotient(value(results, which, rtt, of, figure), value(results, which, rtt, to, figure));
    }

    private static OptionalDouble quotient(OptionalDouble of, OptionalDouble to) {
        return of.isPresent() && to.isPresent()
                ? OptionalDouble.of(of.getAsDouble() / to.getAsDouble())
                : OptionalDouble.empty();
    }

    private static OptionalDouble value(
            Results results, String which, double rtt, Contestant system, ToDoubleFunction<CaseFigures> figure) {
        Optional<CaseFigures> found = results.find(which, system, rtt, Storage.TMPFS);
        return found.stream().mapToDouble(figure).findFirst();
    }

    private static OptionalDouble more(Results results, String which, double rtt, String figure) {
        return results.find(which, Contestant.LATCHKEY, rtt, Storage.TMPFS)
                .map(found -> found.more(figure))
                .orElse(OptionalDouble.empty());
    }

    private static String displayPath(double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
    }

    /** Returns the figure, and whether the target is reached. */
    String verdict(Results results) {
        OptionalDouble found = figure.apply(results);
        return found.isEmpty() ? "not measured" : reached.by(found.getAsDouble()) ? "reached" : "NOT reached";
    }

    String found(Results results) {
        OptionalDouble found = figure.apply(results);
        return found.isEmpty() ? "-" : String.format(Locale.ROOT, "%.2f", found.getAsDouble());
    }
}
