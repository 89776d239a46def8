// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import com.google.common.util.concurrent.Uninterruptibles;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.LongConsumer;

/** One session of a measured system. */
interface MeasuredClient extends AutoCloseable {
    /** Long enough that no session ends, and heartbeats are rare, during a short measurement. */
    Duration SESSION = Duration.ofSeconds(30);

    /** Returns the lock object at {@code path} that the threads of this client share. */
    LockHandle handle(MeasuredLock recipe, String path) throws Exception;

    /**
     * Waits for the mutex at {@code path} in the background. When granted, reports the position of its request and
     * releases.
     *
     * @param onTurn called once, before the release
     */
    default void queueUp(String path, LongConsumer onTurn) throws Exception {
        throw new UnsupportedOperationException("supported only with waiting threads");
    }

    @Override
    void close();

    /** Closes clients in parallel, because ZooKeeper's client sleeps for a tenth of a second while it closes. */
    static void closeAll(Collection<MeasuredClient> clients) {
        List<Thread> threads =
                clients.stream().map(client -> new Thread(client::close)).toList();
        threads.forEach(Thread::start);
        threads.forEach(Uninterruptibles::joinUninterruptibly);
    }

    /** A lock that one thread acquires repeatedly. */
    @FunctionalInterface
    interface LockHandle {
        HeldLock acquire() throws Exception;
    }

    /** The result of an acquisition. */
    @FunctionalInterface
    interface HeldLock {
        /** Nothing was acquired, as expected. */
        HeldLock NOTHING = () -> {};

        void release() throws Exception;

        /** A number that increases with every grant of a mutex, if the system has one; else 0. */
        default long token() {
            return 0;
        }

        /** The number of permits that are held. */
        default int weight() {
            return 1;
        }

        static HeldLock weighing(int weight, HeldLock held) {
            return new HeldLock() {
                @Override
                public void release() throws Exception {
                    held.release();
                }

                @Override
                public long token() {
                    return held.token();
                }

                @Override
                public int weight() {
                    return weight;
                }
            };
        }
    }
}
