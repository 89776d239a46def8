// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one system in one case. In cases without acquisitions, the figures of acquisitions are null.
 *
 * @param name of the case
 * @param sessions the number of sessions
 * @param rttMs the round trip between clients and servers, in milliseconds, beyond loopback's own
 * @param storage of the servers
 * @param operations the number of acquisitions; null in older records
 * @param opsPerS acquisitions, with their releases, per second
 * @param p50Us half of the acquisitions took at most that many microseconds
 * @param p99Us 99 % of the acquisitions took at most that many microseconds
 * @param requestsPerOp requests to the servers for one acquisition and its release
 * @param serverCpuUsPerOp processor time of all servers for one acquisition and its release
 * @param clientCpuUsPerOp processor time of the clients' process for the same, that of the proxy included
 * @param more figures that only this case has
 */
record CaseFigures(
        String name,
        Contestant system,
        int sessions,
        double rttMs,
        Storage storage,
        @Nullable Long operations,
        @Nullable Double opsPerS,
        @Nullable Double p50Us,
        @Nullable Double p99Us,
        @Nullable Double requestsPerOp,
        @Nullable Double serverCpuUsPerOp,
        @Nullable Double clientCpuUsPerOp,
        Map<String, Double> more) {
    static final String SLOWEST_TURN = "slowest_turn_ops_per_s";
    static final String FASTEST_TURN = "fastest_turn_ops_per_s";

    static final String LOWEST_CPU = "lowest_turn_server_cpu_us_per_op";
    static final String HIGHEST_CPU = "highest_turn_server_cpu_us_per_op";
    static final String CLIENT_ALLOC = "client_alloc_bytes_per_op";
    static final String REQUESTS_PER_1000 = "requests_per_1000_ops";
    static final String ONLOOKER_WAITS = "onlooker_waits";
    static final String ONLOOKER_P50 = "onlooker_p50_us";
    static final String ONLOOKER_P99 = "onlooker_p99_us";
    /** The crowd's rate beside the onlooker. */
    static final String ONLOOKED_RATE = "onlooked_ops_per_s";

    /** The figures that have a column in a table. */
    static final Set<String> COMMON = Set.of(
            SLOWEST_TURN,
            FASTEST_TURN,
            LOWEST_CPU,
            HIGHEST_CPU,
            CLIENT_ALLOC,
            REQUESTS_PER_1000,
            ONLOOKER_WAITS,
            ONLOOKER_P50,
            ONLOOKER_P99,
            ONLOOKED_RATE);

    /**
     * Combines the samples of all turns.
     *
     * @param special further figures
     */
    static CaseFigures of(
            String name,
            int sessions,
            Contestant system,
            double rttMs,
            Storage storage,
            List<LoadSample> turns,
            Map<String, Double> special) {
        LoadSample all = turns.stream().reduce(LoadSample::plus).orElseThrow();
        double ops = Math.max(1, all.operations());
        Map<String, Double> more = new TreeMap<>(special);
        more.put(SLOWEST_TURN, rounded(each(turns, LoadSample::perSecond).min().orElse(0)));
        more.put(FASTEST_TURN, rounded(each(turns, LoadSample::perSecond).max().orElse(0)));
        more.put(
                LOWEST_CPU,
                rounded(each(turns, LoadSample::serverCpuUsPerOperation).min().orElse(0)));
        more.put(
                HIGHEST_CPU,
                rounded(each(turns, LoadSample::serverCpuUsPerOperation).max().orElse(0)));
        if (all.clientBytes() > 0) {
            more.put(CLIENT_ALLOC, rounded(all.clientBytes() / ops));
        }
        all.onlooked().ifPresent(part -> {
            more.put(REQUESTS_PER_1000, rounded(all.spent().requests() * 1e3 / ops));
            more.put(ONLOOKER_WAITS, (double) part.waits().getTotalCount());
            more.put(ONLOOKER_P50, rounded(part.waits().getValueAtPercentile(50) / 1e3));
            more.put(ONLOOKER_P99, rounded(part.waits().getValueAtPercentile(99) / 1e3));
            more.put(ONLOOKED_RATE, rounded(part.perSecond()));
        });
        return new CaseFigures(
                name,
                system,
                sessions,
                rttMs,
                storage,
                all.operations(),
                rounded(all.perSecond()),
                rounded(all.waits().getValueAtPercentile(50) / 1e3),
                rounded(all.waits().getValueAtPercentile(99) / 1e3),
                rounded(all.spent().requests() / ops),
                rounded(all.serverCpuUsPerOperation()),
                rounded(all.spent().clientCpuNanos() / 1e3 / ops),
                more);
    }

    /** Returns the figures of a case without acquisitions. */
    static CaseFigures of(
            String name, int sessions, Contestant system, double rttMs, Storage storage, Map<String, Double> special) {
        return new CaseFigures(
                name, system, sessions, rttMs, storage, null, null, null, null, null, null, null, special);
    }

    private static DoubleStream each(List<LoadSample> turns, ToDoubleFunction<LoadSample> figure) {
        return turns.stream().mapToDouble(figure);
    }

    /** Returns the median of each figure; of an even number of values the higher of the middle two. */
    static Map<String, Double> usual(List<Map<String, Double>> turns) {
        Map<String, Double> usual = new TreeMap<>();
        for (String figure : turns.get(0).keySet()) {
            usual.put(
                    figure,
                    rounded(turns.stream()
                            .map(turn -> turn.get(figure))
                            .sorted()
                            .toList()
                            .get(turns.size() / 2)));
        }
        return usual;
    }

    /** Rounds to three decimals. */
    static double rounded(double value) {
        return Math.round(value * 1000) / 1000.0;
    }

    /** Whether the figures are of the same case at the same place. */
    boolean isOfCase(CaseFigures other) {
        return name.equals(other.name) && rttMs == other.rttMs && storage == other.storage;
    }

    OptionalDouble more(String figure) {
        Double found = more == null ? null : more.get(figure);
        return found == null ? OptionalDouble.empty() : OptionalDouble.of(found);
    }
}
