// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The ages of requests: this machine's time now less the server's time of the request. */
final class Age {
    private static final int SECONDS = 60;
    private static final int HOURS = 24;

    private Age() {}

    /** Returns the age; none if the time could not be read. Clocks differ, so that it may be below zero: then it is 0. */
    static @Nullable Duration of(Instant requestedAt, Instant now) {
        if (requestedAt.equals(Instant.EPOCH)) {
            return null;
        }
        Duration age = Duration.between(requestedAt, now);
        return age.isNegative() ? Duration.ZERO : age;
    }

    /** Returns an age in its two largest units, for people: {@code 8s}, {@code 3m12s}, {@code 2d4h}. */
    static String text(@Nullable Duration age) {
        if (age == null) {
            return "";
        } else if (age.toDays() > 0) {
            return age.toDays() + "d" + age.toHours() % HOURS + "h";
        } else if (age.toHours() > 0) {
            return age.toHours() + "h" + age.toMinutes() % SECONDS + "m";
        } else if (age.toMinutes() > 0) {
            return age.toMinutes() + "m" + age.toSeconds() % SECONDS + "s";
        }
        return age.toSeconds() + "s";
    }

    /** Returns a span with its milliseconds, for people: {@code 12ms}, {@code 3.250s}, {@code 3m12s}. */
    static String exact(Duration span) {
        long millis = span.toMillis();
        if (millis < 1000) {
            return millis + "ms";
        }
        return span.toMinutes() > 0 ? text(span) : String.format(Locale.ROOT, "%d.%03ds", millis / 1000, millis % 1000);
    }

    /** Returns an age in seconds, for JSON. */
    static @Nullable BigDecimal seconds(@Nullable Duration age) {
        return age == null ? null : BigDecimal.valueOf(age.toMillis(), 3);
    }
}
