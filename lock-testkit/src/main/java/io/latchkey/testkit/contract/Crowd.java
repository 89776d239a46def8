// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.testkit.contract.LockFixture.Feature;
import io.latchkey.testkit.time.Eventually;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Callers in this process that share a lock, with a count of how much is held at a time. */
final class Crowd {
    private final LockFixture fixture;
    private final int allowed;
    private final AtomicInteger callers = new AtomicInteger();
    private final AtomicInteger held = new AtomicInteger();
    private final AtomicLong newestToken = new AtomicLong(Long.MIN_VALUE);
    private final AtomicLong turnsTaken = new AtomicLong();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();

    Crowd(LockFixture fixture, int allowed) {
        this.fixture = fixture;
        this.allowed = allowed;
    }

    /**
     * Acquires and releases the lock, which holds so much, again and again. Each lease is held until all other callers
     * stand in the queue too: a request that is granted too early meets a holder. If one of them fails, the others go
     * on without waiting for it.
     */
    @Nullable
    Void takeTurns(Acquirable lock, int holds, int turns) throws Exception {
        try {
            takeAll(lock, holds, turns);
        } catch (Throwable failed) {
            wrong.add(failed.toString());
            throw failed;
        }
        return null;
    }

    private void takeAll(Acquirable lock, int holds, int turns) throws InterruptedException {
        callers.incrementAndGet();
        for (int turn = 0; turn < turns; turn++) {
            try (Lease lease = lock.acquire()) {
                checkCount(held.addAndGet(holds));
                if (holds == allowed && !fixture.lacking().containsKey(Feature.TOKENS)) {
                    checkToken(lease.token());
                }
                Eventually.holds(
                        "all callers stand in the queue",
                        fixture.patience(),
                        () -> !wrong.isEmpty() || lock.queue().size() >= callers.get());
                turnsTaken.incrementAndGet();
                held.addAndGet(-holds);
            }
        }
        callers.decrementAndGet();
    }

    private void checkCount(int now) {
        if (now > allowed) {
            wrong.add(now + " at a time, of " + allowed);
        }
    }

    private void checkToken(long token) {
        long newest = newestToken.getAndAccumulate(token, Math::max);
        if (token <= newest) {
            wrong.add("token " + token + " granted after " + newest);
        }
    }

    long turnsTaken() {
        return turnsTaken.get();
    }

    void assertNothingWrong() {
        assertEquals(List.of(), List.copyOf(wrong));
    }
}
