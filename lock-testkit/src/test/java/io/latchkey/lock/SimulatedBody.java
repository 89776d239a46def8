// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * A body under a lease, for schedules, which play many bodies in one thread. Its own thread does nothing: the JDK
 * records the interrupt of a thread that is not alive.
 */
public final class SimulatedBody {
    private final BodyInterruption interruption;
    private final Thread thread;

    /** Begins a body under {@code lease}. */
    public SimulatedBody(Lease lease) {
        BodyInterruption[] made = new BodyInterruption[1];
        thread = new Thread(() -> made[0] = new BodyInterruption());
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException impossible) {
            throw new IllegalStateException("nothing interrupts a schedule", impossible);
        }
        interruption = made[0];
        lease.interruptOnLoss(interruption);
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
