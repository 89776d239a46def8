// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An executor that runs tasks one at a time, in the order of submission, without a thread of its own. The submitting
 * thread runs its task, or leaves it to the thread that is already running tasks. A thread runs at most {@value #MOST}
 * tasks in a row and then leaves the rest to the relief executor, so that no caller is delayed while other threads
 * submit more.
 *
 * <p>A task that throws does not keep the tasks behind it from running.
 */
public final class SerialExecutor implements Executor {
    /** Takes some milliseconds at most; enough for the tasks that a request of a multi-lock or a reconnect submits. */
    static final int MOST = 64;

    private static final Logger LOG = LoggerFactory.getLogger(SerialExecutor.class);

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    /** The number of submitted tasks that have not ended. The thread that raises it from zero runs them. */
    private final AtomicInteger unfinished = new AtomicInteger();

    private final Executor relief;
    private volatile @Nullable Thread running;

    /**
     * @param relief runs the tasks that a submitting thread leaves; if it throws, the submitting thread runs them
     */
    public SerialExecutor(Executor relief) {
        this.relief = relief;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        if (unfinished.getAndIncrement() == 0) {
            runTasks(MOST);
        }
    }

    /** Returns whether the current thread is running one of the tasks, so that waiting for another would never end. */
    public boolean isRunningHere() {
        return Thread.currentThread().equals(running);
    }

    private void runTasks(int most) {
        int left = most;
        do {
            if (left-- == 0 && isRelieved()) {
                return;
            }
            running = Thread.currentThread();
            attempt(tasks.remove());
            running = null;
        } while (unfinished.decrementAndGet() > 0);
    }

    private boolean isRelieved() {
        try {
            relief.execute(() -> runTasks(Integer.MAX_VALUE));
            return true;
        } catch (Throwable noThread) {
            LOG.debug("No thread can take over the tasks of {}", Thread.currentThread(), noThread);
            return false;
        }
    }

    /** Runs {@code action} for each element of a copy of {@code all}, even if it throws for some. */
    public static <T> void attemptEach(Collection<T> all, Consumer<T> action) {
        for (T each : List.copyOf(all)) {
            attempt(() -> action.accept(each));
        }
    }

    /** Runs {@code task} and logs what it throws. */
    public static void attempt(Runnable task) {
        try {
            task.run();
        } catch (Throwable bug) {
            try {
                LOG.error("Unexpected error in the lock engine; please report it", bug);
            } catch (Throwable unlogged) {
                // A logger that throws, for example for lack of memory, must not stop the tasks behind this one.
                bug.addSuppressed(unlogged);
            }
        }
    }
}
