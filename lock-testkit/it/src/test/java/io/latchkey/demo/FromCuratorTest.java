// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.Semaphore;
import io.latchkey.testkit.ConnectString;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.zk.Layout;
import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of docs/from-curator.md, on one path with Curator; {@code ExamplesTest} compares. */
@Tag("slow")
@LatchkeyTest
@Timeout(60)
class FromCuratorTest {
    private final List<Long> written = new ArrayList<>();
    private CuratorFramework curator;
    private LockClient locks;

    @BeforeEach
    void connect(@ConnectString String servers) throws InterruptedException {
        curator = CuratorFrameworkFactory.newClient(servers, new ExponentialBackoffRetry(100, 3));
        curator.start();
        locks = ZkLockClient.builder()
                .connectString(servers)
                .layout(Layout.CURATOR)
                .build();
    }

    @AfterEach
    void close() {
        locks.close();
        curator.close();
    }

    private void work() {
        written.add(0L);
    }

    private void work(long token) {
        written.add(token);
    }

    @Test
    void mutexExcludesCuratorsMutex_atTheSamePath() throws Exception {
        InterProcessMutex theirs = new InterProcessMutex(curator, "/orders/42");
        theirs.acquire();
        try {
            work();
        } finally {
            theirs.release();
        }

        Mutex ours = locks.mutex("/orders/42");
        try (Lease lease = ours.acquire()) {
            work(lease.token());
        }
        assertEquals(2, written.size());

        Lease held = ours.acquire();
        assertFalse(theirs.acquire(10, TimeUnit.MILLISECONDS));
        held.close();
        assertTrue(theirs.acquire(10, TimeUnit.SECONDS));
        assertEquals(Optional.empty(), ours.tryAcquire());
        theirs.release();
    }

    @Test
    void tryWithATimeIsGranted_whenTheLockIsFree() throws Exception {
        Optional<Lease> granted = locks.mutex("/orders/42").tryAcquire(Duration.ofSeconds(10));
        if (granted.isPresent()) {
            try (Lease lease = granted.get()) {
                work(lease.token());
            }
        }
        assertEquals(1, written.size());
    }

    @Test
    void viewIsReentrant_inItsThread() {
        Lock lock = locks.mutex("/orders/42").asLock();
        lock.lock();
        try {
            lock.lock(); // the same thread, one node
            try {
                work();
            } finally {
                lock.unlock();
            }
        } finally {
            lock.unlock();
        }
        assertEquals(1, written.size());
    }

    @Test
    void downgradedWriterReads_andLeavesNoRequest() throws Exception {
        ReadWriteLock lock = locks.readWriteLock("/prices");
        try (Lease write = lock.writeLock().acquire()) {
            work(write.token());
            try (Lease read = lock.downgrade(write)) {
                work(read.token());
            }
        } // a downgraded lease is released: closing it again does nothing
        assertEquals(2, written.size());
        assertEquals(List.of(), lock.writeLock().queue());
    }

    @Test
    void permitIsGranted_withoutCuratorsLayout(@ConnectString String servers) throws Exception {
        try (LockClient own = ZkLockClient.connect(servers)) {
            Semaphore pool = own.semaphore("/v2/pool", 3); // a client with Layout.LATCHKEY
            try (Lease permit = pool.acquire()) {
                work(permit.token());
            }
        }
        assertEquals(1, written.size());
    }

    @Test
    void bothPathsAreHeld_onTheWayToANewOne(@ConnectString String servers) throws Exception {
        try (LockClient own = ZkLockClient.connect(servers)) {
            try (Lease old = locks.mutex("/orders/42").acquire();
                    Lease lease = own.mutex("/v2/orders/42").acquire()) {
                old.ensureValid();
                work(lease.token());
            }
        }
        assertEquals(1, written.size());
    }
}
