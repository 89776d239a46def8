// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import io.latchkey.testkit.Eventually;
import java.time.Duration;

/** A follower that is cut off from its leader, from {@link EmbeddedEnsemble#cutOffFromLeader}. Closing it heals it. */
public final class FollowerPartition implements AutoCloseable {
    private final EmbeddedEnsemble ensemble;
    private final int follower;

    FollowerPartition(EmbeddedEnsemble ensemble, int follower) {
        this.ensemble = ensemble;
        this.follower = follower;
    }

    /** {@return the number of the server that is cut off} */
    public int follower() {
        return follower;
    }

    /**
     * Waits until the follower has noticed the partition and stopped serving: ten ticks after the cut.
     *
     * @param within the maximum time to wait
     * @throws AssertionError if it still serves after that time
     * @throws InterruptedException if interrupted while waiting
     */
    public void awaitNoticed(Duration within) throws InterruptedException {
        Eventually.holds(this + " noticed", within, () -> !ensemble.isServing(follower));
    }

    /**
     * Waits, after {@link #heal}, until the follower serves again: at once if it had not noticed, else up to 2 s.
     *
     * @param within the maximum time to wait
     * @throws AssertionError if it does not after that time
     * @throws InterruptedException if interrupted while waiting
     */
    public void awaitHealed(Duration within) throws InterruptedException {
        Eventually.holds(this + " healed", within, () -> ensemble.isServing(follower));
    }

    /** What was stopped travels on at once. Returns before the follower serves again. Does nothing the second time. */
    public void heal() {
        ensemble.mend(follower);
    }

    @Override
    public void close() {
        heal();
    }

    @Override
    public String toString() {
        return "partition of follower " + follower;
    }
}
