// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.time;

import com.google.common.util.concurrent.Uninterruptibles;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.DoubleSupplier;

/**
 * The factor by which session timeouts and bounds of time in tests are stretched on a busy machine. The system property
 * {@value #PROPERTY} gives it, 1 to {@value #MOST}. Without the property it is measured once in each JVM at the
 * first use, in 0.2 s on an idle machine and 1.4 s at most, and printed: 1 on an idle machine.
 *
 * <p>The sessions of {@link io.latchkey.testkit.LatchkeyTest}, those of the contracts' fixture and of the properties,
 * the contracts' bounds and {@link Eventually} are stretched by it. Stretch your own with {@link #stretched}.
 */
public final class Slowness {
    private static final String PROPERTY = "latchkey.slow";
    private static final int MOST = 4;

    private static final long WARM_UP_NANOS = 50_000_000;
    private static final long MEASURE_NANOS = 150_000_000;
    /**
     * What a thread does at a time: some 20 microseconds, a small part of the time that a busy machine takes from it at
     * once.
     */
    private static final int STEPS = 5_000;

    private static final int LOOKS = 4;
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(200);

    private static final int FACTOR = determine();

    private Slowness() {}

    /** {@return the factor, 1 to 4} */
    public static int factor() {
        return FACTOR;
    }

    /**
     * {@return the time multiplied by the factor}
     *
     * @param time that is enough on an idle machine
     */
    public static Duration stretched(Duration time) {
        return time.multipliedBy(FACTOR);
    }

    private static int determine() {
        String given = System.getProperty(PROPERTY, "");
        if (!given.isEmpty()) {
            return given(given);
        }
        double slowdown = least(Slowness::slowdown);
        System.out.println(report(slowdown));
        // Once in a JVM, whatever loads this class.
        System.setProperty(PROPERTY, Integer.toString(factor(slowdown)));
        return factor(slowdown);
    }

    static int given(String factor) {
        if (!factor.matches("[1-" + MOST + "]")) {
            throw new IllegalArgumentException("-D" + PROPERTY + " must be 1 to " + MOST + ": " + factor);
        }
        return Integer.parseInt(factor);
    }

    /** What starts beside this JVM, and its own compiler, are busy for a moment; a busy machine is so at each look. */
    static double least(DoubleSupplier looks) {
        double slowdown = looks.getAsDouble();
        for (int look = 1; look < LOOKS && factor(slowdown) > 1; look++) {
            Uninterruptibles.sleepUninterruptibly(BETWEEN_LOOKS);
            slowdown = Math.min(slowdown, looks.getAsDouble());
        }
        return slowdown;
    }

    static int factor(double slowdown) {
        return (int) Math.max(1, Math.min(MOST, Math.round(slowdown)));
    }

    static String report(double slowdown) {
        String measured = "-D" + PROPERTY + "=" + factor(slowdown)
                + String.format(
                        Locale.ROOT, " (measured: a thread takes %.1f times as long as on an idle machine)", slowdown);
        return slowdown < MOST + 0.5
                ? measured
                : measured
                        + "\nThis machine is too busy for a judgement: failures of this run may be caused by the machine. Run again with less"
                        + " beside it, or fewer forks of tests.";
    }

    /**
     * How many times longer a thread takes than if it had a processor to itself. The median of equal pieces of work is
     * what a piece takes while the thread runs, the mean is what it takes with the time in which others run.
     */
    private static double slowdown() {
        work(WARM_UP_NANOS);
        long[] pieces = work(MEASURE_NANOS);
        double mean = Arrays.stream(pieces).average().orElseThrow();
        Arrays.sort(pieces);
        return mean / pieces[pieces.length / 2];
    }

    /** Works for this time; how many nanoseconds each piece took. */
    private static long[] work(long nanos) {
        long[] pieces = new long[16];
        int count = 0;
        long state = 1;
        long start = System.nanoTime();
        long last = start;
        while (last - start < nanos) {
            for (int step = 0; step < STEPS; step++) {
                state = state * 6364136223846793005L + 1442695040888963407L;
            }
            long now = System.nanoTime();
            if (count == pieces.length) {
                pieces = Arrays.copyOf(pieces, 2 * count);
            }
            pieces[count++] = now - last + (state == 0 ? 1 : 0); // the state is used, or the work could be left out
            last = now;
        }
        return Arrays.copyOf(pieces, count);
    }
}
