// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class MomentTest {
    private static final Duration AWHILE = Duration.ofSeconds(5);

    private final VirtualTime time = new VirtualTime();

    /** So that a suspended machine counts as one that stood still. */
    @Test
    void atMostAsLongAgoAsTheClockThatWentFurtherSays() {
        Moment before = time.now();
        time.passOnTheWallOnly(AWHILE);
        assertEquals(AWHILE, Moment.of(time).atMostSince(before));
        assertEquals(Duration.ZERO, Moment.of(time).since(before));
    }

    @Test
    void aWallClockThatIsSetBackTakesNothingOff() {
        Moment before = time.now();
        time.pass(AWHILE);
        time.passOnTheWallOnly(AWHILE.multipliedBy(-2));
        assertEquals(AWHILE, Moment.of(time).atMostSince(before));
    }
}
