// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import org.HdrHistogram.Histogram;

/**
 * One turn of one system.
 *
 * @param operations how often something was acquired and released
 * @param nanos how long all of it took
 * @param waits how long each acquisition took, in nanoseconds
 * @param spent what the servers spent on it
 */
record Sample(long operations, long nanos, Histogram waits, ServerProbe.Reading spent) {
    static final int DIGITS = 3;

    static Sample none() {
        return new Sample(0, 0, new Histogram(DIGITS), ServerProbe.Reading.NONE);
    }

    Sample plus(Sample more) {
        Histogram all = waits.copy();
        all.add(more.waits);
        return new Sample(operations + more.operations, nanos + more.nanos, all, spent.plus(more.spent));
    }

    double perSecond() {
        return nanos == 0 ? 0 : operations * 1e9 / nanos;
    }
}
