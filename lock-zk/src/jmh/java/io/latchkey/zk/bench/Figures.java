// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * What was found out about one system in one case.
 *
 * @param name of the case
 * @param sessions how many took part
 * @param rttMs the round trip between clients and servers, in milliseconds, beyond loopback's own
 * @param storage of the servers
 * @param opsPerS acquisitions, with their releases, per second
 * @param p50Us half of the acquisitions took at most that many microseconds
 * @param p99Us 99 % of the acquisitions took at most that many microseconds
 * @param requestsPerOp requests to the servers for one acquisition and its release
 * @param serverCpuUsPerOp processor time of all servers for one acquisition and its release
 * @param clientCpuUsPerOp processor time of the clients' process for the same, that of the proxy included
 * @param more figures that only this case has
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
record Figures(
        String name,
        Contestant system,
        int sessions,
        double rttMs,
        Storage storage,
        double opsPerS,
        double p50Us,
        double p99Us,
        double requestsPerOp,
        double serverCpuUsPerOp,
        double clientCpuUsPerOp,
        Map<String, Double> more) {
    static final String SLOWEST_TURN = "slowest_turn_ops_per_s";
    static final String FASTEST_TURN = "fastest_turn_ops_per_s";

    /** Of all turns together. */
    static Figures of(
            Case which, Contestant system, double rttMs, Storage storage, Sample all, Map<String, Double> more) {
        double ops = Math.max(1, all.operations());
        return new Figures(
                which.name(),
                system,
                which.load().sessions(),
                rttMs,
                storage,
                rounded(all.perSecond()),
                rounded(all.waits().getValueAtPercentile(50) / 1e3),
                rounded(all.waits().getValueAtPercentile(99) / 1e3),
                rounded(all.spent().requests() / ops),
                rounded(all.spent().cpuNanos() / 1e3 / ops),
                rounded(all.spent().clientCpuNanos() / 1e3 / ops),
                more);
    }

    /** Three digits after the point say more than enough. */
    static double rounded(double value) {
        return Math.round(value * 1000) / 1000.0;
    }

    OptionalDouble more(String figure) {
        Double found = more == null ? null : more.get(figure);
        return found == null ? OptionalDouble.empty() : OptionalDouble.of(found);
    }
}
