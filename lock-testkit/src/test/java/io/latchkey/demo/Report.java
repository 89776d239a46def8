// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import java.time.Duration;
import java.util.Locale;

/** The end of a scenario: a table of figures, claims that are true or not, and the verdict. */
final class Report {
    private final Stage stage;
    private boolean holds = true;

    Report(Stage stage) {
        this.stage = stage;
        stage.screen().line("");
    }

    void figure(String name, String value) {
        stage.screen().line("  %-20s  %s".formatted(name, value));
    }

    void figure(String name, long value) {
        figure(name, count(value));
    }

    void claim(String claim, boolean isTrue) {
        stage.screen().line("  [%s] %s".formatted(isTrue ? "true" : "FALSE", claim));
        holds &= isTrue;
    }

    /**
     * Says the verdict, which holds if all claims are true.
     *
     * @param damage what is to be seen if they are not
     */
    boolean verdict(String damage) {
        String good = stage.isLocked() ? "the lock did what it promises" : "no harm done, by luck";
        String bad = stage.isLocked() ? "THE LOCK FAILED: " + damage : damage;
        stage.screen().line("");
        stage.screen().line("VERDICT: " + (holds ? good : bad));
        return holds;
    }

    static String count(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    static String text(Duration time) {
        return time.compareTo(Duration.ofSeconds(1)) < 0
                ? time.toMillis() + " ms"
                : String.format(Locale.ROOT, "%.1f s", time.toMillis() / 1e3);
    }

    /** So many a second. */
    static String rate(long count, Duration time) {
        return String.format(Locale.ROOT, "%.0f a second", count * 1e9 / time.toNanos());
    }
}
