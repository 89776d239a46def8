// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.validity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClockReadingTest {
    private static final Duration AWHILE = Duration.ofSeconds(5);

    private final VirtualClock time = new VirtualClock();

    /** So that suspension of the machine counts as a pause. */
    @Test
    void elapsedTimeIsThatOfTheFasterClock() {
        ClockReading before = time.now();
        time.passOnTheWallOnly(AWHILE);
        assertEquals(AWHILE, ClockReading.of(time).atMostSince(before));
        assertEquals(Duration.ZERO, ClockReading.of(time).since(before));
    }

    @Test
    void elapsedTimeIsKept_whenTheWallClockIsSetBack() {
        ClockReading before = time.now();
        time.pass(AWHILE);
        time.passOnTheWallOnly(AWHILE.multipliedBy(-2));
        assertEquals(AWHILE, ClockReading.of(time).atMostSince(before));
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1, 1",
        "2000000, 1, 1000000",
        "1000000, 2, 1000000",
        "0, 1, 0",
        "1, 0, 0",
        "-1, 5, 0",
        "5, -1, 0",
        "0, 0, 0"
    })
    void momentIsReached_whenEitherClockReachesIt(long nanosAhead, long millisAhead, long nanosLeft) {
        ClockReading now = time.now();
        ClockReading moment = new ClockReading(now.nanos() + nanosAhead, now.wallMillis() + millisAhead);
        assertEquals(Duration.ofNanos(nanosLeft), moment.from(now));
        assertEquals(nanosLeft == 0, moment.reachedAt(now));
    }
}
