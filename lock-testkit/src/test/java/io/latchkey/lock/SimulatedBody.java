// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * A body under a lease, for schedules, which play many bodies in one thread. Its own thread is never started: the
 * JDK records the interrupt of a thread that is not alive.
 */
public final class SimulatedBody {
    private final Thread thread = new Thread(() -> {});

    /** Begins a body under {@code lease}. */
    public SimulatedBody(Lease lease) {
        lease.interruptOnLoss(new BodyInterruption(thread));
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
