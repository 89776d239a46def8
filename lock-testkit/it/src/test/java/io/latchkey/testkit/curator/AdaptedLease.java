// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.lock.ReleaseRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Supplier;

/** What another library has granted, lost when that says so. */
public final class AdaptedLease implements Lease {
    private final String path;
    private final Supplier<CompletableFuture<ReleaseOutcome>> release;
    private final CompletableFuture<LossCause> lost = new CompletableFuture<>();
    private LeaseState state = LeaseState.HELD;

    public AdaptedLease(String path, Supplier<CompletableFuture<ReleaseOutcome>> release) {
        this.path = path;
        this.release = release;
    }

    public void lose(LossCause cause) {
        synchronized (this) {
            if (!isValid()) {
                return;
            }
            state = LeaseState.LOST;
        }
        ForkJoinPool.commonPool().execute(() -> lost.complete(cause));
    }

    synchronized void suspend() {
        state = state == LeaseState.HELD ? LeaseState.SUSPECT : state;
    }

    synchronized void resume() {
        state = state == LeaseState.SUSPECT ? LeaseState.HELD : state;
    }

    @Override
    public String path() {
        return path;
    }

    /** Others have none. */
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

    /** Others know no deadline. */
    @Override
    public Duration remaining() {
        return isValid() ? Duration.ofSeconds(1) : Duration.ZERO;
    }

    @Override
    public Optional<LossCause> lossCause() {
        return state() == LeaseState.LOST ? Optional.of(lost.join()) : Optional.empty();
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
    public CompletableFuture<ReleaseRequest> releaseRequested() {
        throw OtherLibrary.hasNone();
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
        return release.get();
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
