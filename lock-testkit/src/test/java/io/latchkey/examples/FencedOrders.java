// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.FencedStore;
import io.latchkey.zk.ZkLocks;
import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;

/** The two ways to refuse writes of a former holder. */
final class FencedOrders {
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
