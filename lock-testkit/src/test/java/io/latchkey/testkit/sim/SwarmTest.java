// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.latchkey.testkit.sim.Reached.What;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Random schedules of the shipped machine over simulated servers, under every fault. A run that did not come to what it
 * claims to cover fails as well.
 */
class SwarmTest {
    private static final long FIRST = Long.getLong("latchkey.seed", 1);
    /** Instead of as many as every mix has by default, which come to all that they claim. */
    private static final long SCHEDULES = Long.getLong("latchkey.schedules", 0);
    /** Those take many schedules, and small ones are many. */
    private static final Set<What> ALL_BUT_ZOMBIES =
            EnumSet.complementOf(EnumSet.of(What.ZOMBIE_GRANT, What.PATH_MADE_ANEW));

    private static final String MIX = System.getProperty("latchkey.mix", "");

    @Test
    void nothingBreaksInSmallWorlds() {
        play(
                Mix.SMALL,
                10_000,
                EnumSet.of(
                        What.LOST_WHILE_HELD,
                        What.OWN_NODE_DELETED,
                        What.ZOMBIE_GRANT,
                        What.DIED_AT_ITS_TURN,
                        What.CREATED_BUT_ANSWER_LOST,
                        What.STALE_READ,
                        What.LATE_WRITE,
                        What.WRITE_OF_DEAD_SESSION,
                        What.RECONNECTED));
    }

    @Test
    void leasesThatAreBelievedValidDoNotOverlapWhereSessionsEndByTime() {
        play(
                Mix.AGING,
                60_000,
                EnumSet.of(
                        What.LOST_BY_DEADLINE,
                        What.EXPIRED_BY_TIME,
                        What.CREATED_BUT_ANSWER_LOST,
                        What.RECONNECTED,
                        What.STOOD_STILL));
    }

    @Test
    void nobodySleepsOnWhenOperatorsTamper() {
        play(Mix.TAMPERED, 20_000, EnumSet.of(What.OWN_NODE_DELETED, What.RESIZED));
    }

    @Test
    void nothingBreaks_whenOperatorsTamperWithMultiLocksAndNeighbours() {
        play(
                Mix.TAMPERED_CROWD,
                10_000,
                EnumSet.of(What.OWN_NODE_DELETED, What.RESIZED, What.CANCELLED, What.LOST_WHILE_HELD));
    }

    @Test
    void nothingBreaks_whenReleasesAreRefused() {
        play(Mix.REFUSED, 10_000, EnumSet.of(What.OWN_NODE_DELETED, What.LOST_WHILE_HELD));
    }

    @Test
    void nothingBreaks_whenLeasesWereHeldForManyTimeOuts() {
        play(
                Mix.LASTING,
                3_000,
                EnumSet.of(
                        What.LOST_BY_DEADLINE,
                        What.EXPIRED_BY_TIME,
                        What.CREATED_BUT_ANSWER_LOST,
                        What.RECONNECTED,
                        What.OWN_NODE_DELETED));
    }

    @Test
    void nobodySleepsOnInTheLineOfASemaphore() {
        play(Mix.LINE, 20_000, EnumSet.of(What.RESIZED, What.RECONNECTED, What.DIED_AT_ITS_TURN));
    }

    @Test
    void pathsAreMadeAnewWhenTheirCountersComeToTheirEnd() {
        play(Mix.WORN, 10_000, EnumSet.of(What.PATH_MADE_ANEW, What.RECONNECTED, What.STALE_READ));
    }

    @Test
    void nothingBreaksOnSharedPaths() {
        play(Mix.SHARED, 10_000, ALL_BUT_ZOMBIES);
    }

    @Test
    void nothingBreaksInLargeWorlds() {
        play(Mix.LARGE, 2_000, ALL_BUT_ZOMBIES);
    }

    private static void play(Mix mix, long usually, Set<What> covered) {
        if (!MIX.isEmpty() && !MIX.equals(mix.name())) {
            return;
        }
        Swarm.Report report = Swarm.run(mix, FIRST, SCHEDULES > 0 ? SCHEDULES : usually, Duration.ofDays(1));
        report.failure().ifPresent(failure -> fail(failure.text()));
        if (report.schedules() >= usually) {
            for (What what : covered) {
                assertTrue(report.reached().of(what) > 0, () -> "never reached " + what + ": " + report);
            }
        }
    }
}
