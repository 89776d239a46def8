// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The executor of users' code behind the threads of a client. The user's executor is called from these threads because
 * its {@code execute} is user code, too: it may run the task in place, block, or throw. A task that it refuses is run
 * on the calling thread of the client.
 */
public final class CallbackThreads implements Executor {
    private final Executor threads;
    private final Executor given;
    private final Consumer<Throwable> firstRefusal;
    private final AtomicBoolean refusedBefore = new AtomicBoolean();

    /**
     * @param threads those of the client, which run the calls of the user's executor
     * @param given the user's executor
     * @param firstRefusal takes what that executor threw when it refused a task for the first time
     */
    public CallbackThreads(Executor threads, Executor given, Consumer<Throwable> firstRefusal) {
        this.threads = threads;
        this.given = given;
        this.firstRefusal = firstRefusal;
    }

    @Override
    public void execute(Runnable task) {
        threads.execute(() -> handOver(task));
    }

    /** An executor may have begun or queued a task that it then refuses: the first to begin it runs it. */
    private void handOver(Runnable task) {
        AtomicBoolean begun = new AtomicBoolean();
        Runnable once = () -> {
            if (begun.compareAndSet(false, true)) {
                task.run();
            }
        };
        try {
            given.execute(once);
        } catch (Throwable refused) {
            if (refusedBefore.compareAndSet(false, true)) {
                firstRefusal.accept(refused);
            }
            once.run();
        }
    }
}
