// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Contender;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseState;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A lock within this process with one fault of the caller's choice. A request is in its queue when
 * {@link #acquireAsync} returns.
 */
final class BrokenLock implements Acquirable {
    /** What it does wrong. */
    enum Flaw {
        /** Nothing. */
        NONE,
        /** Lets two hold at a time. */
        GRANTS_TWICE,
        /** Serves the last that came first. */
        LAST_COME_FIRST,
        /** Wakes no waiter when it is released. */
        FORGETS_RELEASES,
        /** Refuses a try without a timeout although it is free. */
        REFUSES,
        /** Gives every lease a lower token. */
        TOKENS_FALL
    }

    private final Flaw flaw;
    private final List<CompletableFuture<Lease>> waiting = new ArrayList<>();
    private int holders;
    private long tokens = 1000;

    BrokenLock(Flaw flaw) {
        this.flaw = flaw;
    }

    @Override
    public CompletableFuture<Lease> acquireAsync() {
        CompletableFuture<Lease> asked = new CompletableFuture<>();
        waiting.add(asked);
        serve();
        return asked;
    }

    private void serve() {
        int most = flaw == Flaw.GRANTS_TWICE ? 2 : 1;
        while (holders < most && !waiting.isEmpty()) {
            holders++;
            tokens += flaw == Flaw.TOKENS_FALL ? -1 : 1;
            waiting.remove(flaw == Flaw.LAST_COME_FIRST ? waiting.size() - 1 : 0)
                    .complete(new OneLease(tokens));
        }
    }

    @Override
    public Lease acquire() {
        return acquireAsync().getNow(null);
    }

    @Override
    public Optional<Lease> tryAcquire() {
        boolean free = holders == 0 && flaw != Flaw.REFUSES;
        return free ? Optional.of(acquire()) : Optional.empty();
    }

    @Override
    public Optional<Lease> tryAcquire(Duration timeout) {
        return tryAcquire();
    }

    @Override
    public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout) {
        return CompletableFuture.completedFuture(tryAcquire());
    }

    @Override
    public List<Contender> queue() {
        return List.of();
    }

    private final class OneLease implements Lease {
        private final long token;

        private OneLease(long token) {
            this.token = token;
        }

        @Override
        public ReleaseOutcome release() {
            holders--;
            if (flaw != Flaw.FORGETS_RELEASES) {
                serve();
            }
            return ReleaseOutcome.RELEASED;
        }

        @Override
        public CompletableFuture<ReleaseOutcome> releaseAsync() {
            return CompletableFuture.completedFuture(release());
        }

        @Override
        public void close() {
            release();
        }

        @Override
        public String path() {
            return "/broken";
        }

        @Override
        public long token() {
            return token;
        }

        @Override
        public LeaseState state() {
            return LeaseState.HELD;
        }

        @Override
        public boolean isValid() {
            return true;
        }

        @Override
        public Duration remaining() {
            return Duration.ofSeconds(1);
        }

        @Override
        public void ensureValid() {}

        @Override
        public CompletableFuture<LossCause> lost() {
            return new CompletableFuture<>();
        }
    }
}
