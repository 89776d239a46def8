// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.micrometer;

import io.latchkey.lock.LossCause;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The meters of locks by name: those of one name are there from its first request on. */
final class NamedSeries {
    /** More names than a dashboard shows; a function that returns paths would have no bound. */
    static final int NAMES = 100;

    static final String OTHERS = "(others)";

    private static final String PREFIX = "latchkey.named.";

    private final MeterRegistry meters;
    private final OwnGauges gauges;
    private final Tags tags;
    private final Function<String, @Nullable String> nameOf;
    private final Map<String, NameMeters> names = new ConcurrentHashMap<>();

    /** The meters of one name. */
    record NameMeters(LockSeries series, Map<LossCause, Counter> lost) {}

    NamedSeries(MeterRegistry meters, OwnGauges gauges, Tags tags, Function<String, @Nullable String> nameOf) {
        this.meters = meters;
        this.gauges = gauges;
        this.tags = tags;
        this.nameOf = nameOf;
    }

    /** Returns the meters of the name of a path, if it has one. */
    Optional<NameMeters> of(String path) {
        return Optional.ofNullable(nameOf.apply(path))
                .filter(name -> !name.isEmpty())
                .map(name -> names.containsKey(name) || names.size() < NAMES ? name : OTHERS)
                .map(name -> names.computeIfAbsent(name, this::series));
    }

    private NameMeters series(String name) {
        Tags named = tags.and("name", name);
        return new NameMeters(new LockSeries(meters, gauges, PREFIX, named), LockSeries.losses(meters, PREFIX, named));
    }

    void forEach(Consumer<LockSeries> action) {
        names.values().forEach(each -> action.accept(each.series()));
    }
}
