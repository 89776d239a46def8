// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.testkit.FaultyClient.Connector;
import io.latchkey.testkit.contract.LeaseContract;
import io.latchkey.testkit.contract.LockFixture;
import io.latchkey.testkit.contract.MultiLockContract;
import io.latchkey.testkit.contract.MutexContract;
import io.latchkey.testkit.contract.ReadWriteLockContract;
import io.latchkey.testkit.contract.SemaphoreContract;
import io.latchkey.testkit.contract.ServerFixture;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.server.StandaloneServer;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contracts on servers of older versions. Their watch events carry no zxid, so no lock is handed over without a
 * list.
 */
@Tag("once")
@Tag("long")
@ParameterizedClass
@ValueSource(strings = {"3.6.4", "3.8.0"})
@Timeout(60)
class OldServerTest {
    private static final Duration SESSION = Duration.ofSeconds(20);
    private static StandaloneServer server;

    private final List<AutoCloseable> open = new ArrayList<>();

    @Parameter
    private String version;

    @BeforeParameterizedClassInvocation
    static void start(String version) throws Exception {
        server = StandaloneServer.ofVersion(version);
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        server.close();
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        open.clear();
    }

    private ZkLockClient client(String connectString) throws InterruptedException {
        ZkLockClient client = ZkLockClient.builder()
                .connectString(connectString)
                .sessionTimeout(SESSION)
                .ownerLabel("a client of " + version)
                .connectTimeout(Duration.ofSeconds(30))
                .build();
        open.add(client);
        return client;
    }

    private ZkLockClient client() throws InterruptedException {
        return client(server.connectString());
    }

    private static void awaitQueue(Acquirable lock, int length) throws InterruptedException {
        Eventually.holds(
                "a queue of " + length,
                Duration.ofSeconds(10),
                () -> lock.queue().size() == length);
    }

    private static Lease soon(CompletableFuture<Lease> due) throws Exception {
        return due.get(20, TimeUnit.SECONDS);
    }

    @Test
    void handOverCostsNoRequest_whenTheHolderAloneWasAhead() throws Exception {
        assertEquals(0, requestsOfAHandOver("/alone", 0));
    }

    @Test
    void handOverCostsOneList_whenOthersWereAhead() throws Exception {
        assertEquals(1, requestsOfAHandOver("/handed", 1));
    }

    /** Returns what the last waiter sends once the node before its own is released. */
    private long requestsOfAHandOver(String path, int waitersAhead) throws Exception {
        FaultProxy proxy = FaultProxy.to(server);
        open.add(0, proxy);
        ZkLockClient waiter = client(proxy.connectString());
        ZkLockClient others = client();
        waiter.mutex(path).acquire().close();
        Lease held = others.mutex(path).acquire();
        List<CompletableFuture<Lease>> ahead = new ArrayList<>();
        for (int i = 0; i < waitersAhead; i++) {
            ahead.add(others.mutex(path).acquireAsync());
        }
        awaitQueue(others.mutex(path), 1 + waitersAhead);
        Wire.Mark before = proxy.mark();
        CompletableFuture<Lease> next = waiter.mutex(path).acquireAsync();
        int sent = waitersAhead == 0 ? 4 : 5;
        Eventually.holds(
                "watches set", Duration.ofSeconds(10), () -> proxy.since(before).requestsButHeartbeats() == sent);
        for (CompletableFuture<Lease> other : ahead) {
            held.close();
            held = soon(other);
        }
        Wire.Mark atRelease = proxy.mark();
        held.close();
        Lease granted = soon(next);
        long answered = proxy.since(atRelease).requestsButHeartbeats();
        granted.close();
        return answered;
    }

    @Test
    void guardedWriteSucceeds() throws Exception {
        Lease lease = client().mutex("/guarded").acquire();
        String data = "/data" + lease.token();
        assertEquals(
                1,
                ZkLocks.guarded(lease, Op.create(data, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT))
                        .size());
    }

    private LockFixture ofThatVersion() throws Exception {
        return new ServerFixture(Connector.ofLatchkey(), StandaloneServer.ofVersion(version));
    }

    @Nested
    class Mutexes extends MutexContract {
        @Override
        protected LockFixture newFixture() throws Exception {
            return ofThatVersion();
        }
    }

    @Nested
    class Leases extends LeaseContract {
        @Override
        protected LockFixture newFixture() throws Exception {
            return ofThatVersion();
        }
    }

    @Nested
    class ReadWriteLocks extends ReadWriteLockContract {
        @Override
        protected LockFixture newFixture() throws Exception {
            return ofThatVersion();
        }
    }

    @Nested
    class Semaphores extends SemaphoreContract {
        @Override
        protected LockFixture newFixture() throws Exception {
            return ofThatVersion();
        }
    }

    @Nested
    class MultiLocks extends MultiLockContract {
        @Override
        protected LockFixture newFixture() throws Exception {
            return ofThatVersion();
        }
    }
}
