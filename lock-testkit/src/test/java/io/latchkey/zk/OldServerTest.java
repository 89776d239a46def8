// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Contender.Eviction;
import io.latchkey.lock.Contender.ReleaseRequestResult;
import io.latchkey.lock.Contender.State;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.testkit.Eventually;
import io.latchkey.testkit.Slowness;
import io.latchkey.testkit.proxy.FastReconnects;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.server.ZooKeeperFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * All recipes on servers of older versions. Their watch events carry no zxid, so no lock is handed over without a list.
 */
@Tag("once")
@Tag("long")
@ParameterizedClass
@ValueSource(strings = {"3.6.4", "3.8.0"})
@Timeout(60)
class OldServerTest {
    private static final Duration SESSION = Duration.ofSeconds(20);
    /** Of one that is to end by time. */
    private static final Duration BRIEF = Slowness.stretched(Duration.ofSeconds(3));

    private static ServerProcess server;

    private final List<AutoCloseable> open = new ArrayList<>();

    @Parameter
    private String version;

    @BeforeParameterizedClassInvocation
    static void start(String version) throws Exception {
        server = ServerProcess.ofVersion(version);
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

    private ZkLockClient client(String connectString) {
        return client(connectString, SESSION);
    }

    private ZkLockClient client(String connectString, Duration session) {
        ZkLockClient client = ZkLockClient.builder()
                .connectString(connectString)
                .sessionTimeout(session)
                .ownerLabel("a client of " + version)
                .connectTimeout(Duration.ofSeconds(30))
                .build();
        open.add(client);
        return client;
    }

    private ZkLockClient client() {
        return client(server.connectString());
    }

    private FaultProxy proxy() {
        FaultProxy proxy = FaultProxy.to(new OneAddress(server.connectString()));
        open.add(0, proxy);
        return proxy;
    }

    /** One whose client comes back in milliseconds. */
    private FaultProxy fastProxy() {
        FaultProxy proxy = proxy();
        open.add(FastReconnects.of(proxy));
        return proxy;
    }

    private static void awaitQueue(Acquirable lock, int length) throws InterruptedException {
        Eventually.holds(
                "a queue of " + length,
                Duration.ofSeconds(10),
                () -> lock.queue().size() == length);
    }

    /** One path of the lock, to read its requests. */
    private static Acquirable last(Lockable kind, ZkLockClient client) {
        return kind == Lockable.MULTI ? client.mutex("/m") : kind.of(client);
    }

    private static Lease soon(CompletableFuture<Lease> due) throws Exception {
        return due.get(20, TimeUnit.SECONDS);
    }

    @Test
    void everyKindOfLock_isHandedOver() throws Exception {
        for (Lockable kind : Lockable.values()) {
            ZkLockClient first = client();
            ZkLockClient second = client();
            Lease held = kind.of(first).acquire();
            assertTrue(held.token() > 0);
            CompletableFuture<Lease> next = kind.blocker(second).acquireAsync();
            Acquirable last = last(kind, second);
            awaitQueue(last, 2);
            assertFalse(next.isDone());
            held.close();
            Lease granted = soon(next);
            assertTrue(granted.token() > held.token());
            granted.close();
            awaitQueue(last, 0);
        }
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
        FaultProxy proxy = proxy();
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
    void leaseAndPlaceAreKept_whenTheConnectionIsCut() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient cut = client(proxy.connectString());
        ZkLockClient other = client();
        Lease held = cut.mutex("/kept").acquire();
        Lease before = other.mutex("/place").acquire();
        CompletableFuture<Lease> waiting = cut.mutex("/place").acquireAsync();
        awaitQueue(other.mutex("/place"), 2);
        proxy.cut();
        before.close();
        assertTrue(soon(waiting).token() > before.token());
        assertTrue(held.isValid());
        assertFalse(held.lost().isDone());
    }

    @Test
    void expiryWhileHolding_isReportedAndTheNextIsGranted() throws Exception {
        for (Lockable kind : Lockable.values()) {
            FaultProxy proxy = fastProxy();
            ZkLockClient expiring = client(proxy.connectString());
            ZkLockClient second = client();
            Lease held = kind.of(expiring).acquire();
            CompletableFuture<LossCause> lost = held.lost();
            CompletableFuture<Lease> next = kind.blocker(second).acquireAsync();
            awaitQueue(last(kind, second), 2);
            proxy.expireSession().get(10, TimeUnit.SECONDS);
            Lease granted = soon(next);
            assertTrue(granted.token() > held.token());
            assertEquals(LossCause.SESSION_EXPIRED, lost.get(10, TimeUnit.SECONDS));
            assertFalse(held.isValid());
            CompletableFuture<Lease> again = kind.of(expiring).acquireAsync();
            awaitQueue(last(kind, second), 2);
            assertFalse(again.isDone());
            granted.close();
            soon(again).close();
            awaitQueue(last(kind, second), 0);
        }
    }

    @Test
    void waiterQueuesAgain_whenItsSessionExpires() throws Exception {
        for (Lockable kind : Lockable.values()) {
            FaultProxy proxy = fastProxy();
            ZkLockClient expiring = client(proxy.connectString());
            ZkLockClient second = client();
            Lease held = kind.blocker(second).acquire();
            CompletableFuture<Lease> waiting = kind.of(expiring).acquireAsync();
            Acquirable last = last(kind, second);
            awaitQueue(last, 2);
            long before = last.queue().get(1).token();
            proxy.expireSession().get(10, TimeUnit.SECONDS);
            Eventually.holds("a new request", Duration.ofSeconds(10), () -> last.queue().stream()
                    .anyMatch(request -> request.state() == State.WAITING && request.token() > before));
            assertFalse(waiting.isDone());
            assertTrue(held.isValid());
            held.close();
            Lease granted = soon(waiting);
            assertTrue(granted.isValid());
            assertTrue(granted.token() > before);
            granted.close();
            awaitQueue(last, 0);
        }
    }

    /** Locks of every kind, all of one client: those of one list shut out those at the same places of the other. */
    @Test
    void cutOffHolderLosesItsLease_beforeTheNextGrant() throws Exception {
        FaultProxy proxy = proxy();
        ZkLockClient cutOff = client(proxy.connectString(), BRIEF);
        ZkLockClient other = client();
        List<Acquirable> held = List.of(
                cutOff.mutex("/cut"),
                Lockable.WRITE.of(cutOff),
                Lockable.PERMITS.of(cutOff),
                cutOff.multiLock(cutOff.mutex("/cut/a"), cutOff.mutex("/cut/b")));
        List<Acquirable> next =
                List.of(other.mutex("/cut"), Lockable.READ.of(other), Lockable.PERMIT.of(other), other.mutex("/cut/b"));
        List<Lease> leases = new ArrayList<>();
        List<CompletableFuture<Long>> lostAt = new ArrayList<>();
        List<CompletableFuture<Long>> grantedAt = new ArrayList<>();
        for (int i = 0; i < held.size(); i++) {
            Lease lease = held.get(i).acquire();
            leases.add(lease);
            lostAt.add(lease.lost().thenApply(cause -> System.nanoTime()));
            grantedAt.add(next.get(i).acquireAsync().thenApply(granted -> System.nanoTime()));
            awaitQueue(next.get(i), 2);
        }
        proxy.blackHole();
        for (int i = 0; i < held.size(); i++) {
            long gap =
                    grantedAt.get(i).get(30, TimeUnit.SECONDS) - lostAt.get(i).get(30, TimeUnit.SECONDS);
            assertTrue(gap > 0, "told " + Duration.ofNanos(-gap) + " too late of " + held.get(i));
            assertEquals(LossCause.DEADLINE_PASSED, leases.get(i).lost().join());
        }
    }

    @Test
    void downgradeGuardedWriteAndResizeSucceed() throws Exception {
        ZkLockClient client = client();
        ReadWriteLock lock = client.readWriteLock("/down");
        Lease write = lock.writeLock().acquire();
        Lease read = lock.downgrade(write);
        assertEquals(write.token(), read.token());
        String data = "/data" + read.token();
        var unused =
                ZkLocks.guarded(read, Op.create(data, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
        assertTrue(client().readWriteLock("/down").readLock().tryAcquire().isPresent());
        client.semaphore("/grown", 1).resize(2);
        Lease one = client.semaphore("/grown", 1).acquire();
        Lease two = client().semaphore("/grown", 1).acquire();
        assertTrue(one.isValid() && two.isValid());
        assertEquals(0, client.semaphore("/grown", 1).availablePermits());
    }

    @Test
    void holderIsAskedAndEvicted() throws Exception {
        ZkLockClient admin = client();
        Lease held = client().mutex("/asked").acquire();
        CompletableFuture<ReleaseRequest> wish = held.releaseRequested();
        Eventually.holds(
                "a listening holder",
                Duration.ofSeconds(10),
                () -> admin.mutex("/asked").queue().get(0).requestRelease() == ReleaseRequestResult.DELIVERED);
        wish.get(10, TimeUnit.SECONDS);
        assertEquals(Eviction.EVICTED, admin.mutex("/asked").queue().get(0).evict());
        assertEquals(LossCause.NODE_DELETED, held.lost().get(10, TimeUnit.SECONDS));
        assertThrows(LeaseLostException.class, held::ensureValid);
    }

    /** What a proxy needs to know of a server that is not in this process. */
    private record OneAddress(String connectString) implements ZooKeeperFixture {
        @Override
        public boolean hasSession(long sessionId) {
            throw new UnsupportedOperationException("a process of its own");
        }

        @Override
        public void expireSession(long sessionId) {
            throw new UnsupportedOperationException("a process of its own");
        }

        @Override
        public void close() {
            // its owner closes it
        }
    }
}
