// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;

/**
 * One turn of one system.
 *
 * @param operations the number of acquisitions with their releases
 * @param nanos the total duration
 * @param waits the duration of each acquisition, in nanoseconds
 * @param spent the requests and processor time of the servers
 * @param clientBytes the allocation of the clients' JVM, as defined by {@link CaseFigures}
 * @param onlooked the second part of the turn: its operations are still those of the crowd, its waits the onlooker's
 */
record LoadSample(
        long operations,
        long nanos,
        Histogram waits,
        ServerProbe.Reading spent,
        Map<String, Double> clientBytes,
        Optional<LoadSample> onlooked) {
    static final int DIGITS = 3;

    LoadSample(long operations, long nanos, Histogram waits, ServerProbe.Reading spent) {
        this(operations, nanos, waits, spent, Map.of(), Optional.empty());
    }

    LoadSample plus(LoadSample more) {
        Histogram all = waits.copy();
        all.add(more.waits);
        Map<String, Double> bytes = new TreeMap<>(clientBytes);
        more.clientBytes.forEach((figure, found) -> bytes.merge(figure, found, Double::sum));
        return new LoadSample(
                operations + more.operations,
                nanos + more.nanos,
                all,
                spent.plus(more.spent),
                bytes,
                onlooked.flatMap(part -> more.onlooked.map(part::plus)));
    }

    double perSecond() {
        return nanos == 0 ? 0 : operations * 1e9 / nanos;
    }

    double serverCpuUsPerOperation() {
        return spent.cpuNanos() / 1e3 / Math.max(1, operations);
    }
}
