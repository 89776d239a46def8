// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * A load of clients whose threads acquire and release as fast as they can for a given time. In some cases they then
 * continue beside an onlooker: one thread of another client that asks for the same lock now and then. Fails if more
 * threads hold than the lock allows.
 */
final class CrowdLoad implements AutoCloseable {
    private static final long ENDS_WITHIN_SECONDS = 20;
    private static final long WATCHED = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long LINGERS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long ONLOOKER_RESTS_MILLIS = 20;

    private final Trial trial;
    private final int holdersAllowed;
    private final List<MeasuredClient> clients = new ArrayList<>();
    private final AtomicInteger holders = new AtomicInteger();
    private final LongAdder acquired = new LongAdder();
    /** Accessed only by an exclusive holder, before it decrements {@link #holders}. */
    private long lastToken = Long.MIN_VALUE;

    /** Accessed like {@link #lastToken}. */
    private @Nullable MeasuredClient lastHolder;

    private volatile Phase phase = Phase.WARM_UP;

    private enum Phase {
        WARM_UP,
        MEASURED,
        ONLOOKED,
        /** Holds for a moment, so that a second holder would be noticed. */
        WATCHED,
        OVER
    }

    /** Creates the objects that the threads of one client share. */
    @FunctionalInterface
    interface Handles {
        MeasuredClient.LockHandle of(MeasuredClient client) throws Exception;
    }

    CrowdLoad(Trial trial, int clients, int holdersAllowed) throws Exception {
        this.trial = trial;
        this.holdersAllowed = trial.contestant() == Contestant.RAW ? Integer.MAX_VALUE : holdersAllowed;
        for (int i = 0; i < clients; i++) {
            this.clients.add(trial.contestant().connect(trial.servers()));
        }
    }

    LoadSample run(Handles handles, int threadsPerClient) throws Exception {
        return run(handles, threadsPerClient, Duration.ZERO, Optional.empty());
    }

    /**
     * Measures first without the onlooker and then with it.
     *
     * @param hold the duration of each hold, except the onlooker's, which releases at once
     */
    LoadSample run(Handles handles, int threadsPerClient, Duration hold, Handles onlooker) throws Exception {
        boolean looksOn = !trial.onlooked().isZero() && trial.contestant() != Contestant.RAW;
        return run(handles, threadsPerClient, hold, looksOn ? Optional.of(onlooker) : Optional.empty());
    }

    private LoadSample run(Handles handles, int threadsPerClient, Duration hold, Optional<Handles> onlooker)
            throws Exception {
        List<Member> members = new ArrayList<>();
        for (MeasuredClient client : clients) {
            MeasuredClient.LockHandle handle = handles.of(client);
            for (int i = 0; i < threadsPerClient; i++) {
                members.add(new Member(client, handle, hold));
            }
        }
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            List<Future<?>> ends = new ArrayList<>();
            members.forEach(member -> ends.add(threads.submit(member)));
            TimeUnit.NANOSECONDS.sleep(trial.warmUp().toNanos());
            ServerProbe.Reading before = trial.probe().read();
            long allocated = allocatedBytes();
            phase = Phase.MEASURED;
            TimeUnit.NANOSECONDS.sleep(trial.measured().toNanos());
            long operations = acquired.sum();
            long bytes = allocatedBytes() - allocated;
            ServerProbe.Reading spent = trial.probe().since(before);
            Optional<LoadSample> onlooked = Optional.empty();
            if (onlooker.isPresent()) {
                Member other = onlooker(onlooker.get());
                onlooked = Optional.of(onlooked(other, threads, ends));
                ends.add(threads.submit(other)); // takes part in what is watched
            }
            if (holdersAllowed < Integer.MAX_VALUE) {
                phase = Phase.WATCHED;
                TimeUnit.NANOSECONDS.sleep(WATCHED);
            }
            phase = Phase.OVER;
            Histogram waits = new Histogram(LoadSample.DIGITS);
            threads.shutdownNow();
            if (threads.awaitTermination(ENDS_WITHIN_SECONDS, TimeUnit.SECONDS)) {
                for (Future<?> end : ends) {
                    end.get();
                }
                members.forEach(member -> waits.add(member.waits));
            } else {
                throw new IllegalStateException(trial + ": threads do not end");
            }
            return new LoadSample(operations, spent.nanoTime(), waits, spent, bytes, onlooked);
        } finally {
            phase = Phase.OVER;
            threads.shutdownNow();
        }
    }

    /** Returns an onlooker with a session of its own. */
    private Member onlooker(Handles handles) throws Exception {
        MeasuredClient client = trial.contestant().connect(trial.servers());
        clients.add(client);
        return new Member(client, handles.of(client), Duration.ZERO);
    }

    /**
     * Measures the crowd beside an onlooker, whose first acquisition is a warm-up. The last one is waited for, however
     * late: otherwise the longest waits would be missing.
     */
    private LoadSample onlooked(Member onlooker, ExecutorService threads, List<Future<?>> ends) throws Exception {
        phase = Phase.ONLOOKED;
        await(threads.submit(onlooker::once), ends);
        Histogram waits = new Histogram(LoadSample.DIGITS);
        ServerProbe.Reading before = trial.probe().read();
        long operations = acquired.sum();
        long end = System.nanoTime() + trial.onlooked().toNanos();
        while (System.nanoTime() - end < 0) {
            waits.recordValue(await(threads.submit(onlooker::once), ends));
            TimeUnit.MILLISECONDS.sleep(ONLOOKER_RESTS_MILLIS);
        }
        operations = acquired.sum() - operations - waits.getTotalCount();
        ServerProbe.Reading spent = trial.probe().since(before);
        return new LoadSample(operations, spent.nanoTime(), waits, spent);
    }

    private static long await(Future<Long> onlooker, List<Future<?>> ends) throws Exception {
        try {
            return onlooker.get(ENDS_WITHIN_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException starved) {
            for (Future<?> end : ends) {
                if (end.isDone()) {
                    end.get();
                }
            }
            throw starved;
        }
    }

    /** Returns the allocation of all threads that still run. */
    private static long allocatedBytes() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        return LongStream.of(threads.getThreadAllocatedBytes(threads.getAllThreadIds()))
                .filter(bytes -> bytes > 0)
                .sum();
    }

    private final class Member implements Runnable {
        private final MeasuredClient client;
        private final MeasuredClient.LockHandle handle;
        private final long hold;
        private final Histogram waits = new Histogram(LoadSample.DIGITS);

        Member(MeasuredClient client, MeasuredClient.LockHandle handle, Duration hold) {
            this.client = client;
            this.handle = handle;
            this.hold = hold.toNanos();
        }

        @Override
        public void run() {
            try {
                while (phase != Phase.OVER) {
                    var unused = once();
                }
            } catch (Exception e) {
                if (phase != Phase.OVER) {
                    throw new IllegalStateException(trial + " failed", e);
                }
            }
        }

        /** Returns the duration of the wait, in nanoseconds. */
        long once() throws Exception {
            long from = System.nanoTime();
            MeasuredClient.HeldLock held = handle.acquire();
            long waited = System.nanoTime() - from;
            if (holders.addAndGet(held.weight()) > holdersAllowed) {
                throw new AssertionError(trial + ": more than " + holdersAllowed + " hold");
            }
            if (holdersAllowed == 1) {
                noticeOrder(held.token());
            }
            long rest = hold;
            switch (phase) {
                case MEASURED -> {
                    acquired.increment();
                    waits.recordValue(waited);
                }
                case ONLOOKED -> acquired.increment();
                case WATCHED -> rest = LINGERS;
                case WARM_UP, OVER -> {}
            }
            LockSupport.parkNanos(rest);
            holders.addAndGet(-held.weight());
            held.release();
            return waited;
        }

        /** Tokens increase in the order of requests; threads of one client with {@code localTurns} share a token. */
        private void noticeOrder(long token) {
            boolean later =
                    switch (trial.contestant()) {
                        case LATCHKEY -> token > lastToken;
                        case LATCHKEY_TURNS -> token > lastToken || (token == lastToken && client == lastHolder);
                        default -> true;
                    };
            if (!later) {
                throw new AssertionError(trial + ": token " + token + " after " + lastToken);
            }
            lastToken = token;
            lastHolder = client;
        }
    }

    @Override
    public void close() {
        MeasuredClient.closeAll(clients);
    }
}
