// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.ClientProcess;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.Reconnects;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.server.EmbeddedEnsemble;
import io.latchkey.testkit.server.EmbeddedEnsemble.FollowerPartition;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.workload.FaultSchedule;
import io.latchkey.testkit.workload.LockSpec;
import io.latchkey.testkit.workload.Play;
import io.latchkey.testkit.workload.Scenario;
import io.latchkey.testkit.workload.Workload;
import io.latchkey.testkit.workload.Workload.Turn;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The examples of docs/testkit.md; ExamplesTest compares. */
@Tag("slow")
@LatchkeyTest
@Timeout(60)
class KitExamplesTest {
    @Test
    void leaseIsLost_whenTheTestEndsItsSession() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                FaultyClient client = FaultyClient.connect(server, Duration.ofSeconds(6), Reconnects.FAST)) {
            server.holdExpiry(); // from now on sessions end by the test alone
            Lease lease = client.client().mutex("/a").acquire();
            server.expireSession(client.proxy().session().getAsLong());
            lease.lost().toCompletableFuture().join(); // some 5 ms later
            assertFalse(lease.isValid());
        }
    }

    @Test
    void leaseIsGranted_whenTheResponseToItsCreateIsLost(FaultyClient client) throws Exception {
        Mutex mutex = client.client().mutex("/a");
        Fault fault = client.proxy().cutAfter(RequestMatch.create().under("/a"), 1);
        Lease lease = mutex.acquire(); // its node is there, but the answer that says so is not; it finds the node
        fault.await(Duration.ofSeconds(10));
        assertTrue(lease.isValid());
    }

    @Test
    void leaseIsGranted_whenTheResponseIsLostInTheSimulation() {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient mine = locks.client();
            Fault lost = locks.cutAfter(mine, RequestMatch.create().under("/orders/42"), 1);
            locks.refuse(mine);
            CompletableFuture<Lease> asked = mine.mutex("/orders/42").acquireAsync();
            assertTrue(lost.struck().isDone()); // the server has carried it out, and the client does not know
            locks.heal(mine);
            asked.join().close();
        }
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void firstLookIsFalse_whenTheProcessWasPaused(EmbeddedZooKeeper server) {
        try (ClientProcess holder = ClientProcess.start(server, Duration.ofSeconds(1))) {
            holder.acquire("/job").join();
            holder.pauseUntilExpired().join();
            CompletableFuture<Boolean> firstLook = holder.isValid();
            holder.resume();
            assertFalse(firstLook.join());
        }
    }

    @Test
    void followerNotices_whenItIsCutOff() throws Exception {
        try (EmbeddedEnsemble ensemble = EmbeddedEnsemble.start()) {
            int follower = (ensemble.leader().getAsInt() + 1) % 3;
            try (FollowerPartition partition = ensemble.cutOffFromLeader(follower)) {
                partition.awaitNoticed(Duration.ofSeconds(10)); // until then it serves old data
                partition.heal();
                partition.awaitHealed(Duration.ofSeconds(10));
            }
        }
    }

    @Test
    void noRuleIsBroken_byAScheduleOfFaults(EmbeddedZooKeeper server) throws Exception {
        Turn turn = Turn.of(new LockSpec.Mutex("/a"), 5); // hold it for 5 ms
        Workload work = new Workload(List.of(
                new Workload.Actor(0, List.of(turn, turn)), //
                new Workload.Actor(1, List.of(turn))));
        FaultSchedule faults = FaultSchedule.parse("after 2 C0 expire BOTH; after 0 C1 lose answer CREATE 1");
        Play play = Play.of(Scenario.of(work, faults), server, Play.Settings.fast());
        play.assertNotBroken();
        assertEquals(faults, FaultSchedule.parse(faults.toString()));
    }
}
