// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import io.latchkey.lock.LockClient;
import java.time.Duration;
import org.springframework.context.SmartLifecycle;

/**
 * The end of the lock client when the application stops: after the web server and listeners have finished their work,
 * and while executors and schedulers still run, so that their tasks can release what they hold.
 */
public final class LatchkeyLifecycle implements SmartLifecycle {
    /**
     * The phase of the client's end. Higher phases stop first: those of web servers, listeners and candidates for a
     * leadership are above it, those of executors and schedulers below.
     */
    public static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 3072;

    private final LockClient client;
    private final Duration grace;
    private volatile boolean running;
    private volatile boolean stopped;

    /**
     * Makes the end of a client.
     *
     * @param client the client
     * @param grace how long its holders may finish
     */
    public LatchkeyLifecycle(LockClient client, Duration grace) {
        this.client = client;
        this.grace = grace;
    }

    /**
     * Notes that the application runs.
     *
     * @throws IllegalStateException if {@link #stop} was called before: the client is closed, and stays so
     */
    @Override
    public void start() {
        if (stopped) {
            throw new IllegalStateException("The lock client was closed when the application context was stopped, and a"
                    + " closed client cannot be opened again. Close the context, and start a new one; or pause the"
                    + " context instead of stopping it, which leaves the client open.");
        }
        running = true;
    }

    /** Closes the client: holders may finish for the time of the grace. */
    @Override
    public void stop() {
        stopped = true;
        client.close(grace);
        running = false;
    }

    /** Returns whether the application has started, and the client is not closed. */
    @Override
    public boolean isRunning() {
        return running;
    }

    /** Returns {@code false}: a context that is paused goes on later, and a client cannot be opened again. */
    @Override
    public boolean isPauseable() {
        return false;
    }

    /** Returns {@link #PHASE}. */
    @Override
    public int getPhase() {
        return PHASE;
    }
}
