// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.Histogram;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.openjdk.jmh.util.Statistics;

/** The work of a turn. */
sealed interface Load {
    /** The number of sessions. */
    int sessions();

    Sample run(Trial trial) throws Exception;

    /**
     * A single thread without contention, timed by JMH. It runs in this JVM, so that all systems share the same
     * compiled code. An operation takes at least a round trip, so the effects that forks exclude do not matter.
     */
    record Free(Recipe recipe) implements Load {
        private static final String ALLOCATED_PER_OPERATION = "gc.alloc.rate.norm";

        @Override
        public int sessions() {
            return recipe == Recipe.FAILED_TRY ? 2 : 1;
        }

        @Override
        public Sample run(Trial trial) throws RunnerException {
            Options options = new OptionsBuilder()
                    .include(FreeLock.class.getName() + ".acquire")
                    .param("contestant", trial.contestant().name())
                    .param("recipe", recipe.name())
                    .param("servers", trial.servers())
                    .param("path", trial.path())
                    .addProfiler(ServerProfiler.class, trial.probe().toString())
                    .addProfiler(
                            GCProfiler
                                    .class) // begins last and ends first, so that allocations of the other profiler are
                    // not counted
                    .forks(0)
                    .warmupIterations(1)
                    .warmupTime(TimeValue.nanoseconds(trial.warmUp().toNanos()))
                    .measurementIterations(1)
                    .measurementTime(TimeValue.nanoseconds(trial.measured().toNanos()))
                    .timeout(TimeValue.minutes(1))
                    .shouldFailOnError(true)
                    .verbosity(VerboseMode.SILENT)
                    .build();
            try {
                return sample(new Runner(options).runSingle());
            } finally {
                FreeLock.closeClients();
            }
        }

        private static Sample sample(RunResult result) {
            var more = result.getSecondaryResults().values();
            Histogram waits = new Histogram(Sample.DIGITS);
            Statistics times = result.getPrimaryResult().getStatistics();
            times.getRawData().forEachRemaining(time -> record(waits, time));
            long nanos = (long) ServerProfiler.value(more, ServerProfiler.TIME);
            long operations = (long) ServerProfiler.value(more, ServerProfiler.OPERATIONS);
            return new Sample(
                    operations,
                    nanos,
                    waits,
                    new ServerProbe.Reading(
                            (long) ServerProfiler.value(more, ServerProfiler.REQUESTS),
                            (long) ServerProfiler.value(more, ServerProfiler.CPU),
                            (long) ServerProfiler.value(more, ServerProfiler.CLIENT_CPU),
                            nanos),
                    Map.of(Figures.CLIENT_ALLOC, ServerProfiler.value(more, ALLOCATED_PER_OPERATION) * operations));
        }

        private static void record(Histogram waits, Map.Entry<Double, Long> time) {
            waits.recordValueWithCount(time.getKey().longValue(), time.getValue());
        }
    }

    /** Many threads, of one or several clients, at one path. */
    record Contended(Recipe recipe, int clients, int threads) implements Load {
        @Override
        public int sessions() {
            return clients;
        }

        @Override
        public Sample run(Trial trial) throws Exception {
            int holders =
                    switch (recipe) {
                        case MUTEX, WRITE -> 1;
                        case SEMAPHORE_1 -> Recipe.PERMITS;
                        default ->
                            throw new IllegalStateException(
                                    "the number of concurrent holders is not defined for " + recipe);
                    };
            try (Crowd crowd = new Crowd(trial, clients, holders)) {
                return crowd.run(client -> client.door(recipe, trial.path()), threads);
            }
        }
    }

    /** Many sessions at one read-write lock, with nine readers for each writer. */
    record MostlyReaders(int sessions) implements Load {
        private static final int WRITER_IN = 10;

        @Override
        public Sample run(Trial trial) throws Exception {
            try (Crowd crowd = new Crowd(trial, sessions, sessions)) {
                return crowd.run(
                        client -> {
                            Client.Door read = client.door(Recipe.READ, trial.path());
                            Client.Door write = client.door(Recipe.WRITE, trial.path());
                            return () -> ThreadLocalRandom.current().nextInt(WRITER_IN) == 0
                                    ? Client.Held.weighing(sessions, write.acquire())
                                    : read.acquire();
                        },
                        1);
            }
        }
    }

    /**
     * Threads of one client that acquire one path after the other, none twice. There is no contention, so exclusion is
     * not checked.
     *
     * @param paths the maximum number of paths
     */
    record DistinctPaths(int paths, int threads) implements Load {
        @Override
        public int sessions() {
            return 1;
        }

        @Override
        public Sample run(Trial trial) throws Exception {
            try (Crowd crowd = new Crowd(trial, 1, Integer.MAX_VALUE)) {
                AtomicInteger next = new AtomicInteger();
                long heap = Waiters.liveBytes();
                Sample found = crowd.run(
                        client -> () -> client.door(Recipe.MUTEX, trial.path() + "/" + next.getAndIncrement())
                                .acquire(),
                        threads,
                        Optional.of(paths));
                double heapPerPath = (double) (Waiters.liveBytes() - heap) / next.get();
                return new Sample(
                        found.operations(),
                        found.nanos(),
                        found.waits(),
                        found.spent(),
                        Map.of(Figures.CLIENT_HEAP, heapPerPath * found.operations()));
            }
        }
    }
}
