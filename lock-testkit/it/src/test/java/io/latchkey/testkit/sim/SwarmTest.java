// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.google.common.collect.Sets;
import io.latchkey.testkit.sim.Coverage.Situation;
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
    private static final Set<Situation> ALL_BUT_ZOMBIES = EnumSet.complementOf(EnumSet.of(
            Situation.ZOMBIE_GRANT,
            Situation.PATH_CREATED_AGAIN,
            Situation.LOCAL_TURN,
            Situation.SHARED_NODE,
            Situation.READ_BY_A_WRITERS_NODE,
            Situation.CLOSED_WITH_HOLDERS,
            Situation.RELEASED_IN_GRACE,
            Situation.LOST_BY_CLOSE,
            Situation.USERS_CODE_THREW,
            Situation.USERS_CODE_CALLED_BACK,
            Situation.USERS_CODE_BLOCKED));

    private static final Set<Situation> CLOSING = EnumSet.of(
            Situation.CLOSED_WITH_HOLDERS,
            Situation.RELEASED_IN_GRACE,
            Situation.LOST_BY_CLOSE,
            Situation.LOST_BY_DEADLINE,
            Situation.LOST_BY_LIMIT,
            Situation.OWN_NODE_DELETED,
            Situation.STOOD_STILL,
            Situation.DOWNGRADED,
            Situation.LOCAL_TURN,
            Situation.RECONNECTED);

    private static final String MIX = System.getProperty("latchkey.mix", "");

    @Test
    void nothingBreaks_inSmallWorlds() {
        play(
                Mix.SMALL,
                5_000,
                EnumSet.of(
                        Situation.LOST_WHILE_HELD,
                        Situation.OWN_NODE_DELETED,
                        Situation.ZOMBIE_GRANT,
                        Situation.DIED_AT_ITS_TURN,
                        Situation.CREATED_BUT_ANSWER_LOST,
                        Situation.STALE_READ,
                        Situation.LATE_WRITE,
                        Situation.WRITE_OF_DEAD_SESSION,
                        Situation.RECONNECTED));
    }

    @Test
    void validLeasesDoNotOverlap_whenSessionsEndByTime() {
        play(
                Mix.AGING,
                15_000,
                EnumSet.of(
                        Situation.LOST_BY_DEADLINE,
                        Situation.EXPIRED_BY_TIME,
                        Situation.CREATED_BUT_ANSWER_LOST,
                        Situation.RECONNECTED,
                        Situation.STOOD_STILL));
    }

    @Test
    void noWaiterIsForgotten_whenOperatorsTamper() {
        play(Mix.TAMPERED, 10_000, EnumSet.of(Situation.OWN_NODE_DELETED, Situation.RESIZED));
    }

    @Test
    void nothingBreaks_whenOperatorsTamperWithMultiLocksAndNeighbours() {
        play(
                Mix.TAMPERED_CROWD,
                5_000,
                EnumSet.of(
                        Situation.OWN_NODE_DELETED, Situation.RESIZED, Situation.CANCELLED, Situation.LOST_WHILE_HELD));
    }

    @Test
    void nothingBreaks_whenReleasesAreRefused() {
        play(Mix.REFUSED, 5_000, EnumSet.of(Situation.OWN_NODE_DELETED, Situation.LOST_WHILE_HELD));
    }

    @Test
    void noWaiterIsForgotten_amongManyOfOneClient() {
        play(Mix.NEIGHBOURS, 5_000, EnumSet.of(Situation.OWN_NODE_DELETED, Situation.LOST_WHILE_HELD));
    }

    @Test
    void nothingBreaks_whenLeasesWereHeldForManyTimeOuts() {
        play(
                Mix.LASTING,
                1_500,
                EnumSet.of(
                        Situation.LOST_BY_DEADLINE,
                        Situation.EXPIRED_BY_TIME,
                        Situation.CREATED_BUT_ANSWER_LOST,
                        Situation.RECONNECTED,
                        Situation.OWN_NODE_DELETED));
    }

    @Test
    void noWaiterIsForgotten_inTheChainOfASemaphore() {
        play(Mix.LINE, 10_000, EnumSet.of(Situation.RESIZED, Situation.RECONNECTED, Situation.DIED_AT_ITS_TURN));
    }

    @Test
    void pathsAreCreatedAgain_whenTheirCountersAreExhausted() {
        play(Mix.WORN, 5_000, EnumSet.of(Situation.PATH_CREATED_AGAIN, Situation.RECONNECTED, Situation.STALE_READ));
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
                        Situation.LOCAL_TURN,
                        Situation.SHARED_NODE,
                        Situation.READ_BY_A_WRITERS_NODE,
                        Situation.LOST_WHILE_HELD,
                        Situation.CANCELLED,
                        Situation.DOWNGRADED,
                        Situation.RECONNECTED,
                        Situation.RESIZED));
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
                        EnumSet.of(
                                Situation.USERS_CODE_THREW,
                                Situation.USERS_CODE_CALLED_BACK,
                                Situation.USERS_CODE_BLOCKED)));
    }

    @Test
    void nothingBreaks_whenTheMixesAreCrossed() {
        play(Mix.CROSSED, 3_000, CLOSING);
    }

    @Test
    void nothingBreaks_inLargeWorlds() {
        play(Mix.LARGE, 1_000, ALL_BUT_ZOMBIES);
    }

    private static void play(Mix mix, long usually, Set<Situation> covered) {
        if (!MIX.isEmpty() && !MIX.equals(mix.name())) {
            return;
        }
        Swarm.Report report = SECONDS > 0
                ? Swarm.run(mix, FIRST, Long.MAX_VALUE, Duration.ofSeconds(SECONDS))
                : Swarm.run(mix, FIRST, SCHEDULES > 0 ? SCHEDULES : usually, Duration.ofDays(1));
        report.failure().ifPresent(failure -> fail(failure.text()));
        if (report.schedules() >= usually) {
            for (Situation what : covered) {
                assertTrue(report.coverage().of(what) > 0, () -> "never reached " + what + ": " + report);
            }
        }
    }
}
