// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * A load of clients whose threads acquire and release as fast as they can for a given time. Fails if more threads hold
 * than the lock allows.
 */
final class Crowd implements AutoCloseable {
    private static final long ENDS_WITHIN_SECONDS = 20;
    private static final long WATCHED = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long LINGERS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Trial trial;
    private final int holdersAllowed;
    private final List<Client> clients = new ArrayList<>();
    private final AtomicInteger holders = new AtomicInteger();
    private final LongAdder acquired = new LongAdder();
    /** Accessed only by an exclusive holder, before it decrements {@link #holders}. */
    private long lastToken = Long.MIN_VALUE;

    private volatile Phase phase = Phase.WARM_UP;

    private enum Phase {
        WARM_UP,
        MEASURED,
        /** Holds for a moment, so that a second holder would be noticed. */
        WATCHED,
        OVER
    }

    /** Creates the objects that the threads of one client share. */
    @FunctionalInterface
    interface Doors {
        Client.Door of(Client client) throws Exception;
    }

    Crowd(Trial trial, int clients, int holdersAllowed) throws Exception {
        this.trial = trial;
        this.holdersAllowed = trial.contestant() == Contestant.RAW ? Integer.MAX_VALUE : holdersAllowed;
        for (int i = 0; i < clients; i++) {
            this.clients.add(trial.contestant().connect(trial.servers()));
        }
    }

    Sample run(Doors doors, int threadsPerClient) throws Exception {
        return run(doors, threadsPerClient, Optional.empty());
    }

    /** @param limit the number of acquisitions that ends the measurement early */
    Sample run(Doors doors, int threadsPerClient, Optional<Integer> limit) throws Exception {
        List<Member> members = new ArrayList<>();
        for (Client client : clients) {
            Client.Door door = doors.of(client);
            for (int i = 0; i < threadsPerClient; i++) {
                members.add(new Member(door));
            }
        }
        ExecutorService threads = Executors.newFixedThreadPool(members.size());
        try {
            List<Future<?>> ends = new ArrayList<>();
            members.forEach(member -> ends.add(threads.submit(member)));
            pause(trial.warmUp().toNanos(), Long.MAX_VALUE);
            ServerProbe.Reading before = trial.probe().read();
            phase = Phase.MEASURED;
            pause(trial.measured().toNanos(), limit.map(Integer::longValue).orElse(Long.MAX_VALUE));
            long operations = acquired.sum();
            ServerProbe.Reading spent = trial.probe().since(before);
            if (holdersAllowed < Integer.MAX_VALUE) {
                phase = Phase.WATCHED;
                pause(WATCHED, Long.MAX_VALUE);
            }
            phase = Phase.OVER;
            Histogram waits = new Histogram(Sample.DIGITS);
            threads.shutdownNow();
            if (threads.awaitTermination(ENDS_WITHIN_SECONDS, TimeUnit.SECONDS)) {
                for (Future<?> end : ends) {
                    end.get();
                }
                members.forEach(member -> waits.add(member.waits));
            } else {
                throw new IllegalStateException(trial + ": threads do not end");
            }
            return new Sample(operations, spent.nanoTime(), waits, spent);
        } finally {
            phase = Phase.OVER;
            threads.shutdownNow();
        }
    }

    private void pause(long nanos, long limit) throws InterruptedException {
        long end = System.nanoTime() + nanos;
        for (long rest = nanos; rest > 0 && acquired.sum() < limit; rest = end - System.nanoTime()) {
            TimeUnit.NANOSECONDS.sleep(Math.min(rest, TimeUnit.MILLISECONDS.toNanos(20)));
        }
    }

    private final class Member implements Runnable {
        private final Client.Door door;
        private final Histogram waits = new Histogram(Sample.DIGITS);

        Member(Client.Door door) {
            this.door = door;
        }

        @Override
        public void run() {
            try {
                while (phase != Phase.OVER) {
                    once();
                }
            } catch (Exception e) {
                if (phase != Phase.OVER) {
                    throw new IllegalStateException(trial + " failed", e);
                }
            }
        }

        private void once() throws Exception {
            long from = System.nanoTime();
            Client.Held held = door.acquire();
            long waited = System.nanoTime() - from;
            if (holders.addAndGet(held.weight()) > holdersAllowed) {
                throw new AssertionError(trial + ": more than " + holdersAllowed + " hold");
            }
            if (holdersAllowed == 1) {
                noticeOrder(held.token());
            }
            if (phase == Phase.MEASURED) {
                acquired.increment();
                waits.recordValue(waited);
            } else if (phase == Phase.WATCHED) {
                LockSupport.parkNanos(LINGERS);
            }
            holders.addAndGet(-held.weight());
            held.release();
        }

        /** Tokens increase in the order of requests; threads of one client with {@code localTurns} share a token. */
        private void noticeOrder(long token) {
            boolean later =
                    switch (trial.contestant()) {
                        case LATCHKEY -> token > lastToken;
                        case LATCHKEY_TURNS -> token >= lastToken;
                        default -> true;
                    };
            if (!later) {
                throw new AssertionError(trial + ": token " + token + " after " + lastToken);
            }
            lastToken = token;
        }
    }

    @Override
    public void close() {
        Client.closeAll(clients);
    }
}
