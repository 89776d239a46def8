// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads on which users' code runs, or from which it is handed to the user's executor. Submitting never blocks,
 * throws nothing, and runs nothing in the submitting thread, which may be executing a task of the engine. The user's
 * executor is called from these threads because its {@code execute} is user code, too: it may run the task in place,
 * block, or throw. A task that it refuses is run here.
 */
public final class CallbackThreads implements Executor, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CallbackThreads.class);
    private static final int THREADS = 4;
    /** The time until the next attempt after the machine could not start a thread. */
    private static final Duration RETRY = Duration.ofMillis(100);

    private final ThreadPoolExecutor threads;
    private final Optional<Executor> given;
    private final Clock time;
    private final AtomicBoolean warned = new AtomicBoolean();

    /**
     * @param name the threads' name
     * @param given the user's executor; empty to run tasks on these threads
     * @param time the clock that schedules the next attempt to start a thread
     */
    public CallbackThreads(String name, Optional<Executor> given, Clock time) {
        this(DaemonThreads.pool(THREADS, name), given, time);
    }

    CallbackThreads(ThreadPoolExecutor threads, Optional<Executor> given, Clock time) {
        this.threads = threads;
        this.given = given;
        this.time = time;
    }

    @Override
    public void execute(Runnable task) {
        Runnable here = given.isPresent() ? () -> handTo(given.get(), task) : task;
        try {
            threads.execute(here);
        } catch (Throwable noThread) {
            // The machine starts no more threads. A running thread, or the next one that can be started, takes the
            // task.
            threads.getQueue().add(here);
            startThread();
        }
    }

    private void startThread() {
        if (threads.getPoolSize() > 0) {
            return;
        }
        try {
            threads.prestartCoreThread();
        } catch (Throwable noThread) {
            LOG.debug("No thread for callbacks can be started; trying again", noThread);
            time.after(RETRY, this::startThread);
        }
    }

    /**
     * Runs the task on {@code executor}, or here if it refuses. An executor may have begun or queued a task that it
     * then refuses: the first to begin it runs it.
     */
    private void handTo(Executor executor, Runnable task) {
        AtomicBoolean begun = new AtomicBoolean();
        Runnable once = () -> {
            if (begun.compareAndSet(false, true)) {
                task.run();
            }
        };
        try {
            executor.execute(once);
        } catch (Throwable refused) {
            if (warned.compareAndSet(false, true)) {
                LOG.warn(
                        "The callback executor {} refused a task, which runs on a thread of the lock client instead."
                                + " Logged once.",
                        executor,
                        refused);
            }
            once.run();
        }
    }

    /** Ends the threads as soon as they have nothing to run. Tasks that are submitted later still run. */
    @Override
    public void close() {
        threads.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
    }
}
