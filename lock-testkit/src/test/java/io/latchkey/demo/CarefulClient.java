// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.testkit.history.Attempt;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException;

/** Takes the lock for each piece of work, and writes nothing that the lease does not cover. */
record CarefulClient(String name, LockClient locks, Books books) implements Client {
    @Override
    public boolean turn(Function<LockClient, Acquirable> lock, Work work) throws KeeperException, InterruptedException {
        Duration left = books.untilClosing();
        if (left.isZero()) {
            return false;
        }
        Attempt attempt = books.attempt(name);
        Optional<Lease> granted = lock.apply(locks).tryAcquire(left);
        if (granted.isEmpty()) {
            attempt.gaveUp("closing time");
            return false;
        }
        try (Hold hold = new LeaseHold(granted.get(), locks, attempt, books)) {
            books.granted(name);
            return work.during(hold);
        } catch (LeaseLostException
                | KeeperException.ConnectionLossException
                | KeeperException.SessionExpiredException cutShort) {
            return true; // the books know what became of it; the next turn is another try
        }
    }
}
