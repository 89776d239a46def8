// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import java.util.concurrent.locks.Lock;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;

/** {@link InterProcessReadWriteLock}. */
record CuratorReadWriteLock(CuratorLockClient client, String path) implements OtherLibrary.ReadersAndWriters {
    @Override
    public Acquirable readLock() {
        return new CuratorAcquirable(client, path) {
            @Override
            InterProcessLock lock() {
                return new InterProcessReadWriteLock(client().framework(), path()).readLock();
            }
        };
    }

    @Override
    public Acquirable writeLock() {
        return new CuratorAcquirable(client, path) {
            @Override
            InterProcessLock lock() {
                return new InterProcessReadWriteLock(client().framework(), path()).writeLock();
            }
        };
    }

    @Override
    public Lease downgrade(Lease write) {
        throw new UnsupportedOperationException("Curator downgrades by the thread: see the view");
    }

    @Override
    public java.util.concurrent.locks.ReadWriteLock asReadWriteLock() {
        InterProcessReadWriteLock shared = client.readWriteView(path);
        return new java.util.concurrent.locks.ReadWriteLock() {
            @Override
            public Lock readLock() {
                return new CuratorView(shared.readLock());
            }

            @Override
            public Lock writeLock() {
                return new CuratorView(shared.writeLock());
            }
        };
    }
}
