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
     * Holds from now on.
     *
     * @param description for messages
     * @param releaser lets everything pass that was held; called by each {@link #release()}
     */
    public HeldFrames(String description, Consumer<HeldFrames> releaser) {
        this.description = description;
        this.releaser = releaser;
    }

    /**
     * Tells when something is held. Actions that depend on it run on the thread of the proxy or the simulation and must
     * not block.
     *
     * @return completes when the first frame has been held back: the server has done its part, the client does not
     *     know; never if nothing of the sort comes
     */
    public CompletableFuture<Void> firstCaught() {
        return caught;
    }

    /**
     * Lets everything pass that was held, in order, and holds nothing from now on. Returns when the bytes are on their
     * way. Does nothing the second time, or when the proxy is closed.
     */
    public void release() {
        releaser.accept(this);
    }

    /** The same as {@link #release()}. */
    @Override
    public void close() {
        release();
    }

    /** On the proxy's thread: whether a frame that has come to the head of its queue must wait. */
    boolean caught() {
        if (holding) {
            caught.complete(null);
        }
        return holding;
    }

    /** On the proxy's thread. */
    void letGo() {
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
