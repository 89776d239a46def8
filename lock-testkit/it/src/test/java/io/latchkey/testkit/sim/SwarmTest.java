// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.google.common.collect.Sets;
import io.latchkey.testkit.sim.Coverage.What;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Random schedules of the shipped engine over simulated servers, with every fault. A run also fails if it does not
 * reach the situations that it claims to cover.
 */
class SwarmTest {
    private static final long FIRST = Long.getLong("latchkey.seed", 1);
    /**
     * The number of schedules, instead of the default of each mix, which reaches all situations that the mix claims.
     */
    private static final long SCHEDULES = Long.getLong("latchkey.schedules", 0);
    /** For so long each mix is played, however many schedules that are. */
    private static final long SECONDS = Long.getLong("latchkey.swarm.seconds", 0);
    /** Those take many schedules, and small ones are many. */
    private static final Set<What> ALL_BUT_ZOMBIES = EnumSet.complementOf(EnumSet.of(
            What.ZOMBIE_GRANT,
            What.PATH_CREATED_AGAIN,
            What.LOCAL_TURN,
            What.SHARED_NODE,
            What.READ_BY_A_WRITERS_NODE,
            What.CLOSED_WITH_HOLDERS,
            What.RELEASED_IN_GRACE,
            What.LOST_BY_CLOSE,
            What.USERS_CODE_THREW,
            What.USERS_CODE_CALLED_BACK,
            What.USERS_CODE_BLOCKED));

    private static final Set<What> CLOSING = EnumSet.of(
            What.CLOSED_WITH_HOLDERS,
            What.RELEASED_IN_GRACE,
            What.LOST_BY_CLOSE,
            What.LOST_BY_DEADLINE,
            What.LOST_BY_LIMIT,
            What.OWN_NODE_DELETED,
            What.STOOD_STILL,
            What.DOWNGRADED,
            What.LOCAL_TURN,
            What.RECONNECTED);

    private static final String MIX = System.getProperty("latchkey.mix", "");

    @Test
    void nothingBreaks_inSmallWorlds() {
        play(
                Mix.SMALL,
                5_000,
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
    void validLeasesDoNotOverlap_whenSessionsEndByTime() {
        play(
                Mix.AGING,
                15_000,
                EnumSet.of(
                        What.LOST_BY_DEADLINE,
                        What.EXPIRED_BY_TIME,
                        What.CREATED_BUT_ANSWER_LOST,
                        What.RECONNECTED,
                        What.STOOD_STILL));
    }

    @Test
    void noWaiterIsForgotten_whenOperatorsTamper() {
        play(Mix.TAMPERED, 10_000, EnumSet.of(What.OWN_NODE_DELETED, What.RESIZED));
    }

    @Test
    void nothingBreaks_whenOperatorsTamperWithMultiLocksAndNeighbours() {
        play(
                Mix.TAMPERED_CROWD,
                5_000,
                EnumSet.of(What.OWN_NODE_DELETED, What.RESIZED, What.CANCELLED, What.LOST_WHILE_HELD));
    }

    @Test
    void nothingBreaks_whenReleasesAreRefused() {
        play(Mix.REFUSED, 5_000, EnumSet.of(What.OWN_NODE_DELETED, What.LOST_WHILE_HELD));
    }

    @Test
    void noWaiterIsForgotten_amongManyOfOneClient() {
        play(Mix.NEIGHBOURS, 5_000, EnumSet.of(What.OWN_NODE_DELETED, What.LOST_WHILE_HELD));
    }

    @Test
    void nothingBreaks_whenLeasesWereHeldForManyTimeOuts() {
        play(
                Mix.LASTING,
                1_500,
                EnumSet.of(
                        What.LOST_BY_DEADLINE,
                        What.EXPIRED_BY_TIME,
                        What.CREATED_BUT_ANSWER_LOST,
                        What.RECONNECTED,
                        What.OWN_NODE_DELETED));
    }

    @Test
    void noWaiterIsForgotten_inTheChainOfASemaphore() {
        play(Mix.LINE, 10_000, EnumSet.of(What.RESIZED, What.RECONNECTED, What.DIED_AT_ITS_TURN));
    }

    @Test
    void pathsAreCreatedAgain_whenTheirCountersAreExhausted() {
        play(Mix.WORN, 5_000, EnumSet.of(What.PATH_CREATED_AGAIN, What.RECONNECTED, What.STALE_READ));
    }

    @Test
    void nothingBreaks_onSharedPaths() {
        play(Mix.SHARED, 5_000, ALL_BUT_ZOMBIES);
    }

    @Test
    void nothingBreaks_withLocalTurns() {
        play(
                Mix.TURNS,
                5_000,
                EnumSet.of(
                        What.LOCAL_TURN,
                        What.SHARED_NODE,
                        What.READ_BY_A_WRITERS_NODE,
                        What.LOST_WHILE_HELD,
                        What.CANCELLED,
                        What.DOWNGRADED,
                        What.RECONNECTED,
                        What.RESIZED));
    }

    @Test
    void nothingBreaks_whenClientsCloseAndBodiesAreInterrupted() {
        play(Mix.CLOSING, 6_000, CLOSING);
    }

    @Test
    void nothingBreaks_whenTheCodeOfUsersThrowsAndBlocks() {
        play(
                Mix.HOSTILE,
                2_000,
                Sets.union(
                        CLOSING,
                        EnumSet.of(What.USERS_CODE_THREW, What.USERS_CODE_CALLED_BACK, What.USERS_CODE_BLOCKED)));
    }

    @Test
    void nothingBreaks_whenTheMixesAreCrossed() {
        play(Mix.CROSSED, 3_000, CLOSING);
    }

    @Test
    void nothingBreaks_inLargeWorlds() {
        play(Mix.LARGE, 1_000, ALL_BUT_ZOMBIES);
    }

    private static void play(Mix mix, long usually, Set<What> covered) {
        if (!MIX.isEmpty() && !MIX.equals(mix.name())) {
            return;
        }
        Swarm.Report report = SECONDS > 0
                ? Swarm.run(mix, FIRST, Long.MAX_VALUE, Duration.ofSeconds(SECONDS))
                : Swarm.run(mix, FIRST, SCHEDULES > 0 ? SCHEDULES : usually, Duration.ofDays(1));
        report.failure().ifPresent(failure -> fail(failure.text()));
        if (report.schedules() >= usually) {
            for (What what : covered) {
                assertTrue(report.coverage().of(what) > 0, () -> "never reached " + what + ": " + report);
            }
        }
    }
}
