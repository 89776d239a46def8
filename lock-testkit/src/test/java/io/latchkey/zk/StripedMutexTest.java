// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.SimulatedLocks;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The stripes of docs/recipes/striped-mutex.md: two keys on one of them, a third on another. */
@Timeout(30)
class StripedMutexTest {
    private static Mutex key(LockClient client, String key) {
        return client.stripedMutex("/customers", 4).forKey(key);
    }

    @Test
    void endOfAHolderFreesItsStripeOnly() throws Exception {
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            LockClient first = locks.client("clerk-1");
            Lease jones = key(first, "jones").acquire();
            Lease baker = key(locks.client("clerk-3"), "baker").acquire();
            CompletableFuture<Lease> smith =
                    key(locks.client("clerk-2"), "smith").acquireAsync();
            assertFalse(smith.isDone(), "its key is free, its stripe is not");

            locks.expire(first);

            Lease next = smith.get(10, TimeUnit.SECONDS);
            assertEquals("/customers/1", next.path());
            assertTrue(next.token() > jones.token());
            assertFalse(jones.isValid());
            assertTrue(baker.isValid());
        }
    }
}
