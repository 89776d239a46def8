package io.latchkey.demo;

import io.latchkey.lock.Lease;
import io.latchkey.testkit.Attempt;
import java.util.concurrent.CompletableFuture;

/** A lease of which everything is written down for the check at the end: that it was granted, valid, lost, let go. */
record Hold(Lease lease, Attempt attempt, CompletableFuture<Void> lossRecorded) implements AutoCloseable {
    static Hold begin(Lease lease, Attempt attempt) {
        attempt.granted(lease.token());
        return new Hold(lease, attempt, lease.lost().thenAccept(cause -> attempt.lost(cause.name())));
    }

    /** As {@link Lease#ensureValid()}. */
    void ensureValid() {
        long before = attempt.beforeLook();
        lease.ensureValid();
        attempt.valid(before);
    }

    @Override
    public void close() {
        attempt.releasing();
        attempt.released(lease.release());
    }
}
