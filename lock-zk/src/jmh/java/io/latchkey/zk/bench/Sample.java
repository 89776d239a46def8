// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.util.OptionalDouble;
import org.HdrHistogram.Histogram;

/**
 * One turn of one system.
 *
 * @param operations how often something was acquired and released
 * @param nanos how long all of it took
 * @param waits how long each acquisition took, in nanoseconds
 * @param spent what the servers spent on it
 * @param allocatedBytes in the JVM of the clients, where that was looked at
 */
record Sample(long operations, long nanos, Histogram waits, ServerProbe.Reading spent, OptionalDouble allocatedBytes) {
    static final int DIGITS = 3;

    Sample(long operations, long nanos, Histogram waits, ServerProbe.Reading spent) {
        this(operations, nanos, waits, spent, OptionalDouble.empty());
    }

    Sample plus(Sample more) {
        Histogram all = waits.copy();
        all.add(more.waits);
        return new Sample(
                operations + more.operations,
                nanos + more.nanos,
                all,
                spent.plus(more.spent),
                allocatedBytes.isPresent() && more.allocatedBytes.isPresent()
                        ? OptionalDouble.of(allocatedBytes.getAsDouble() + more.allocatedBytes.getAsDouble())
                        : OptionalDouble.empty());
    }

    double perSecond() {
        return nanos == 0 ? 0 : operations * 1e9 / nanos;
    }

    double serverCpuUsPerOperation() {
        return spent.cpuNanos() / 1e3 / Math.max(1, operations);
    }
}
