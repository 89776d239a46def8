// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A measured case: one row of the tables.
 *
 * @param name of the case
 * @param contestants the systems that are measured
 * @param weight the factor for the duration of the measurement
 */
record Case(String name, Load load, List<Contestant> contestants, int weight) {
    static Case of(String name, Load load) {
        return new Case(name, load, List.of(Contestant.RAW, Contestant.LATCHKEY, Contestant.CURATOR), 1);
    }

    private static Case ofThreads(String name, Load load) {
        return new Case(name, load, List.of(Contestant.LATCHKEY, Contestant.LATCHKEY_TURNS, Contestant.CURATOR), 1);
    }

    private static Load threads(MeasuredLock recipe, Duration hold) {
        return new Load.Contended(recipe, 1, 32, Optional.of(hold));
    }

    private static Load mixedThreads(Duration hold) {
        return new Load.MostlyReaders(1, 32, Optional.of(hold));
    }

    Case with(Contestant more) {
        return new Case(
                name, load, Stream.concat(contestants.stream(), Stream.of(more)).toList(), weight);
    }

    Case weighing(int times) {
        return new Case(name, load, contestants, times);
    }

    Duration time(Duration usual) {
        return usual.multipliedBy(weight);
    }

    // ---- all there are

    static final String FREE_MUTEX = "free mutex";
    static final String FREE_READ = "free read lock";
    static final String FREE_WRITE = "free write lock";
    static final String FREE_SEMAPHORE_1 = "free semaphore, 1 permit";
    static final String FREE_SEMAPHORE_3 = "free semaphore, 3 permits";
    static final String FREE_MULTI_5 = "free multi-lock of 5";
    static final String FREE_MULTI_20 = "free multi-lock of 20";
    static final String ASYNC_RELEASE = "free mutex, asynchronous release";
    static final String FAILED_TRY = "failed try";
    static final String POLLS_100 = "failed try, 100 sessions";
    static final String MUTEX_2 = "mutex, 2 sessions";
    static final String MUTEX_8 = "mutex, 8 sessions";
    static final String MUTEX_32 = "mutex, 32 sessions";
    static final String THREADS_32 = "mutex, 32 threads of 1 client";
    static final String THREADS_1000 = "mutex, 1000 threads of 1 client";
    static final String THREADS_8_8 = "mutex, 8 clients of 8 threads";
    static final String SEMAPHORE_32 = "semaphore of 3, 32 sessions";
    static final String READERS = "90 % readers, 16 sessions";
    static final String READ_THREADS_32 = "read lock, 32 threads of 1 client";
    static final String MIXED_THREADS_32 = "90 % readers, 32 threads of 1 client";
    static final String SEMAPHORE_THREADS_32 = "semaphore of 8, 32 threads of 1 client";
    static final String HELD = ", 1 ms holds";

    static final Set<String> MUTEXES = Set.of(FREE_MUTEX, MUTEX_2, MUTEX_8, MUTEX_32, THREADS_32);

    static List<Case> free() {
        return List.of(
                of(FREE_MUTEX, new Load.Free(MeasuredLock.MUTEX)).with(Contestant.BARE),
                of(FREE_READ, new Load.Free(MeasuredLock.READ)),
                of(FREE_WRITE, new Load.Free(MeasuredLock.WRITE)),
                of(FREE_SEMAPHORE_1, new Load.Free(MeasuredLock.SEMAPHORE_1)),
                of(FREE_SEMAPHORE_3, new Load.Free(MeasuredLock.SEMAPHORE_3)),
                of(FREE_MULTI_5, new Load.Free(MeasuredLock.MULTI_5)),
                of(FREE_MULTI_20, new Load.Free(MeasuredLock.MULTI_20)),
                of(ASYNC_RELEASE, new Load.Free(MeasuredLock.ASYNC_RELEASE)).with(Contestant.BARE),
                of(FAILED_TRY, new Load.Polled(1)),
                of(POLLS_100, new Load.Polled(100)));
    }

    /** Cases of the same kinds for the systems without ZooKeeper, which have only mutexes. */
    static List<Case> of(Product product) {
        List<Contestant> contestants = Stream.of(Contestant.values())
                .filter(each -> each.product() == product)
                .toList();
        return Stream.concat(free().stream(), contended().stream())
                .filter(each -> MUTEXES.contains(each.name()))
                .map(each -> new Case(each.name(), each.load(), contestants, each.weight()))
                .toList();
    }

    static List<Case> contended() {
        return List.of(
                of(MUTEX_2, new Load.Contended(MeasuredLock.MUTEX, 2, 1)),
                of(MUTEX_8, new Load.Contended(MeasuredLock.MUTEX, 8, 1)).with(Contestant.BARE),
                of(MUTEX_32, new Load.Contended(MeasuredLock.MUTEX, 32, 1)).with(Contestant.BARE),
                of(THREADS_32, threads(MeasuredLock.MUTEX, Duration.ZERO)).with(Contestant.LATCHKEY_TURNS),
                of(THREADS_1000, new Load.Contended(MeasuredLock.MUTEX, 1, 1000))
                        .weighing(2),
                of(THREADS_8_8, new Load.Contended(MeasuredLock.MUTEX, 8, 8)).with(Contestant.LATCHKEY_TURNS),
                of(SEMAPHORE_32, new Load.Contended(MeasuredLock.SEMAPHORE_1, 32, 1)),
                of(READERS, new Load.MostlyReaders(16, 1)),
                ofThreads(READ_THREADS_32, threads(MeasuredLock.READ, Duration.ZERO)),
                ofThreads(MIXED_THREADS_32, mixedThreads(Duration.ZERO)),
                ofThreads(SEMAPHORE_THREADS_32, threads(MeasuredLock.SEMAPHORE_1_OF_8, Duration.ZERO)));
    }

    /** The threads of one client again, with work under the lock. */
    static List<Case> held() {
        Duration hold = Duration.ofMillis(1);
        return List.of(
                ofThreads(THREADS_32 + HELD, threads(MeasuredLock.MUTEX, hold)),
                ofThreads(READ_THREADS_32 + HELD, threads(MeasuredLock.READ, hold)),
                ofThreads(MIXED_THREADS_32 + HELD, mixedThreads(hold)),
                ofThreads(SEMAPHORE_THREADS_32 + HELD, threads(MeasuredLock.SEMAPHORE_1_OF_8, hold)));
    }

    /** Cases that are measured again with other storage of the servers' logs. */
    static List<Case> ofStorage() {
        return List.of(
                of(FREE_MUTEX, new Load.Free(MeasuredLock.MUTEX)).with(Contestant.BARE),
                of(MUTEX_8, new Load.Contended(MeasuredLock.MUTEX, 8, 1)).with(Contestant.BARE),
                of(MUTEX_32, new Load.Contended(MeasuredLock.MUTEX, 32, 1)).with(Contestant.BARE),
                of(THREADS_32, new Load.Contended(MeasuredLock.MUTEX, 1, 32)));
    }
}
