// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/** The work of a turn. */
sealed interface Load {
    /** The number of sessions. */
    int sessions();

    LoadSample run(Trial trial) throws Exception;

    /**
     * A single thread without contention. It runs in this JVM, so that all systems share the same compiled code. An
     * operation takes at least a round trip, so the effects that forks exclude do not matter.
     */
    record Free(MeasuredLock recipe) implements Load {
        @Override
        public int sessions() {
            return 1;
        }

        @Override
        public LoadSample run(Trial trial) throws Exception {
            try (CrowdLoad crowd = new CrowdLoad(trial, 1, Integer.MAX_VALUE)) {
                return crowd.run(client -> client.handle(recipe, trial.path()), 1);
            }
        }
    }

    /**
     * Clients that try a mutex which another one holds, again and again.
     *
     * @param pollers those that try, each with one thread
     */
    record Polled(int pollers) implements Load {
        @Override
        public int sessions() {
            return pollers + 1;
        }

        @Override
        public LoadSample run(Trial trial) throws Exception {
            try (MeasuredClient holder = trial.contestant().connect(trial.servers())) {
                var unused = holder.handle(MeasuredLock.MUTEX, trial.path()).acquire();
                try (CrowdLoad crowd = new CrowdLoad(trial, pollers, Integer.MAX_VALUE)) {
                    return crowd.run(client -> client.handle(MeasuredLock.FAILED_TRY, trial.path()), 1);
                }
            }
        }
    }

    /**
     * Many threads, of one or several clients, at one path.
     *
     * @param hold the duration of each hold in a case with an onlooker; empty in other cases, which hold for no time
     */
    record Contended(MeasuredLock recipe, int clients, int threads, Optional<Duration> hold) implements Load {
        Contended(MeasuredLock recipe, int clients, int threads) {
            this(recipe, clients, threads, Optional.empty());
        }

        @Override
        public int sessions() {
            return clients;
        }

        @Override
        public LoadSample run(Trial trial) throws Exception {
            int requests = clients * threads;
            int holders =
                    switch (recipe) {
                        case MUTEX, WRITE -> 1;
                        case SEMAPHORE_1 -> MeasuredLock.PERMITS;
                        case SEMAPHORE_1_OF_8 -> MeasuredLock.MANY_PERMITS;
                        case READ -> requests;
                        default ->
                            throw new IllegalStateException(
                                    "the number of concurrent holders is not defined for " + recipe);
                    };
            try (CrowdLoad crowd = new CrowdLoad(trial, clients, holders)) {
                CrowdLoad.Handles handles = client -> client.handle(recipe, trial.path());
                return hold.isEmpty()
                        ? crowd.run(handles, threads)
                        : crowd.run(
                                handles,
                                threads,
                                hold.get(),
                                recipe == MeasuredLock.READ ? writers(trial.path(), requests) : handles);
            }
        }
    }

    /** Returns the write locks at {@code path}, each of which takes the place of all {@code readers}. */
    private static CrowdLoad.Handles writers(String path, int readers) {
        return client -> {
            MeasuredClient.LockHandle write = client.handle(MeasuredLock.WRITE, path);
            return () -> MeasuredClient.HeldLock.weighing(readers, write.acquire());
        };
    }

    /**
     * Threads of one or several clients at one read-write lock, with nine readers for each writer.
     *
     * @param hold as in {@link Contended}
     */
    record MostlyReaders(int sessions, int threads, Optional<Duration> hold) implements Load {
        private static final int WRITER_IN = 10;

        MostlyReaders(int sessions, int threads) {
            this(sessions, threads, Optional.empty());
        }

        @Override
        public LoadSample run(Trial trial) throws Exception {
            int readers = sessions * threads;
            try (CrowdLoad crowd = new CrowdLoad(trial, sessions, readers)) {
                CrowdLoad.Handles writers = writers(trial.path(), readers);
                CrowdLoad.Handles handles = client -> {
                    MeasuredClient.LockHandle read = client.handle(MeasuredLock.READ, trial.path());
                    MeasuredClient.LockHandle write = writers.of(client);
                    return () -> ThreadLocalRandom.current().nextInt(WRITER_IN) == 0 ? write.acquire() : read.acquire();
                };
                return hold.isEmpty() ? crowd.run(handles, threads) : crowd.run(handles, threads, hold.get(), writers);
            }
        }
    }
}
