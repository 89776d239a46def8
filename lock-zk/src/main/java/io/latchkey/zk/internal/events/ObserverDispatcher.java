// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.lock.LockObserver;
import io.latchkey.zk.internal.threads.NewsQueue;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** The calls of an observer, made one at a time on a thread of its own. */
public final class ObserverDispatcher implements AutoCloseable {
    /**
     * The maximum number of queued calls, about 5 MB; enough for ten thousand leases that turn suspect and are lost,
     * twice.
     */
    static final int MOST_WAITING = 50_000;

    private final LockObserver observer;
    private final ClientLog log;
    private final NewsQueue calls;
    private final Runnable end;

    /** Whether the observer has thrown before. On its thread, as below. */
    private boolean warned;
    /** Whether the last call has begun. */
    private boolean ended;

    /**
     * @param thread calls the observer: one task at a time
     * @param end ends that thread
     */
    public ObserverDispatcher(LockObserver observer, Executor thread, ClientLog log, Runnable end) {
        this.observer = observer;
        this.log = log;
        this.calls = new NewsQueue(thread, MOST_WAITING, number -> call(told -> told.missed(number)), this::threw);
        this.end = end;
    }

    /** Creates a dispatcher for simulations, which calls the observer in the step of the event. */
    public static ObserverDispatcher inPlace(LockObserver observer) {
        return new ObserverDispatcher(observer, Runnable::run, ClientLog.inPlace(), () -> {});
    }

    /** Queues a call, or drops it. Never blocks, and never throws. */
    public void announce(Consumer<LockObserver> what) {
        calls.add(() -> call(what));
    }

    /**
     * Queues the last call, however many are queued. Never blocks, and never throws. Calls that are queued later are
     * not made.
     */
    public void announceLast(Consumer<LockObserver> what) {
        calls.addAnyway(() -> {
            if (!ended) {
                ended = true;
                what.accept(observer);
            }
        });
        close();
    }

    /** Ends the thread as soon as the queued calls are made. Does not wait for them. */
    @Override
    public void close() {
        end.run();
    }

    private void call(Consumer<LockObserver> what) {
        if (!ended) {
            what.accept(observer);
        }
    }

    private void threw(Throwable theirs) {
        if (warned) {
            log.debug(ObserverDispatcher.class, "The observer {} threw another exception", observer, theirs);
        } else {
            warned = true;
            log.warn(
                    ObserverDispatcher.class,
                    "The observer {} threw an exception; the locks are not affected. Later ones are logged at debug.",
                    observer,
                    theirs);
        }
    }
}
