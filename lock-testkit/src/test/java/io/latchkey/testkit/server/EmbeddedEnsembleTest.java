// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.PlainClient;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.testkit.server.EmbeddedEnsemble.FollowerPartition;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.workload.FaultSchedule;
import io.latchkey.testkit.workload.LockSpec;
import io.latchkey.testkit.workload.Play;
import io.latchkey.testkit.workload.Scenario;
import io.latchkey.testkit.workload.Workload;
import io.latchkey.testkit.workload.Workload.Turn;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("once")
@Timeout(60)
class EmbeddedEnsembleTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    /** A server that is cut off, or does not get to run, serves for ten of them. */
    private static final Duration TICK = Duration.ofMillis(500);

    private final EmbeddedEnsemble ensemble = EmbeddedEnsemble.start(TICK);

    @AfterEach
    void close() {
        ensemble.close();
    }

    @Test
    void scheduleInjectsServerFaults() throws Exception {
        Turn turn = Turn.of(new LockSpec.Mutex("/a"), 20);
        List<Turn> turns = Collections.nCopies(20, turn);
        Workload work = new Workload(List.of(new Workload.Actor(0, turns), new Workload.Actor(1, turns)));
        FaultSchedule faults = FaultSchedule.parse(
                "after 5 C0 stop LEADER for 100; after 5 C0 cut off for 300; after 5 C1 stop FOLLOWER for 50");
        Play play = Play.of(Scenario.of(work, faults), ensemble, Play.Settings.fast());
        play.assertNotBroken();
        assertEquals(faults.faults(), play.struck());
    }

    @Test
    void proxyGoesRoundTheServers() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(ensemble);
                PlainClient client = new PlainClient(proxy.connectString(), Duration.ofSeconds(6))) {
            for (int i = 0; i < 2; i++) {
                proxy.cut();
                client.awaitState(KeeperState.SyncConnected, SOON);
            }
            client.create("/mine", CreateMode.EPHEMERAL);
            List<String> opened = proxy.wire().records().stream()
                    .map(WireRecord::toString)
                    .filter(text -> text.startsWith("opened to port"))
                    .distinct()
                    .toList();
            assertEquals(3, opened.size(), () -> proxy.wire().toString());
            assertEquals(client.session(), proxy.expireSession().get(10, TimeUnit.SECONDS));
            Eventually.holds("end of the session", SOON, () -> !ensemble.hasSession(client.session()));
            assertEquals(List.of(), ensemble.nodesUnder("/"));
        }
    }

    @Test
    void cutOffFollowerStopsServing_untilItIsReconnected() throws Exception {
        int leader = ensemble.leader().getAsInt();
        int follower = (leader + 1) % 3;
        assertThrows(IllegalArgumentException.class, () -> ensemble.cutOffFromLeader(leader));
        try (PlainClient cutOff = new PlainClient(ensemble.connectString(follower), Duration.ofSeconds(15));
                PlainClient other = new PlainClient(ensemble.connectString(leader), Duration.ofSeconds(15))) {
            cutOff.create("/before", CreateMode.PERSISTENT);
            FollowerPartition partition = ensemble.cutOffFromLeader(follower);
            other.create("/after", CreateMode.PERSISTENT);
            assertNull(cutOff.zooKeeper().exists("/after", false), "it reads what it had");
            partition.awaitNoticed(SOON);
            assertEquals(leader, ensemble.leader().getAsInt(), "the others go on");
            assertThrows(IllegalStateException.class, () -> ensemble.cutOffFromLeader(follower));
            partition.heal();
            partition.awaitHealed(SOON);
            cutOff.awaitState(KeeperState.SyncConnected, SOON);
            assertNotNull(cutOff.zooKeeper().exists("/after", false));
            assertTrue(ensemble.hasSession(cutOff.session()), "sessions of more than ten ticks survive");
        }
    }

    @Test
    void partitionLasts_whenAnEarlierOneIsHealedAgain() throws Exception {
        int follower = (ensemble.leader().getAsInt() + 1) % 3;
        FollowerPartition earlier = ensemble.cutOffFromLeader(follower);
        earlier.heal();
        FollowerPartition partition = ensemble.cutOffFromLeader(follower);
        earlier.close();
        partition.awaitNoticed(SOON);
        partition.heal();
        partition.awaitHealed(SOON);
    }
}
