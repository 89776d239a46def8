// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An executor that runs tasks one at a time, in the order of submission, without a thread of its own. The submitting
 * thread runs its task, or leaves it to the thread that is already running tasks. A thread runs at most {@value #MOST}
 * tasks in a row and then leaves the rest to the relief executor, so that no caller is delayed while other threads
 * submit more. A thread whose stack has too little room leaves all of them.
 *
 * <p>A task that throws has left the state of its owner unknown: it is the last one. Tasks that are waiting then, or
 * submitted later, are dropped.
 */
public final class SerialExecutor implements Executor {
    /** Takes some milliseconds at most; enough for the tasks that a request of a multi-lock or a reconnect submits. */
    static final int MOST = 64;

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    /** The number of submitted tasks that have not ended. The thread that raises it from zero runs them. */
    private final AtomicInteger unfinished = new AtomicInteger();

    /** Read and written by tasks only, and between them. */
    private Runnable afterEach = () -> {};

    private final Executor relief;
    private final Consumer<Throwable> onFailure;
    private volatile @Nullable Thread running;
    private volatile boolean failed;

    /**
     * @param relief runs the tasks that a submitting thread leaves; if it throws, the submitting thread runs them
     * @param onFailure takes what the last task has thrown, in its thread
     */
    public SerialExecutor(Executor relief, Consumer<Throwable> onFailure) {
        this.relief = relief;
        this.onFailure = onFailure;
    }

    /**
     * @throws StackOverflowError if the stack has not even room to leave the task to the relief executor; it will not run
     */
    @Override
    public void execute(Runnable task) {
        if (!isRunningHere()) {
            StackRoom.checkForAPool();
        }
        if (mayRun(task) && (StackRoom.isEnough() || !isRelieved())) {
            runTasks(MOST);
        }
    }

    /**
     * Executes without a trial of the stack. The current thread has just tried its own, or its stack is nearly empty.
     * A trial writes over much of a processor's nearest cache, so each one counts.
     */
    public void executeWithRoom(Runnable task) {
        if (mayRun(task)) {
            runTasks(MOST);
        }
    }

    /**
     * Runs {@code task} behind each task from the present one on, as a part of it. Called by a task, in whose thread
     * the next one sees it.
     */
    public void afterEachTask(Runnable task) {
        afterEach = task;
    }

    /** Adds the task, and returns whether no other thread runs tasks now. */
    private boolean mayRun(Runnable task) {
        if (failed) {
            return false;
        }
        try {
            tasks.add(task);
        } catch (Throwable noRoom) {
            fail(noRoom);
            return false;
        }
        return unfinished.getAndIncrement() == 0;
    }

    /** Returns whether the current thread is running one of the tasks, so that waiting for another would never end. */
    public boolean isRunningHere() {
        return running == Thread.currentThread();
    }

    private void runTasks(int most) {
        int left = most;
        do {
            if (left-- == 0 && isRelieved()) {
                return;
            }
            running = Thread.currentThread();
            try {
                tasks.remove().run();
                afterEach.run();
            } catch (Throwable unexpected) {
                fail(unexpected);
            } finally {
                running = null;
            }
            // A failed executor stays busy, so that no thread runs what is submitted later.
        } while (!failed && unfinished.decrementAndGet() > 0);
    }

    private boolean isRelieved() {
        try {
            relief.execute(() -> runTasks(Integer.MAX_VALUE));
            return true;
        } catch (Throwable noThread) {
            return false;
        }
    }

    /**
     * Ends the executor, as something that is part of its owner's work has failed: a task, or what submits one. The
     * first failure counts.
     */
    public void fail(Throwable why) {
        synchronized (this) {
            if (failed) {
                return;
            }
            failed = true;
        }
        tasks.clear();
        onFailure.accept(why);
    }
}
