// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock.micrometer;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The gauges of one observer in a registry. A registry keeps the first gauge of each id, though that may read an observer
 * whose client never came to be. So each observer registers its gauges in place of those of others, and removes only
 * those that are still its own.
 */
final class OwnGauges {
    /** For all observers: one may end, in the thread of its client's events, while the next one is made. */
    private static final Object REGISTRATION = new Object();

    private final MeterRegistry meters;
    private final Map<Meter.Id, Supplier<Meter>> registrations = new LinkedHashMap<>();
    /** By identity, since meters with the same id are equal. */
    private final Set<Meter> registered = Collections.newSetFromMap(new IdentityHashMap<>());

    private volatile boolean removed;

    OwnGauges(MeterRegistry meters) {
        this.meters = meters;
    }

    void add(String name, Tags tags, Supplier<Meter> registration) {
        synchronized (REGISTRATION) {
            Meter.Id id = new Meter.Id(name, tags, null, null, Meter.Type.GAUGE);
            registrations.put(id, registration);
            if (!removed) {
                register(id, registration);
            }
        }
    }

    private void register(Meter.Id id, Supplier<Meter> registration) {
        Meter unused = meters.removeByPreFilterId(id);
        registered.add(registration.get());
    }

    /** Registers all gauges again if they were removed. */
    void restore() {
        if (removed) {
            synchronized (REGISTRATION) {
                removed = false;
                registrations.forEach(this::register);
            }
        }
    }

    void remove() {
        synchronized (REGISTRATION) {
            removed = true;
            meters.getMeters().stream().filter(registered::contains).forEach(meters::remove);
            registered.clear();
        }
    }
}
