// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import io.latchkey.lock.LockClient;
import java.time.Duration;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;

/**
 * Closes the client when the service stops: after the web server has finished its requests, and while scheduled jobs
 * still run, so that they can release what they hold.
 */
final class LocksLifecycle implements SmartLifecycle {
    private final LockClient locks;
    private final Duration grace;
    private volatile boolean running;

    LocksLifecycle(LockClient locks, Duration grace) {
        this.locks = locks;
        this.grace = grace;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        locks.close(grace);
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** Higher phases stop first: the web server's is above this one, those of executors and schedulers are below. */
    @Override
    public int getPhase() {
        return WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE - 1024;
    }
}
