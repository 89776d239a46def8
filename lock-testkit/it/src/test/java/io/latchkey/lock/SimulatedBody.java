// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import io.latchkey.lock.spi.LossNotifier;

/**
 * A body under a lease, for schedules, which play many bodies in one thread. Its own thread is never started: the
 * JDK records the interrupt of a thread that is not alive.
 */
public final class SimulatedBody {
    private final Thread thread;

    /** Begins a body under {@code lease}. */
    public SimulatedBody(Lease lease) {
        this(lease, new Thread(() -> {}));
    }

    /** Begins a body of {@code thread} under {@code lease}. */
    public SimulatedBody(Lease lease, Thread thread) {
        this.thread = thread;
        LossNotifier.register(lease, new BodyInterruption(thread)::lost);
    }

    /** Runs {@code body} under {@code lease} in this thread, and releases, as a call with {@link OnLoss#INTERRUPT}. */
    public static void run(Lease lease, Runnable body) {
        String unused = BodyInterruption.<String, RuntimeException>call(lease, held -> {
            body.run();
            return "";
        });
    }

    /** Returns whether its thread has been interrupted. */
    public boolean isInterrupted() {
        return thread.isInterrupted();
    }
}
