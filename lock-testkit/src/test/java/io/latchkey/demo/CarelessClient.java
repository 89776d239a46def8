// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.ReadWriteLock;
import java.util.List;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;

/** Does the same work without taking any lock. */
record CarelessClient(String name, Site site, Books books) implements Client {
    @Override
    public boolean turn(Function<LockClient, Acquirable> lock, Work work) throws KeeperException, InterruptedException {
        if (books.untilClosing().isZero()) {
            return false;
        }
        try (Hold hold = new NoHold(site, books)) {
            return work.during(hold);
        } catch (KeeperException.ConnectionLossException | KeeperException.SessionExpiredException cutShort) {
            return true;
        }
    }

    private static final class NoHold extends Hold {
        private final Site site;

        NoHold(Site site, Books books) {
            super(books);
            this.site = site;
        }

        @Override
        void write(Op... ops) throws KeeperException, InterruptedException {
            site.write(List.of(ops));
        }

        @Override
        void downgrade(Function<LockClient, ReadWriteLock> lock) {}

        @Override
        public void close() {}
    }
}
