// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.spi.LossHandler;
import io.latchkey.lock.spi.LossNotifier;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

/** A lease that records the results of its holder's checks, its loss and its release. */
final class RecordedLease implements Lease, LossNotifier {
    private final Attempt attempt;
    private final Lease lease;
    private final CompletionStage<LossCause> told;
    private final AtomicBoolean releasing = new AtomicBoolean();

    /** Records the grant. */
    static RecordedLease granted(Attempt attempt, Lease lease) {
        attempt.granted(lease.token());
        return new RecordedLease(attempt, lease);
    }

    private RecordedLease(Attempt attempt, Lease lease) {
        this.attempt = attempt;
        this.lease = lease;
        this.told = lease.lost().thenApply(cause -> {
            attempt.lost(cause.name());
            return cause;
        });
        if (!isValid() && !told.toCompletableFuture().isDone()) {
            attempt.lost(HistoryEvent.FOUND_BY_LOOK);
        }
    }

    RecordedLease downgradedBy(ReadWriteLock lock) {
        long before = attempt.beforeLook();
        Lease read = lock.downgrade(lease);
        releasing.set(true);
        return new RecordedLease(attempt.downgraded(before), read);
    }

    @Override
    public boolean isValid() {
        long before = attempt.beforeLook();
        boolean valid = lease.isValid();
        if (valid) {
            attempt.valid(before);
        }
        return valid;
    }

    @Override
    public Duration remaining() {
        long before = attempt.beforeLook();
        Duration remaining = lease.remaining();
        if (remaining.compareTo(Duration.ZERO) > 0) {
            attempt.valid(before);
        }
        return remaining;
    }

    @Override
    public Optional<LossCause> lossCause() {
        return lease.lossCause();
    }

    @Override
    public void ensureValid() {
        long before = attempt.beforeLook();
        lease.ensureValid();
        attempt.valid(before);
    }

    @Override
    public ReleaseOutcome release() {
        boolean first = beginRelease();
        ReleaseOutcome outcome = lease.release();
        if (first) {
            attempt.released(outcome);
        }
        return outcome;
    }

    @Override
    public CompletionStage<ReleaseOutcome> releaseAsync() {
        boolean first = beginRelease();
        CompletionStage<ReleaseOutcome> outcome = lease.releaseAsync();
        return first
                ? outcome.thenApply(known -> {
                    attempt.released(known);
                    return known;
                })
                : outcome;
    }

    private boolean beginRelease() {
        boolean first = releasing.compareAndSet(false, true);
        if (first) {
            attempt.releasing();
        }
        return first;
    }

    @Override
    public void close() {
        if (beginRelease()) {
            attempt.released(lease.release());
        }
    }

    @Override
    public String path() {
        return lease.path();
    }

    @Override
    public long token() {
        return lease.token();
    }

    @Override
    public LeaseState state() {
        return lease.state();
    }

    /** The loss is recorded before the holder is notified. */
    @Override
    public CompletionStage<LossCause> lost() {
        return told;
    }

    @Override
    public void onLoss(LossHandler handler) {
        LossNotifier.register(lease, handler);
    }

    @Override
    public CompletionStage<ReleaseRequest> releaseRequested() {
        return lease.releaseRequested();
    }

    @Override
    public String toString() {
        return lease.toString();
    }
}
