// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.zk.internal.threads.NewsQueue;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of one client: the only class that calls the logging backend. A backend is code that others wrote and
 * configured: it may throw, and it may block, as on a full pipe or a paused terminal. So lines are written on a thread
 * of their own, in order; those that do not fit the queue are counted. No method blocks or throws.
 */
public final class ClientLog {
    /** The logger of single requests. */
    private static final String REQUESTS = "io.latchkey.zk.internal.events.RequestEvents";

    /** The maximum number of queued lines, a few MB. */
    static final int MOST_WAITING = 10_000;
    /** How long a change of the level may go unnoticed. */
    private static final long LEVEL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final NewsQueue lines;
    /** The level, as the backend has told it on the thread of the log: the question is the backend's code as well. */
    private volatile boolean debugging;

    private final AtomicLong asked = new AtomicLong();

    /** @param thread writes the lines: one task at a time */
    public ClientLog(Executor thread) {
        this.lines = new NewsQueue(
                thread,
                MOST_WAITING,
                missed -> logger(ClientLog.class)
                        .warn("{} lines of this log were dropped, as the logging backend had blocked", missed),
                theirs -> {
                    // The backend has thrown, and there is no other place to say so.
                });
        askForLevel(System.nanoTime());
    }

    /** Returns a log that writes in place, for simulations and tests. */
    public static ClientLog inPlace() {
        return new ClientLog(Runnable::run);
    }

    private void askForLevel(long now) {
        asked.set(now);
        lines.add(() -> debugging = LoggerFactory.getLogger(REQUESTS).isDebugEnabled());
    }

    private static Logger logger(Class<?> of) {
        return LoggerFactory.getLogger(of);
    }

    /** Logs what happens to a single request at debug, if the level was that a second ago. */
    void debugRequest(String line, Object... arguments) {
        long now = System.nanoTime();
        long last = asked.get();
        if (now - last >= LEVEL_NANOS && asked.compareAndSet(last, now)) {
            askForLevel(now);
        }
        if (debugging) {
            lines.add(() -> LoggerFactory.getLogger(REQUESTS).debug(line, arguments));
        }
    }

    public void debug(Class<?> of, String line, Object... arguments) {
        lines.add(() -> logger(of).debug(line, arguments));
    }

    public void info(Class<?> of, String line, Object... arguments) {
        lines.add(() -> logger(of).info(line, arguments));
    }

    public void warn(Class<?> of, String line, Object... arguments) {
        lines.add(() -> logger(of).warn(line, arguments));
    }

    public void error(Class<?> of, String line, Object... arguments) {
        lines.add(() -> logger(of).error(line, arguments));
    }

    /** Waits until the lines so far are written, for {@code longest} at most. */
    public void awaitWritten(Duration longest) {
        lines.awaitDelivered(longest);
    }
}
