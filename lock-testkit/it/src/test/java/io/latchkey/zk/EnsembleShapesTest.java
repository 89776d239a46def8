// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.testkit.server.ProcessEnsemble;
import io.latchkey.testkit.server.ProcessEnsemble.Shape;
import io.latchkey.testkit.server.StandaloneServer;
import io.latchkey.testkit.time.Eventually;
import io.latchkey.testkit.time.Slowness;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.admin.ZooKeeperAdmin;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Ensembles of other shapes than three servers that vote, with as many of them down as they survive. */
@Tag("once")
@Tag("long")
@Timeout(240)
class EnsembleShapesTest {
    /** Outlives an election beside other tests. */
    private static final Duration SESSION = Slowness.stretched(Duration.ofSeconds(30));

    private static final long SOON = Slowness.stretched(Duration.ofSeconds(60)).toSeconds();
    private static final int TURNS = 10;

    /** The shape, and the servers that are killed: one of them may lead. */
    static Stream<Object[]> shapes() {
        return Stream.of(
                new Object[] {new Shape(5, 0, 1), List.of(4, 3)},
                new Object[] {new Shape(5, 0, 1), List.of(0, 4)},
                new Object[] {new Shape(3, 2, 1), List.of(2, 3)},
                new Object[] {new Shape(3, 0, 200), List.of(2)});
    }

    private static ZkLockClient client(String servers) throws InterruptedException {
        return ZkLockClient.builder()
                .connectString(servers)
                .sessionTimeout(SESSION)
                .connectTimeout(Duration.ofSeconds(SOON))
                .build();
    }

    @ParameterizedTest
    @MethodSource("shapes")
    void leaseSurvives_andTheLockIsPassedOn_whenServersAreKilled(Shape shape, List<Integer> killed) throws Exception {
        try (ProcessEnsemble ensemble = ProcessEnsemble.start(shape);
                ZkLockClient one = client(ensemble.connectString());
                ZkLockClient other = client(ensemble.connectString())) {
            Lease held = one.mutex("/m").acquire();
            CompletableFuture<Lease> waiting = other.mutex("/m").acquireAsync();
            killed.forEach(ensemble::kill);
            acquireAndRelease(one);
            assertTrue(held.isValid(), () -> "lost by " + held.lost());
            held.close();
            long token = held.token();
            Lease next = waiting.get(SOON, TimeUnit.SECONDS);
            for (int turn = 0; turn < TURNS; turn++) {
                assertTrue(next.token() > token, "tokens grow");
                token = next.token();
                CompletableFuture<Lease> following =
                        (turn % 2 == 0 ? one : other).mutex("/m").acquireAsync();
                next.close();
                next = following.get(SOON, TimeUnit.SECONDS);
            }
            next.close();
            killed.forEach(ensemble::restart);
            other.mutex("/m").tryAcquire(Duration.ofSeconds(SOON)).orElseThrow().close();
        }
    }

    /** Through servers that take no part in votes alone, and beside clients of those that do. */
    @Test
    void locksWork_throughObservers() throws Exception {
        Shape shape = new Shape(3, 2, 1);
        try (ProcessEnsemble ensemble = ProcessEnsemble.start(shape)) {
            List<ZkLockClient> clients = new ArrayList<>();
            for (int server : List.of(3, 4, 0)) {
                clients.add(client(ensemble.connectString(server)));
            }
            List<CompletableFuture<Long>> tokens = new ArrayList<>();
            for (int turn = 0; turn < 3 * TURNS; turn++) {
                tokens.add(clients.get(turn % 3).mutex("/m").acquireAsync().thenApply(lease -> {
                    long token = lease.token();
                    var unused = lease.releaseAsync();
                    return token;
                }));
            }
            List<Long> all = new ArrayList<>();
            for (CompletableFuture<Long> token : tokens) {
                all.add(token.get(SOON, TimeUnit.SECONDS));
            }
            assertEquals(3 * TURNS, all.stream().distinct().count());
            clients.forEach(ZkLockClient::close);
        }
    }

    /** One server after the other, the leader last. */
    @Test
    void leaseSurvives_whenTheServersAreUpgraded() throws Exception {
        try (ProcessEnsemble ensemble = ProcessEnsemble.startOn(StandaloneServer.classPathOf("3.8.0"), Shape.USUAL);
                ZkLockClient one = client(ensemble.connectString());
                ZkLockClient other = client(ensemble.connectString())) {
            Lease held = one.mutex("/m").acquire();
            CompletableFuture<Lease> waiting = other.mutex("/m").acquireAsync();
            int leader = ensemble.leader().orElseThrow();
            for (int step = 1; step <= ensemble.size(); step++) {
                int server = (leader + step) % ensemble.size();
                ensemble.restartOn(server, System.getProperty("java.class.path"));
                Eventually.holds("server " + server, Duration.ofSeconds(SOON), () -> ensemble.isServing(server));
                acquireAndRelease(one);
                assertTrue(held.isValid(), () -> "lost by " + held.lost());
            }
            held.close();
            waiting.get(SOON, TimeUnit.SECONDS).close();
        }
    }

    /** One server after the other leaves the ensemble and joins it again, the leader last. */
    @Test
    void leaseSurvives_whenServersLeaveAndJoin() throws Exception {
        try (ProcessEnsemble ensemble = ProcessEnsemble.start(Shape.USUAL, "reconfigEnabled=true", "skipACL=yes");
                ZkLockClient one = client(ensemble.connectString());
                ZkLockClient other = client(ensemble.connectString())) {
            ZooKeeperAdmin admin =
                    new ZooKeeperAdmin(ensemble.connectString(), Math.toIntExact(SESSION.toMillis()), event -> {});
            Lease held = one.mutex("/m").acquire();
            CompletableFuture<Lease> waiting = other.mutex("/m").acquireAsync();
            int leader = ensemble.leader().orElseThrow();
            for (int step = 1; step <= ensemble.size(); step++) {
                int server = (leader + step) % ensemble.size();
                String member = members(admin).stream()
                        .filter(line -> line.startsWith("server." + (Shape.USUAL.firstId() + server) + "="))
                        .findAny()
                        .orElseThrow();
                untilItIsSo(admin, null, member);
                acquireAndRelease(one);
                assertTrue(held.isValid(), () -> "lost by " + held.lost());
                untilItIsSo(admin, member, null);
                acquireAndRelease(other);
                assertTrue(held.isValid(), () -> "lost by " + held.lost());
            }
            held.close();
            waiting.get(SOON, TimeUnit.SECONDS).close();
            admin.close();
        }
    }

    private static void acquireAndRelease(ZkLockClient client) throws InterruptedException {
        client.mutex("/other")
                .tryAcquire(Duration.ofSeconds(SOON))
                .orElseThrow()
                .close();
    }

    /** The lines of the ensemble's servers, as in its configuration. */
    private static List<String> members(ZooKeeperAdmin admin) throws KeeperException, InterruptedException {
        String config = new String(admin.getConfig(false, new Stat()), StandardCharsets.UTF_8);
        return config.lines().filter(line -> line.startsWith("server.")).toList();
    }

    /** Repeats the change while servers elect, or have no connection to the server that joins. */
    private static void untilItIsSo(ZooKeeperAdmin admin, @Nullable String joins, @Nullable String leaves)
            throws InterruptedException {
        Eventually.holds("joined: " + joins + ", left: " + leaves, Duration.ofSeconds(SOON), () -> {
            try {
                List<String> members = members(admin);
                if (joins == null ? !members.contains(leaves) : members.contains(joins)) {
                    return true;
                }
                String id = leaves == null ? null : leaves.substring("server.".length(), leaves.indexOf('='));
                byte[] unused = admin.reconfigure(joins, id, null, -1, new Stat());
                return false;
            } catch (KeeperException.ConnectionLossException
                    | KeeperException.NewConfigNoQuorum
                    | KeeperException.ReconfigInProgress notYet) {
                return false;
            } catch (KeeperException | InterruptedException failed) {
                throw new IllegalStateException("the change failed", failed);
            }
        });
    }

    @Test
    void idsOfSessionsAreNegative_whereThoseOfServersAreLarge() throws Exception {
        try (ProcessEnsemble ensemble = ProcessEnsemble.start(new Shape(3, 0, 200));
                ZkLockClient client = client(ensemble.connectString())) {
            Lease held = client.mutex("/m").acquire();
            ZooKeeper handle = new ZooKeeper(ensemble.connectString(), 10_000, event -> {});
            String node = handle.getChildren("/m", false).get(0);
            assertTrue(handle.exists("/m/" + node, false).getEphemeralOwner() < 0);
            handle.close();
            held.close();
        }
    }
}
