// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.latchkey.lock.LockClient;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.zk.OncePerPeriod;
import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of docs/recipes/once-per-period.md. */
@Tag("slow")
@Timeout(60)
class PeriodsTest {
    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
    private final LockClient one = ZkLockClient.connect(server.connectString());
    private final LockClient other = ZkLockClient.connect(server.connectString());

    PeriodsTest() throws InterruptedException {}

    @AfterEach
    void close() {
        one.close();
        other.close();
        server.close();
    }

    interface Mailer {
        void send(String text);
    }

    static boolean sendReport(LockClient locks, Mailer mailer) throws InterruptedException {
        OncePerPeriod daily = OncePerPeriod.calendar(Duration.ofDays(1)); // a date in UTC
        return locks.mutex("/jobs/report")
                .call(lease -> daily.atMostOnce(lease, turn -> mailer.send("report of " + turn.period())));
    }

    static boolean addInterest(LockClient locks, String account, byte[] balance, int version) throws Exception {
        OncePerPeriod daily = OncePerPeriod.calendar(Duration.ofDays(1));
        return locks.mutex("/jobs/interest")
                .call(lease -> daily.atLeastOnce(lease, turn -> turn.guarded(Op.setData(account, balance, version))));
    }

    @Test
    void reportIsSentOnceADay() throws Exception {
        List<String> sent = new ArrayList<>();
        LocalDate began = LocalDate.now(ZoneOffset.UTC);
        boolean first = sendReport(one, sent::add);
        boolean second = sendReport(other, sent::add);
        assumeTrue(LocalDate.now(ZoneOffset.UTC).equals(began), "no midnight in between");
        assertTrue(first);
        assertFalse(second);
        assertEquals(List.of("report of " + began + "T00:00:00Z"), sent);
    }

    @Test
    void interestIsAddedOnceADay() throws Exception {
        ZooKeeper bank = new ZooKeeper(server.connectString(), 10_000, event -> {});
        try {
            bank.create("/account", new byte[] {100}, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            LocalDate began = LocalDate.now(ZoneOffset.UTC);
            boolean first = addInterest(one, "/account", new byte[] {101}, 0);
            boolean second = addInterest(other, "/account", new byte[] {102}, 1);
            assumeTrue(LocalDate.now(ZoneOffset.UTC).equals(began), "no midnight in between");
            assertTrue(first);
            assertFalse(second);
            assertArrayEquals(new byte[] {101}, bank.getData("/account", false, null));
        } finally {
            bank.close();
        }
    }
}
