// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.MeterFilter;
import java.util.Map;

/** The descriptions of the meters of observed locks. */
final class MeterDescriptions implements MeterFilter {
    private static final Map<String, String> BY_NAME = Map.of(
            "latchkey.acquire", "How long calls waited for a lock",
            "latchkey.acquire.active", "Calls that wait for a lock now",
            "latchkey.body", "How long methods ran under a lock",
            "latchkey.body.active", "Methods that run under a lock now",
            "latchkey.body.lost", "Leases that were lost while a method ran under them");

    @Override
    public Meter.Id map(Meter.Id id) {
        String description = BY_NAME.get(id.getName());
        return description == null || id.getDescription() != null
                ? id
                : new Meter.Id(id.getName(), Tags.of(id.getTags()), id.getBaseUnit(), description, id.getType());
    }
}
