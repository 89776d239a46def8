// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import com.google.common.util.concurrent.Uninterruptibles;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.LongConsumer;

/** One session of one of the systems that are compared. */
interface Client extends AutoCloseable {
    /** Long enough that no session ends, and hardly one beats, while something short is measured. */
    Duration SESSION = Duration.ofSeconds(30);

    /** What threads of this client share to acquire at {@code path}. */
    Door door(Recipe recipe, String path) throws Exception;

    /**
     * Waits for the mutex at {@code path} in the background; with it tells its place in the order of requests, and lets go.
     *
     * @param onTurn called once, before letting go
     */
    void queueUp(String path, LongConsumer onTurn) throws Exception;

    @Override
    void close();

    /** All at once: ZooKeeper's client sleeps for a tenth of a second while it closes. */
    static void closeAll(Collection<Client> clients) {
        List<Thread> threads =
                clients.stream().map(client -> new Thread(client::close)).toList();
        threads.forEach(Thread::start);
        threads.forEach(Uninterruptibles::joinUninterruptibly);
    }

    /** Acquires again and again. */
    @FunctionalInterface
    interface Door {
        Held acquire() throws Exception;
    }

    /** Something acquired. */
    @FunctionalInterface
    interface Held {
        /** Nothing was acquired, as expected. */
        Held NOTHING = () -> {};

        void release() throws Exception;

        /** Greater with every grant of a mutex, where a system that is measured has such; else 0. */
        default long token() {
            return 0;
        }

        /** How many of those that may hold at once this one stands for. */
        default int weight() {
            return 1;
        }

        static Held weighing(int weight, Held held) {
            return new Held() {
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
