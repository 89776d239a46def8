// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.micrometer;

import io.latchkey.lock.LockObserver.AcquireFailure;
import io.latchkey.lock.LossCause;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The meters of requests for locks that have something in common: a kind, or a name. All are there from the start. */
final class LockSeries {
    final OpenRequests waiting;
    final OpenRequests held;
    final Timer granted;
    final Map<AcquireFailure, Timer> notGranted;
    final Timer released;
    final Timer lost;

    LockSeries(MeterRegistry meters, OwnGauges gauges, String prefix, Tags tags, Duration... buckets) {
        waiting = new OpenRequests(meters, gauges, prefix + "waiting", tags, "requests that are not granted yet");
        held = new OpenRequests(meters, gauges, prefix + "held", tags, "leases that are neither released nor lost");
        Function<String, Timer> wait = outcome -> Timer.builder(prefix + "wait")
                .description("How long requests took until they were granted or ended")
                .tags(tags.and("outcome", outcome))
                .serviceLevelObjectives(buckets)
                .register(meters);
        granted = wait.apply("granted");
        notGranted = ofEach(AcquireFailure.class, failure -> wait.apply(label(failure)));
        Function<String, Timer> hold = outcome -> Timer.builder(prefix + "hold")
                .description("How long leases were held")
                .tags(tags.and("outcome", outcome))
                .serviceLevelObjectives(buckets)
                .register(meters);
        released = hold.apply("released");
        lost = hold.apply("lost");
    }

    /** Counters of lost leases, one for each cause. */
    static Map<LossCause, Counter> losses(MeterRegistry meters, String prefix, Tags tags) {
        return counters(LossCause.class, meters, prefix + "lost", tags, "cause", "Lost leases");
    }

    /** A counter for each constant, which is the value of a tag. */
    static <E extends Enum<E>> Map<E, Counter> counters(
            Class<E> type, MeterRegistry meters, String name, Tags tags, String tag, String description) {
        return ofEach(type, value -> Counter.builder(name)
                .description(description)
                .tags(tags.and(tag, label(value)))
                .register(meters));
    }

    private static <E extends Enum<E>, M> Map<E, M> ofEach(Class<E> type, Function<E, M> meter) {
        return Stream.of(type.getEnumConstants())
                .collect(Collectors.toMap(Function.identity(), meter, (one, other) -> one, () -> new EnumMap<>(type)));
    }

    static String label(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    /** Begins to count requests and leases from zero. */
    void clear() {
        waiting.clear();
        held.clear();
    }
}
