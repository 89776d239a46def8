// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.ConnectString;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.FencedStore;
import io.latchkey.testkit.FencedStore.StaleTokenException;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.Reconnects;
import io.latchkey.zk.ZkLocks;
import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of docs/fencing.md, with a holder whose time is over. */
@Tag("slow")
@LatchkeyTest(reconnects = Reconnects.FAST, sessionMillis = 4000)
@Timeout(60)
class FencedOrdersTest {
    @Test
    void storeWithTokensRefusesTheFormerHolder(FaultyClient one, FaultyClient two) throws InterruptedException {
        FencedStore<String> store = new FencedStore<>("order 42");
        Lease stale = one.client().mutex("/orders/42").acquire();
        one.expire(ExpiryOrder.SERVER_FIRST).join();
        new FencedOrders(two.client()).ship(store);
        assertEquals("order 42, shipped", store.look());
        assertThrows(StaleTokenException.class, () -> store.read(stale.token()));
        assertThrows(StaleTokenException.class, () -> store.write("order 42, cancelled", stale.token()));
    }

    @Test
    void guardedWriteOfTheFormerHolderIsRefused(FaultyClient one, FaultyClient two, @ConnectString String servers)
            throws Exception {
        ZooKeeper shell = new ZooKeeper(servers, 4000, event -> {});
        shell.create("/state", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        shell.create("/state/42", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        Lease stale = one.client().mutex("/orders/42").acquire();
        one.expire(ExpiryOrder.SERVER_FIRST).join();
        new FencedOrders(two.client()).ship();
        Exception refused =
                assertThrows(Exception.class, () -> ZkLocks.guarded(stale, Op.setData("/state/42", new byte[0], -1)));
        assertEquals(
                true,
                refused instanceof LeaseLostException
                        || refused instanceof KeeperException.SessionExpiredException
                        || refused instanceof KeeperException.ConnectionLossException,
                refused::toString);
        assertArrayEquals("shipped".getBytes(StandardCharsets.UTF_8), shell.getData("/state/42", false, null));
        shell.close();
    }

    /** The two ways to refuse writes of a former holder. */
    static final class FencedOrders {
        private final LockClient locks;

        FencedOrders(LockClient locks) {
            this.locks = locks;
        }

        /** The store compares tokens. */
        void ship(FencedStore<String> store) throws InterruptedException {
            try (Lease lease = locks.mutex("/orders/42").acquire()) {
                String order = store.read(lease.token()); // from now on the store refuses lower tokens
                store.write(order + ", shipped", lease.token()); // StaleTokenException if a higher one has been here
            }
        }

        /** ZooKeeper checks the lease: the data is a node of the same ensemble. */
        void ship() throws InterruptedException, KeeperException {
            try (Lease lease = locks.mutex("/orders/42").acquire()) {
                byte[] shipped = "shipped".getBytes(StandardCharsets.UTF_8);
                // One transaction; LeaseLostException if the lease is lost, and nothing is written.
                ZkLocks.guarded(lease, Op.setData("/state/42", shipped, -1)); // -1: whatever its version
            }
        }
    }
}
