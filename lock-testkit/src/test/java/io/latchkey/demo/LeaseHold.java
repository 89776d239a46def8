// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.testkit.history.Attempt;
import io.latchkey.zk.ZkLocks;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;

/** Writes under a lease, and records its grant, checks, loss and release for the check at the end. */
final class LeaseHold extends Hold {
    private final LockClient locks;
    private final Attempt attempt;
    private final Books books;
    private Lease lease;

    LeaseHold(Lease lease, LockClient locks, Attempt attempt, Books books) {
        super(books);
        this.locks = locks;
        this.attempt = attempt;
        this.books = books;
        attempt.granted(lease.token());
        this.lease = recorded(lease);
    }

    private Lease recorded(Lease fresh) {
        var unused = fresh.lost().thenAccept(cause -> attempt.lost(cause.name()));
        return fresh;
    }

    /**
     * ZooKeeper carries it out only if it still knows of the lease: the client itself may not yet have heard of its
     * end.
     */
    @Override
    void write(Op... ops) throws KeeperException, InterruptedException {
        try {
            long before = attempt.beforeLook();
            lease.ensureValid();
            attempt.valid(before);
            ZkLocks.guarded(lease, ops);
        } catch (LeaseLostException tooLate) {
            books.refused(); // nothing was written
            throw tooLate;
        }
    }

    @Override
    void downgrade(Function<LockClient, ReadWriteLock> lock) {
        lease = recorded(lock.apply(locks).downgrade(lease));
    }

    @Override
    public void close() {
        attempt.releasing();
        attempt.released(lease.release());
    }
}
