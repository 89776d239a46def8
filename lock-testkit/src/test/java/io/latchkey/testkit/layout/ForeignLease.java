// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.layout;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** What another library has granted; lost when that says that its session is. */
final class ForeignLease implements Lease {
    private final ForeignClient client;
    private final String id;
    private final String path;
    private final CompletableFuture<LossCause> lost = new CompletableFuture<>();
    private LeaseState state = LeaseState.HELD;

    ForeignLease(ForeignClient client, String id, String path) {
        this.client = client;
        this.id = id;
        this.path = path;
    }

    void lose() {
        synchronized (this) {
            if (state != LeaseState.HELD) {
                return;
            }
            state = LeaseState.LOST;
        }
        lost.completeAsync(() -> LossCause.SESSION_EXPIRED);
    }

    @Override
    public String path() {
        return path;
    }

    /** Not supported. */
    @Override
    public long token() {
        return 1;
    }

    @Override
    public synchronized LeaseState state() {
        return state;
    }

    @Override
    public synchronized boolean isValid() {
        return state == LeaseState.HELD;
    }

    @Override
    public Duration remaining() {
        return isValid() ? Duration.ofDays(1) : Duration.ZERO;
    }

    @Override
    public void ensureValid() {
        if (!isValid()) {
            throw new LeaseLostException("lost or released", LossCause.SESSION_EXPIRED);
        }
    }

    @Override
    public CompletableFuture<LossCause> lost() {
        return lost.copy();
    }

    @Override
    public CompletableFuture<ReleaseOutcome> releaseAsync() {
        synchronized (this) {
            if (state != LeaseState.HELD) {
                return CompletableFuture.completedFuture(
                        state == LeaseState.LOST ? ReleaseOutcome.LOST : ReleaseOutcome.ALREADY_RELEASED);
            }
            state = LeaseState.RELEASED;
        }
        return client.release(id).thenApply(done -> ReleaseOutcome.RELEASED);
    }

    @Override
    public ReleaseOutcome release() {
        return releaseAsync().join();
    }

    @Override
    public void close() {
        release();
    }
}
