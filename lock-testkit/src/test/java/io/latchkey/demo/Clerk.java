// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import org.apache.zookeeper.KeeperException;

/**
 * Sells one piece: reads the stock, waits for some milliseconds, and writes the rest. If two clerks do that at the same
 * time, one overwrites the sale of the other.
 */
record Clerk(Warehouse warehouse) implements Role {
    static Mutex lock(LockClient locks) {
        return locks.mutex("/stock-lock");
    }

    @Override
    public boolean once(Client client, String order) throws KeeperException, InterruptedException {
        return client.turn(Clerk::lock, hold -> {
            int stock = warehouse.stock();
            if (stock == 0) {
                return false;
            }
            Pause.think();
            hold.enter(order, warehouse.sale(order, stock - 1));
            return true;
        });
    }
}
