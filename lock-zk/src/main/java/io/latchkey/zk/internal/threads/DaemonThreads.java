// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import io.latchkey.zk.internal.validity.Clock;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A queue of tasks, and a number of daemon threads that run them. A thread is started when there is work, and ends
 * after ten idle seconds. Submitting never blocks, throws nothing, and runs nothing in the submitting thread. If the
 * machine starts no thread, the task waits for the next one that can be started.
 *
 * <p>All threads of a client are made here. They inherit nothing from the thread that happens to need them first: no
 * thread-locals, no context class loader, no priority, and no access control context, which refers to the class loaders
 * of its callers.
 */
public final class DaemonThreads implements Executor, AutoCloseable {
    private static final long IDLE_SECONDS = 10;
    /** The time until the next attempt after the machine could not start a thread. */
    private static final Duration RETRY = Duration.ofMillis(100);
    /** A task that takes longer is stuck, if other tasks wait for its thread. */
    private static final Duration STUCK = Duration.ofMillis(10);

    private final ThreadPoolExecutor threads;
    private final Clock time;
    /** The maximum number of threads, of which all but the first few replace one that is stuck. */
    private final int most;
    /** The number of tasks that had ended at the last look, while there is a timer for the next one; else -1. */
    private long endedAtLastLook = -1;
    /** Whether there is a timer for the next attempt to start a thread. */
    private boolean startsLater;

    /**
     * @param most the maximum number of threads
     * @param name the name of each thread
     * @param time the clock that schedules the next attempt to start a thread
     */
    public DaemonThreads(int most, String name, Clock time) {
        this(factory(name), most, most, time);
    }

    DaemonThreads(ThreadFactory factory, int usual, int most, Clock time) {
        threads = new ThreadPoolExecutor(
                usual, usual, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
        threads.allowCoreThreadTimeOut(true);
        this.time = time;
        this.most = most;
    }

    /**
     * Returns one thread that is replaced while a task is stuck in it: tasks begin in their order, and promptly.
     *
     * @param most the maximum number of threads, of which all but one are stuck
     */
    public static DaemonThreads prompt(int most, String name, Clock time) {
        return new DaemonThreads(factory(name), 1, most, time);
    }

    /** Returns a factory of threads with this name. */
    // Without a privileged action, a thread refers to the class loaders of the callers on this stack.
    // The priority is set because it would be inherited.
    @SuppressWarnings({"removal", "ThreadPriorityCheck"})
    public static ThreadFactory factory(String name) {
        return task -> AccessController.doPrivileged((PrivilegedAction<Thread>) () -> {
            Thread thread = new Thread(null, task, name, 0, false);
            thread.setDaemon(true);
            thread.setPriority(Thread.NORM_PRIORITY);
            thread.setContextClassLoader(DaemonThreads.class.getClassLoader());
            return thread;
        });
    }

    @Override
    public void execute(Runnable task) {
        // By the pool's own execute, a task may be queued or not when starting a thread throws.
        threads.getQueue().add(task);
        try {
            boolean unused = threads.prestartCoreThread();
        } catch (Throwable noThread) {
            // The machine starts no more threads. A running thread, or the next one that can be started, takes the
            // task.
            quietly(this::startThread);
        }
        if (threads.getCorePoolSize() < most && !threads.getQueue().isEmpty()) {
            quietly(this::watch);
        }
    }

    /** The task is queued: its caller must not take it for one that was refused. */
    private static void quietly(Runnable next) {
        try {
            next.run();
        } catch (Throwable noMemory) {
            // The next task tries again.
        }
    }

    /** Starts the threads that are missing, if tasks wait: those that run may be stuck. */
    private synchronized void startThread() {
        try {
            while (!threads.getQueue().isEmpty() && threads.prestartCoreThread()) {
                // One thread more.
            }
        } catch (Throwable noThread) {
            startLater();
        }
    }

    private void startLater() {
        if (!startsLater) {
            time.after(RETRY, this::startNow);
            startsLater = true;
        }
    }

    private synchronized void startNow() {
        startsLater = false;
        startThread();
    }

    private synchronized void watch() {
        if (endedAtLastLook < 0) {
            time.after(STUCK, this::look);
            endedAtLastLook = threads.getCompletedTaskCount();
        }
    }

    /** Adds a thread if tasks wait and none has ended since the last look. */
    private synchronized void look() {
        boolean stuck = threads.getCompletedTaskCount() == endedAtLastLook;
        endedAtLastLook = -1;
        if (threads.getQueue().isEmpty()) {
            return;
        }
        int present = threads.getCorePoolSize();
        if (stuck && present < most) {
            try {
                threads.setMaximumPoolSize(present + 1);
                threads.setCorePoolSize(present + 1);
            } catch (Throwable noThread) {
                // The next look tries again.
                threads.setCorePoolSize(present);
            }
        }
        if (threads.getCorePoolSize() < most) {
            watch();
        }
    }

    /** Ends the threads as soon as they have nothing to run. Tasks that are submitted later still run. */
    @Override
    public void close() {
        threads.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
    }
}
