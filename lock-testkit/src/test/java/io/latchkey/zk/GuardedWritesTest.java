// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.server.EmbeddedEnsemble;
import io.latchkey.testkit.server.EmbeddedEnsemble.FollowerPartition;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.server.Signals;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.zk.UpdateWorker.Mode;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * Read, wait and write under a lock on three servers, by three processes with sessions of 2 s. One of them is paused
 * for 5 s (SIGSTOP) between reading and writing. Other sessions are expired by force, and the leader is killed, or a
 * follower is cut off from it and answers with old data. A holder writes after the wait without checking its lease.
 */
@Tag("once")
@Tag("long")
@Tag("soak")
@DisabledOnOs(OS.WINDOWS)
class GuardedWritesTest {
    private static final int WORKERS = 3;
    private static final List<Mode> MODES = List.of(Mode.values());
    private static final Duration LENGTH = Soak.length(Duration.ofSeconds(15));
    private static final Duration PAUSE = Duration.ofSeconds(5);
    private static final Duration SOON = Duration.ofSeconds(60);

    private final SplittableRandom random = new SplittableRandom(Long.getLong("latchkey.seed", System.nanoTime()));
    private int pauses;
    private int decrees;
    private int leaders;
    private int partitions;

    @Test
    @Timeout(900)
    void updatesAreLost_onlyWithoutGuardsAndTokens() throws Exception {
        try (EmbeddedEnsemble ensemble = EmbeddedEnsemble.start();
                LostUpdates updates = updates(ensemble)) {
            for (Mode mode : MODES) {
                Eventually.holds(
                        "updates with " + mode,
                        SOON,
                        () -> updates.acknowledged(mode).size() > 2 * WORKERS);
            }
            long start = System.nanoTime();
            while (System.nanoTime() - start < LENGTH.toNanos() || pauses < MODES.size()) {
                strike(ensemble, updates, MODES.get(pauses % MODES.size()));
            }
            for (Mode mode : MODES) {
                int before = updates.acknowledged(mode).size();
                Eventually.holds(
                        "more updates with " + mode,
                        SOON,
                        () -> updates.acknowledged(mode).size() > before + 2 * WORKERS);
            }
            updates.end();
            String guarded = data(ensemble);
            report(updates, guarded);
            assertEquals(List.of(), List.copyOf(updates.lost(Mode.GUARDED, guarded)));
            assertEquals(List.of(), List.copyOf(updates.lost(Mode.TOKENS, updates.lastFenced())));
            // A run without conflicts shows nothing.
            assertFalse(updates.lost(Mode.LOCK_ALONE, updates.lastUnfenced()).isEmpty());
            assertTrue(updates.notWritten(Mode.GUARDED) > 0);
            assertTrue(updates.notWritten(Mode.TOKENS) > 0);
        }
    }

    private static LostUpdates updates(EmbeddedEnsemble ensemble) throws Exception {
        withHandle(
                ensemble,
                handle -> handle.create(
                        UpdateWorker.DATA, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
        return new LostUpdates(ensemble.connectString(), WORKERS);
    }

    private static String data(EmbeddedEnsemble ensemble) throws Exception {
        return withHandle(ensemble, UpdateWorker::data);
    }

    private interface Deed {
        String with(ZooKeeper handle) throws Exception;
    }

    private static String withHandle(EmbeddedEnsemble ensemble, Deed deed) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper handle = new ZooKeeper(ensemble.connectString(), 30_000, event -> connected.countDown());
        try {
            assertTrue(connected.await(SOON.toSeconds(), TimeUnit.SECONDS));
            return deed.with(handle);
        } finally {
            handle.close();
        }
    }

    /**
     * Pauses a process between reading and writing; during the pause a server fails, and sessions of holders are
     * expired.
     */
    private void strike(EmbeddedEnsemble ensemble, LostUpdates updates, Mode mode) throws Exception {
        Eventually.holds("a holder between reading and writing", SOON, () -> updates.thinker(mode)
                .isPresent());
        Optional<Process> thinker = updates.thinker(mode);
        if (thinker.isEmpty()) {
            return;
        }
        Process victim = thinker.get();
        Signals.stop(victim);
        pauses++;
        if (pauses % 2 == 1) {
            replaceLeader(ensemble);
            endSessions(ensemble);
        } else {
            int follower = (leaderOfAll(ensemble) + 1) % ensemble.size();
            FollowerPartition partition = ensemble.cutOffFromLeader(follower);
            partitions++;
            endSessions(ensemble);
            partition.heal();
        }
        Signals.goOn(victim);
        LockSupport.parkNanos(Duration.ofMillis(random.nextInt(500, 1500)).toNanos());
    }

    private void endSessions(EmbeddedEnsemble ensemble) throws InterruptedException {
        long start = System.nanoTime();
        while (System.nanoTime() - start < PAUSE.toNanos()) {
            LockSupport.parkNanos(Duration.ofMillis(random.nextInt(800, 1500)).toNanos());
            int unused = ensemble.awaitLeader(SOON);
            for (Mode each : MODES) {
                Optional<ServerNode> head = ensemble.nodesUnder(each.lock()).stream()
                        .min(Comparator.comparing(
                                node -> node.path().substring(node.path().length() - 10)));
                if (head.isPresent()) {
                    ensemble.expireSession(head.get().session());
                    decrees++;
                }
            }
        }
    }

    /** Kills it, with all connections to it; it comes back as a follower. */
    private void replaceLeader(EmbeddedEnsemble ensemble) throws InterruptedException {
        int leader = leaderOfAll(ensemble);
        ensemble.kill(leader);
        leaders++;
        assertNotEquals(leader, ensemble.awaitLeader(SOON));
        ensemble.restart(leader);
    }

    /** Once all serve again. */
    private static int leaderOfAll(EmbeddedEnsemble ensemble) throws InterruptedException {
        for (int i = 0; i < ensemble.size(); i++) {
            int server = i;
            Eventually.holds("server " + server, SOON, () -> ensemble.isServing(server));
        }
        return ensemble.awaitLeader(SOON);
    }

    private void report(LostUpdates updates, String guarded) {
        if (!Soak.isLong()) {
            return;
        }
        System.out.println(
                pauses + " pauses of " + PAUSE.toSeconds() + " s, " + decrees + " sessions expired by force, "
                        + leaders + " leaders killed, " + partitions + " followers cut off\n"
                        + "| protected by | acknowledged | not written | lost |\n|---|---|---|---|\n"
                        + row(updates, Mode.LOCK_ALONE, updates.lastUnfenced())
                        + row(updates, Mode.TOKENS, updates.lastFenced())
                        + row(updates, Mode.GUARDED, guarded));
    }

    private static String row(LostUpdates updates, Mode mode, String last) {
        return "| " + mode + " | " + updates.acknowledged(mode).size() + " | " + updates.notWritten(mode) + " | "
                + updates.lost(mode, last).size() + " |\n";
    }
}
