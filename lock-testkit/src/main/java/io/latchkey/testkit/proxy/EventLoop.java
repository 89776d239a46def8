// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The single thread of a proxy: ready sockets, tasks from other threads, timers. Its tasks need no locks and must not
 * block. A select waits for whole milliseconds only; for the last one before a timer the loop naps in short steps
 * instead, so that a delay of 1.3 ms is one.
 */
final class EventLoop implements AutoCloseable {
    private static final long SELECT_STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long NAP_NANOS = 50_000;

    private final Selector selector;
    private final Thread thread;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final PriorityQueue<Timer> timers = new PriorityQueue<>();
    private final Runnable whenFailed;
    /** Completes exceptionally when the loop has ended. */
    private final CompletableFuture<Boolean> ended = new CompletableFuture<>();

    private long timersMade;
    private volatile boolean closed;

    private record Timer(long due, long number, Runnable action) implements Comparable<Timer> {
        @Override
        public int compareTo(Timer other) {
            int byTime = Long.compare(due - other.due, 0);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }

    /**
     * @param whenFailed runs on the loop's thread when an exception ends it, as its last task
     */
    EventLoop(String name, Runnable whenFailed) {
        this.whenFailed = whenFailed;
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot open a selector", e);
        }
        thread = new Thread(this::runUntilClosed, name);
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Runs the task on the loop and returns when it is done. From the loop itself, runs it at once.
     *
     * @throws IllegalStateException if the loop is closed, or an exception has ended it
     */
    void run(Runnable task) {
        if (Thread.currentThread() == thread) {
            task.run();
            return;
        }
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        post(() -> {
            try {
                task.run();
                done.complete(true);
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        try {
            CompletableFuture.anyOf(done, ended).join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException known) {
                throw known;
            }
            throw e;
        }
    }

    /** Has the task run on the loop, later. */
    void post(Runnable task) {
        if (closed) {
            throw new IllegalStateException("the proxy is closed");
        }
        tasks.add(task);
        selector.wakeup();
    }

    /** On the loop only: runs the action there when {@link System#nanoTime()} has reached the time. */
    void at(long nanoTime, Runnable action) {
        timers.add(new Timer(nanoTime, timersMade++, action));
    }

    /** On the loop only: runs the action whenever the channel is ready for the operations its key is interested in. */
    SelectionKey watch(SelectableChannel channel, int operations, Runnable whenReady) {
        try {
            channel.configureBlocking(false);
            return channel.register(selector, operations, whenReady);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot watch a socket", e);
        }
    }

    /** The key that {@link #watch} made for the channel; null if it has none or is closed. */
    @Nullable
    SelectionKey keyOf(SelectableChannel channel) {
        return channel.keyFor(selector);
    }

    /** Fails the calls whose tasks are dropped: a thread that ended in silence would leave the callers waiting. */
    private void runUntilClosed() {
        try {
            loop();
            ended.completeExceptionally(new IllegalStateException("the proxy is closed"));
        } catch (Throwable e) {
            try {
                whenFailed.run();
                int unused = selector.selectNow(); // a channel that was closed stays open until then
            } catch (IOException again) {
                e.addSuppressed(again);
            } finally {
                ended.completeExceptionally(new IllegalStateException("the proxy has failed: " + e, e));
            }
        }
    }

    private void loop() {
        while (!closed) {
            try {
                select();
            } catch (IOException e) {
                throw new UncheckedIOException("cannot select", e);
            }
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
            selector.selectedKeys().forEach(key -> {
                if (key.isValid() && key.attachment() instanceof Runnable whenReady) {
                    whenReady.run();
                }
            });
            selector.selectedKeys().clear();
            while (!timers.isEmpty() && timers.peek().due() - System.nanoTime() <= 0) {
                timers.remove().action().run();
            }
        }
    }

    private void select() throws IOException {
        if (timers.isEmpty()) {
            selector.select();
            return;
        }
        long rest = timers.peek().due() - System.nanoTime();
        if (rest > SELECT_STEP_NANOS) {
            selector.select(Math.max(1, TimeUnit.NANOSECONDS.toMillis(rest - SELECT_STEP_NANOS)));
        } else {
            int ready = selector.selectNow();
            if (ready == 0 && tasks.isEmpty() && rest > 0) {
                LockSupport.parkNanos(Math.min(rest, NAP_NANOS));
            }
        }
    }

    /** Ends the thread; pending tasks are dropped. Call it from another thread, after all channels are closed. */
    @Override
    public void close() {
        closed = true;
        selector.wakeup();
        // Also when the caller is interrupted: a selector that is closed under the loop would throw there.
        Uninterruptibles.joinUninterruptibly(thread);
        try {
            selector.close();
        } catch (ClosedChannelException e) {
            return; // closed already
        } catch (IOException e) {
            throw new UncheckedIOException("cannot close a selector", e);
        }
    }
}
