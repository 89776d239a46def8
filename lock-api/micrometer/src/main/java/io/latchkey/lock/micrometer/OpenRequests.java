// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.micrometer;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The requests in one state, with two gauges: their number, and the age of the oldest. One thread calls the observer;
 * registries read in others.
 */
final class OpenRequests {
    /** When each began, the oldest first. */
    private final Map<Long, Long> since = new LinkedHashMap<>();

    private final Clock clock;

    OpenRequests(MeterRegistry meters, OwnGauges gauges, String name, Tags tags, String what) {
        clock = meters.config().clock();
        gauges.add(name, tags, () -> Gauge.builder(name, this, OpenRequests::count)
                .description("Number of " + what)
                .tags(tags)
                .strongReference(true)
                .register(meters));
        gauges.add(name + ".age", tags, () -> TimeGauge.builder(
                        name + ".age", this, TimeUnit.NANOSECONDS, OpenRequests::age)
                .description("Age of the oldest of the " + what + ", 0 if there are none")
                .tags(tags)
                .strongReference(true)
                .register(meters));
    }

    private synchronized double count() {
        return since.size();
    }

    private synchronized double age() {
        long now = clock.monotonicTime();
        return since.values().stream()
                .mapToLong(began -> now - began)
                .findFirst()
                .orElse(0);
    }

    synchronized void add(long id) {
        since.put(id, clock.monotonicTime());
    }

    synchronized void remove(long id) {
        since.remove(id);
    }

    synchronized void clear() {
        since.clear();
    }
}
