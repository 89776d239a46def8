// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;

/** What Curator has granted, lost when Curator says {@code LOST}. Its request's thread releases it. */
final class CuratorLease implements Lease {
    private final CuratorRequest request;
    private final CompletableFuture<LossCause> lost = new CompletableFuture<>();
    private LeaseState state = LeaseState.HELD;

    CuratorLease(CuratorRequest request) {
        this.request = request;
    }

    CuratorRequest request() {
        return request;
    }

    void lose(LossCause cause) {
        synchronized (this) {
            if (!isValid()) {
                return;
            }
            state = LeaseState.LOST;
        }
        ForkJoinPool.commonPool().execute(() -> lost.complete(cause));
        var unused = request.letGo();
    }

    synchronized void suspend() {
        state = state == LeaseState.HELD ? LeaseState.SUSPECT : state;
    }

    synchronized void resume() {
        state = state == LeaseState.SUSPECT ? LeaseState.HELD : state;
    }

    @Override
    public String path() {
        return request.path();
    }

    /** Curator has none. */
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
        return state == LeaseState.HELD || state == LeaseState.SUSPECT;
    }

    /** Curator knows no deadline. */
    @Override
    public Duration remaining() {
        return isValid() ? Duration.ofSeconds(1) : Duration.ZERO;
    }

    @Override
    public void ensureValid() {
        switch (state()) {
            case LOST -> throw new LeaseLostException("lost: " + path(), lost.join());
            case RELEASED -> throw new IllegalStateException("released: " + path());
            case HELD, SUSPECT -> {}
        }
    }

    @Override
    public CompletableFuture<LossCause> lost() {
        return lost.copy();
    }

    @Override
    public CompletableFuture<ReleaseOutcome> releaseAsync() {
        synchronized (this) {
            if (state == LeaseState.LOST) {
                return CompletableFuture.completedFuture(ReleaseOutcome.LOST);
            } else if (state == LeaseState.RELEASED) {
                return CompletableFuture.completedFuture(ReleaseOutcome.ALREADY_RELEASED);
            }
            state = LeaseState.RELEASED;
        }
        return request.letGo();
    }

    @Override
    public ReleaseOutcome release() {
        return CuratorRequest.uninterruptibly(releaseAsync());
    }

    @Override
    public void close() {
        release();
    }
}
