// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import io.latchkey.testkit.SimulatedLocks;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Responses or watch events that a {@link FaultProxy} or {@link SimulatedLocks} holds back until {@link #release()}.
 * All frames behind a held one wait with it, because ZooKeeper guarantees their order. Only pings pass, so that the
 * connection stays up.
 */
public final class HeldFrames implements AutoCloseable {
    private final String description;
    private final Consumer<HeldFrames> releaser;
    private final CompletableFuture<Void> caught = new CompletableFuture<>();
    private boolean holding = true;

    /**
     * Starts to hold frames.
     *
     * @param description for messages
     * @param releaser releases all held frames; called by each {@link #release()}
     */
    public HeldFrames(String description, Consumer<HeldFrames> releaser) {
        this.description = description;
        this.releaser = releaser;
    }

    /**
     * Returns a future of the first held frame. Actions that depend on it run on the thread of the proxy or the
     * simulation and must not block.
     *
     * @return completes when the first frame has been held back: the server has processed the request, the client does
     *     not know; never completes if no such frame arrives
     */
    public CompletableFuture<Void> firstCaught() {
        return caught;
    }

    /**
     * Releases all held frames, in order, and holds nothing from now on. Returns when the bytes have been queued for
     * sending. Has no effect the second time, or when the proxy is closed.
     */
    public void release() {
        releaser.accept(this);
    }

    /** The same as {@link #release()}. */
    @Override
    public void close() {
        release();
    }

    /** Returns whether a frame at the head of its queue must wait. Called on the proxy's thread. */
    boolean caught() {
        if (holding) {
            caught.complete(null);
        }
        return holding;
    }

    /** Stops holding. Called on the proxy's thread. */
    void stop() {
        holding = false;
    }

    boolean isHolding() {
        return holding;
    }

    @Override
    public String toString() {
        return description;
    }
}
