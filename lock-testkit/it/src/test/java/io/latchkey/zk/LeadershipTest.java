// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Leadership;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.server.EmbeddedEnsemble;
import io.latchkey.testkit.server.EmbeddedEnsemble.FollowerPartition;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.retry.RetryForever;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/**
 * What two candidates believe while the server of the leader is cut off from the ensemble and still answers its
 * clients.
 */
@Tag("long")
@Tag("once")
@Tag("alone")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class LeadershipTest {
    private static final Duration TICK = Duration.ofMillis(500);
    private static final Duration SESSION = Duration.ofSeconds(3);
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final long LOOK_EVERY_NANOS = 200_000;

    private final EmbeddedEnsemble ensemble = EmbeddedEnsemble.start(TICK);

    @AfterAll
    void close() {
        ensemble.close();
    }

    private int follower() throws InterruptedException {
        int follower = (ensemble.awaitLeader(SOON) + 1) % 3;
        Eventually.holds("server " + follower + " serves", SOON, () -> ensemble.isServing(follower));
        return follower;
    }

    /**
     * Looks until the next leads; returns how long before that the former believed for the last time, in nanoseconds.
     */
    private static long lastBelief(BooleanSupplier former, BooleanSupplier next) {
        long start = System.nanoTime();
        long last = start;
        while (true) {
            boolean begun = next.getAsBoolean();
            long now = System.nanoTime();
            if (former.getAsBoolean()) {
                last = now;
            }
            if (begun) {
                return now - last;
            }
            assertTrue(now - start < SOON.toNanos(), "the next never led");
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
        }
    }

    @Test
    void leaderStopsBeforeTheNextBegins_whenItsServerIsCutOffFromTheEnsemble() throws Exception {
        int follower = follower();
        String spared = ensemble.connectString(ensemble.awaitLeader(SOON));
        CompletableFuture<Long> interrupted = new CompletableFuture<>();
        try (FaultyClient one = FaultyClient.connectTo(ensemble.connectString(follower), ensemble, SESSION);
                FaultyClient two = FaultyClient.connectTo(spared, ensemble, SESSION);
                Leadership first = Leadership.start(one.client().mutex("/leader"), lease -> {
                    try {
                        new CountDownLatch(1).await();
                    } finally {
                        interrupted.complete(System.nanoTime());
                    }
                    return Leadership.Next.QUEUE_AGAIN;
                })) {
            Eventually.holds("the first leads", SOON, first::isLeader);
            long epoch = first.epoch().orElseThrow();
            CompletableFuture<Long> begins = new CompletableFuture<>();
            try (Leadership next = Leadership.start(two.client().mutex("/leader"), lease -> {
                begins.complete(System.nanoTime());
                new CountDownLatch(1).await();
                return Leadership.Next.QUEUE_AGAIN;
            })) {
                Eventually.holds("the next waits", SOON, () -> next.candidates().size() == 2);
                try (FollowerPartition partition = ensemble.cutOffFromLeader(follower)) {
                    assertEquals(follower, partition.follower());
                    assertTrue(lastBelief(first::isLeader, next::isLeader) > 0, "both believed to lead");
                    assertTrue(next.epoch().orElseThrow() > epoch);
                    long last = interrupted.get(SOON.toSeconds(), TimeUnit.SECONDS);
                    assertTrue(last < begins.get(SOON.toSeconds(), TimeUnit.SECONDS), "the work went on");
                }
            }
        }
    }

    /** The counter-example: {@link LeaderLatch} goes by its connection, which is there. */
    @Test
    void curatorsLatchBelievesBesideTheNext_whenItsServerIsCutOffFromTheEnsemble() throws Exception {
        int follower = follower();
        String spared = ensemble.connectString(ensemble.awaitLeader(SOON));
        try (CuratorFramework one = curator(ensemble.connectString(follower));
                CuratorFramework two = curator(spared);
                LeaderLatch first = new LeaderLatch(one, "/latch");
                LeaderLatch next = new LeaderLatch(two, "/latch")) {
            first.start();
            Eventually.holds("the first leads", SOON, first::hasLeadership);
            next.start();
            Eventually.holds("the next waits", SOON, () -> participants(next) == 2);
            assertFalse(next.hasLeadership());
            try (FollowerPartition partition = ensemble.cutOffFromLeader(follower)) {
                assertEquals(follower, partition.follower());
                assertEquals(0, lastBelief(first::hasLeadership, next::hasLeadership), "they did not overlap");
            }
        }
    }

    private static int participants(LeaderLatch latch) {
        try {
            return latch.getParticipants().size();
        } catch (Exception unavailable) {
            return 0;
        }
    }

    private static CuratorFramework curator(String servers) {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(servers)
                .sessionTimeoutMs((int) SESSION.toMillis())
                .retryPolicy(new RetryForever(100))
                .build();
        client.start();
        return client;
    }
}
