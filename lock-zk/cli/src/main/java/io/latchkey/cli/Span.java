// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parser of durations: {@code 10s}, {@code 500ms}, {@code 5m}, {@code 2h}, {@code 1d}; a bare number is seconds. */
final class Span implements ITypeConverter<Duration> {
    private static final Pattern SPAN = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)?");

    @Override
    public Duration convert(String text) {
        Matcher span = SPAN.matcher(text.toLowerCase(Locale.ROOT));
        if (!span.matches()) {
            throw new TypeConversionException("'" + text + "' is not a time such as 10s, 500ms, 5m, 2h or 1d");
        }
        long number = Long.parseLong(span.group(1));
        String unit = span.group(2) == null ? "s" : span.group(2);
        return switch (unit) {
            case "ms" -> Duration.ofMillis(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            case "d" -> Duration.ofDays(number);
            default -> Duration.ofSeconds(number);
        };
    }

    /** Formats a duration in the same syntax, for messages. */
    static String text(Duration span) {
        return span.toMillis() % 1000 == 0 ? span.toSeconds() + "s" : span.toMillis() + "ms";
    }
}
