// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import io.latchkey.testkit.proxy.WireRecord.Request;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * A fault that strikes once, or an event on the wire that is awaited, from {@link FaultProxy} or
 * {@link io.latchkey.testkit.SimulatedLocks}. Closing it takes it back.
 */
public final class Fault implements AutoCloseable {
    private final String description;
    private final CompletableFuture<Request> struck = new CompletableFuture<>();

    /**
     * A fault that has not struck.
     *
     * @param description for messages
     */
    public Fault(String description) {
        this.description = description;
    }

    /**
     * Tells when it has struck. Actions that depend on it run on the thread of the proxy or the simulation and must not
     * block.
     *
     * @return completes with the request it was about. Completes exceptionally if it cannot strike any more: with a
     *     {@link CancellationException} when it was taken back or the proxy was closed, with an
     *     {@link IllegalStateException} when the connection ended by something else in between, or in a simulation
     *     when another fault struck the same request, or with what its {@link RequestMatch} has thrown
     */
    public CompletableFuture<Request> struck() {
        return struck;
    }

    /**
     * Waits until it has struck.
     *
     * @param within how long to wait at most
     * @return the request it was about
     * @throws AssertionError if it has not struck within that time or cannot strike any more
     * @throws InterruptedException if interrupted while waiting
     */
    public Request await(Duration within) throws InterruptedException {
        try {
            return struck.get(within.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError("not within " + within.toMillis() + " ms: " + description, e);
        } catch (ExecutionException | CancellationException e) {
            throw new AssertionError("cannot strike any more: " + description, e);
        }
    }

    /** Takes it back if it has not struck yet. */
    @Override
    public void close() {
        struck.cancel(false);
    }

    boolean isArmed() {
        return !struck.isDone();
    }

    @Override
    public String toString() {
        return description;
    }

    /**
     * Responses or watch events that a {@link FaultProxy} or {@link io.latchkey.testkit.SimulatedLocks} holds back
     * until {@link #release()}. All frames behind a held one wait with it, because ZooKeeper guarantees their order.
     * Only pings pass, so that the connection stays up.
     */
    public static final class HeldFrames implements AutoCloseable {
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
         * @return completes when the first frame has been held back: the server has processed the request, the client
         *     does not know; never completes if no such frame arrives; completes exceptionally with what its
         *     {@link RequestMatch} has thrown, and then holds nothing
         */
        public CompletableFuture<Void> firstCaught() {
            return caught;
        }

        /**
         * Releases all held frames, in order, and holds nothing from now on. Returns when the bytes have been queued
         * for sending. Has no effect the second time, or when the proxy is closed.
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

        @Override
        public String toString() {
            return description;
        }
    }
}
