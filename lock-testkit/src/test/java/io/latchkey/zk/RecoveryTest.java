// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.testkit.curator.CuratorFixture;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.server.EmbeddedEnsemble;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ZooKeeperFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long after a fault a client acquires a free mutex again, beside Curator, which has the same fault. */
@Tag("once")
@Tag("long")
@Timeout(1200)
class RecoveryTest {
    private static final int TIMES = Integer.getInteger("latchkey.recovery.times", 2);
    private static final Duration SESSION = Duration.ofSeconds(4);
    private static final Duration SHORT_OUTAGE = Duration.ofSeconds(2);
    private static final Duration LONG_OUTAGE = SESSION.multipliedBy(2);
    private static final Duration RECOVERS_WITHIN = Duration.ofSeconds(60);

    private final ExecutorService threads = Executors.newFixedThreadPool(2);

    @AfterEach
    void endThreads() {
        threads.shutdownNow();
    }

    /** A fault that strikes both clients, and returns the time from which they are waited for. */
    @FunctionalInterface
    private interface Strike {
        long on(List<FaultProxy> proxies) throws Exception;
    }

    @Test
    void bothRecover_afterAReset() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            measure("connection reset", server, proxies -> {
                proxies.forEach(FaultProxy::cut);
                return System.nanoTime();
            });
        }
    }

    @Test
    void bothRecover_whenTheirSessionsEndByForce() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            measure("session ended by force", server, proxies -> {
                for (FaultProxy proxy : proxies) {
                    proxy.expireSession().join();
                }
                return System.nanoTime();
            });
        }
    }

    @Test
    void bothRecover_afterAShortOutage() throws Exception {
        outage("server away for half a session", SHORT_OUTAGE);
    }

    @Test
    void bothRecover_afterALongOutage() throws Exception {
        outage("server away for two sessions", LONG_OUTAGE);
    }

    private void outage(String name, Duration length) throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            measure(name, server, proxies -> {
                server.stop();
                TimeUnit.NANOSECONDS.sleep(length.toNanos());
                server.restart();
                return System.nanoTime();
            });
        }
    }

    @Test
    void bothRecover_whenTheLeaderIsKilled() throws Exception {
        try (EmbeddedEnsemble servers = EmbeddedEnsemble.start()) {
            measure("leader killed", servers, proxies -> {
                int leader = servers.awaitLeader(RECOVERS_WITHIN);
                long start = System.nanoTime();
                servers.kill(leader);
                servers.awaitLeader(RECOVERS_WITHIN);
                servers.restart(leader);
                return start;
            });
        }
    }

    private void measure(String fault, ZooKeeperFixture servers, Strike strike) throws Exception {
        List<Function<String, LockClient>> systems =
                List.of(RecoveryTest::latchkey, connectString -> CuratorFixture.connect(connectString, SESSION));
        List<Spread> found = new ArrayList<>();
        List<List<Long>> all = List.of(new ArrayList<>(), new ArrayList<>());
        for (int i = 0; i < TIMES; i++) {
            List<FaultProxy> proxies = List.of(FaultProxy.to(servers), FaultProxy.to(servers));
            List<LockClient> clients = new ArrayList<>();
            for (int which = 0; which < systems.size(); which++) {
                clients.add(systems.get(which).apply(proxies.get(which).connectString()));
                clients.get(which).mutex(path(which)).acquire().close();
            }
            long from = strike.on(proxies);
            List<Future<Long>> ends = new ArrayList<>();
            for (int which = 0; which < systems.size(); which++) {
                LockClient client = clients.get(which);
                String path = path(which);
                ends.add(threads.submit(() -> acquire(client, path)));
            }
            for (int which = 0; which < systems.size(); which++) {
                all.get(which).add(ends.get(which).get() - from);
            }
            clients.forEach(LockClient::close);
            proxies.forEach(FaultProxy::close);
        }
        all.forEach(nanos -> found.add(Spread.of(nanos.stream().mapToLong(Long::longValue))));
        System.out.printf("| %s | %s | %s |%n", fault, found.get(0), found.get(1));
        assertTrue(found.stream().allMatch(each -> each.longest() < RECOVERS_WITHIN.toNanos()), found::toString);
    }

    private static LockClient latchkey(String connectString) {
        return ZkLockClient.builder()
                .connectString(connectString)
                .sessionTimeout(SESSION)
                .build();
    }

    private static String path(int which) {
        return "/recovery/" + which;
    }

    /** Acquires and releases, and returns when it was acquired; an attempt that fails is repeated. */
    private static long acquire(LockClient client, String path) throws InterruptedException {
        long start = System.nanoTime();
        while (true) {
            try {
                client.mutex(path).acquire().close();
                return System.nanoTime();
            } catch (LockException failed) {
                if (System.nanoTime() - start > RECOVERS_WITHIN.toNanos()) {
                    throw failed;
                }
                LockSupport.parkNanos(1_000_000);
            }
        }
    }
}
