// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ValidityPeriodTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualClock time = new VirtualClock();
    private final ValidityPeriod term = new ValidityPeriod(time, time.now().plus(SECOND));

    @Test
    void isValidUntilItsDeadlineAndNotAt() {
        time.pass(SECOND.minusMillis(1));
        assertTrue(term.isValid());
        assertEquals(Duration.ofMillis(1), term.remaining());
        time.pass(Duration.ofMillis(1));
        assertFalse(term.isValid());
        assertEquals(Duration.ZERO, term.remaining());
    }

    @Test
    void canBeProlongedInTime() {
        time.pass(Duration.ofMillis(900));
        assertTrue(term.extend(time.now().plus(SECOND)));
        time.pass(Duration.ofMillis(900));
        assertTrue(term.isValid());
    }

    @Test
    void isNeverShortened() {
        assertTrue(term.extend(time.now().plus(Duration.ofMillis(1))));
        assertEquals(SECOND, term.remaining());
    }

    /** A caller may have acted on the end of the period. */
    @Test
    void onceFoundOverItStaysOver() {
        time.passOnTheWallOnly(SECOND);
        assertFalse(term.isValid());
        time.passOnTheWallOnly(SECOND.negated());
        assertFalse(term.isValid());
        assertFalse(term.extend(time.now().plus(SECOND)));
    }

    @Test
    void remainsValid_whenTheLongestPeriodHasBegunAndTheWallClockIsSetBack() {
        ValidityPeriod longest = new ValidityPeriod(time, time.now().plus(Duration.ofNanos(Long.MAX_VALUE)));
        time.passOnTheWallOnly(SECOND.negated());
        assertTrue(longest.isValid());
        assertEquals(Duration.ofNanos(Long.MAX_VALUE), longest.remaining());
    }

    @Test
    void endsWithItsSession() {
        assertFalse(term.isOver());
        term.end();
        assertFalse(term.isValid());
        assertTrue(term.isOver());
    }

    @Test
    void deadlineIsNotTheEndOfTheSession() {
        time.pass(SECOND);
        assertFalse(term.isValid());
        assertFalse(term.isOver());
    }

    @Test
    void termEndsEarlier_whenShortened() {
        term.shorten(Duration.ofMillis(300));
        assertEquals(Duration.ofMillis(700), term.remaining());
        term.shorten(SECOND);
        assertFalse(term.isValid());
    }

    @Test
    void termStaysOver_whenShortenedAfterItsEnd() {
        term.end();
        term.shorten(SECOND.negated());
        assertFalse(term.isValid());
    }

    @Test
    void termStaysOver_whenProlongFoundItLapsedAndTheWallClockIsSetBack() {
        time.passOnTheWallOnly(SECOND);
        assertFalse(term.extend(time.now().plus(SECOND)));
        time.passOnTheWallOnly(SECOND.negated());
        assertFalse(term.isValid());
    }

    @Test
    void remainingGoesByTheLaterDeadline_whenTermIsProlongedBeforeItsClocksAreRead() {
        ClockReading later = time.now().plus(SECOND.multipliedBy(2));
        time.beforeNextRead(() -> {
            assertTrue(term.extend(later));
            time.pass(SECOND);
        });
        assertEquals(SECOND, term.remaining());
    }

    @Test
    void extendFails_whenTermEndsBeforeItsClocksAreRead() {
        time.beforeNextRead(term::end);
        assertFalse(term.extend(time.now().plus(SECOND.multipliedBy(2))));
        assertFalse(term.isValid());
    }

    @Test
    void extendKeepsTheLatestDeadline_whenAnotherComesBeforeItsClocksAreRead() {
        ClockReading latest = time.now().plus(SECOND.multipliedBy(3));
        time.beforeNextRead(() -> assertTrue(term.extend(latest)));
        assertTrue(term.extend(time.now().plus(SECOND.multipliedBy(2))));
        assertEquals(SECOND.multipliedBy(3), term.remaining());
    }
}
