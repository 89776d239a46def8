// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.ReadWriteLock;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;

/** A client's turn while it lasts: the way in which it may write. */
abstract class Hold implements AutoCloseable {
    private final Books books;

    Hold(Books books) {
        this.books = books;
    }

    /** Writes all or nothing. */
    abstract void write(Op... ops) throws KeeperException, InterruptedException;

    /**
     * As {@link #write}, and notes in the books what became of it: afterwards ZooKeeper must have a node of that name
     * or not.
     */
    final void enter(String entry, Op... ops) throws KeeperException, InterruptedException {
        try {
            write(ops);
            books.confirmed(entry);
        } catch (KeeperException.ConnectionLossException | KeeperException.SessionExpiredException unknown) {
            books.unclear(entry); // written or not: ZooKeeper knows
            throw unknown;
        }
    }

    /** From here on only reads, beside other readers. */
    abstract void downgrade(Function<LockClient, ReadWriteLock> lock);

    @Override
    public abstract void close();
}
