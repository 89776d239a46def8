// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.util.Optional;
import org.HdrHistogram.Histogram;

/**
 * One turn of one system.
 *
 * @param operations the number of acquisitions with their releases
 * @param nanos the total duration
 * @param waits the duration of each acquisition, in nanoseconds
 * @param spent the requests and processor time of the servers
 * @param clientBytes the allocation of the clients' JVM; 0 if it was not counted
 * @param onlooked the second part of the turn: its operations are still those of the crowd, its waits the onlooker's
 */
record LoadSample(
        long operations,
        long nanos,
        Histogram waits,
        ServerProbe.Reading spent,
        long clientBytes,
        Optional<LoadSample> onlooked) {
    static final int DIGITS = 3;

    LoadSample(long operations, long nanos, Histogram waits, ServerProbe.Reading spent) {
        this(operations, nanos, waits, spent, 0, Optional.empty());
    }

    LoadSample plus(LoadSample more) {
        Histogram all = waits.copy();
        all.add(more.waits);
        return new LoadSample(
                operations + more.operations,
                nanos + more.nanos,
                all,
                spent.plus(more.spent),
                clientBytes + more.clientBytes,
                onlooked.flatMap(part -> more.onlooked.map(part::plus)));
    }

    double perSecond() {
        return nanos == 0 ? 0 : operations * 1e9 / nanos;
    }

    double serverCpuUsPerOperation() {
        return spent.cpuNanos() / 1e3 / Math.max(1, operations);
    }
}
