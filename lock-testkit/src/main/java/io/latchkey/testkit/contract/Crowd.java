// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Counts, in this process, how much is held at a time. */
final class Crowd {
    private final int allowed;
    private final AtomicInteger held = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    Crowd(int allowed) {
        this.allowed = allowed;
    }

    /** Takes the lock, which holds so much, again and again. */
    @Nullable
    Void takeTurns(Acquirable lock, int holds, int turns) throws InterruptedException {
        for (int turn = 0; turn < turns; turn++) {
            Lease lease = lock.acquire();
            most.accumulateAndGet(held.addAndGet(holds), Math::max);
            lock.queue(); // holds for as long as a question takes
            held.addAndGet(-holds);
            lease.close();
        }
        return null;
    }

    void assertNeverTooMany() {
        assertTrue(most.get() <= allowed, most + " at a time, of " + allowed);
    }
}
