// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.time;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlownessTest {
    @Test
    void factorIsTheNextWholeNumber_from1To4() {
        assertEquals(1, Slowness.factor(1.0));
        assertEquals(1, Slowness.factor(1.4));
        assertEquals(2, Slowness.factor(1.6));
        assertEquals(4, Slowness.factor(4.4));
        assertEquals(4, Slowness.factor(20));
    }

    @Test
    void smallestOfFourLooksCounts_andTheFirstThatFindsAnIdleMachineEndsThem() {
        Iterator<Double> busy = List.of(3.0, 2.0, 4.0, 2.5, 1.0).iterator();
        assertEquals(2.0, Slowness.least(busy::next));
        assertEquals(1.0, busy.next());
        Iterator<Double> idleSoon = List.of(3.0, 1.4, 1.0).iterator();
        assertEquals(1.4, Slowness.least(idleSoon::next));
        assertEquals(1.0, idleSoon.next());
    }

    @Test
    void reportSaysThatTheRunCannotJudge_whenTheMachineIsSlowerThanTheLargestFactor() {
        assertFalse(Slowness.report(4.4).contains("too busy"), Slowness.report(4.4));
        assertTrue(Slowness.report(4.6).startsWith("-Dlatchkey.slow=4 (measured: "), Slowness.report(4.6));
        assertTrue(Slowness.report(4.6).contains("too busy for a judgement"), Slowness.report(4.6));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "5", "2.5", "abc"})
    void factorIsRefused_unlessItIsOneOfTheseNumbers(String factor) {
        assertEquals(4, Slowness.given("4"));
        assertThrows(IllegalArgumentException.class, () -> Slowness.given(factor));
    }

    @Test
    void otherClassLoadersFindTheFactorThatWasMeasured() {
        assertEquals(Slowness.factor(), Integer.getInteger("latchkey.slow"));
    }

    @Test
    void timesAreMultipliedByTheFactorOfThisRun() {
        assertEquals(Duration.ofSeconds(3L * Slowness.factor()), Slowness.stretched(Duration.ofSeconds(3)));
    }
}
