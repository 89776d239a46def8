// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.history.Attempt;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.zk.ZkLocks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;

/**
 * Concurrent work of clients, and their record of it: under locks, while their sessions are ended, or without locks.
 */
final class Shift {
    private static final LockClaim LOCK = LockClaim.exclusive("the lock");
    private static final Duration SESSION = Duration.ofSeconds(2);
    private static final Duration SESSION_ENDS_WITHIN = Duration.ofSeconds(15);

    private final ScenarioRun run;
    private final Duration open;
    private long start = System.nanoTime();
    private final History history = new History();
    private final List<FaultyClient> clients = new ArrayList<>();
    private final Map<String, Duration> confirmed = new ConcurrentHashMap<>();
    private final Set<String> unclear = ConcurrentHashMap.newKeySet();
    private volatile String lastGranted = "";
    private List<HistoryEvent> events = List.of();

    private Shift(ScenarioRun run, Duration open) {
        this.run = run;
        this.open = open;
    }

    /** A piece of work under a lock; it returns whether there is more to do. A client that loses the lock stops. */
    interface Work {
        boolean during(Hold hold) throws KeeperException, InterruptedException;
    }

    /** A lock to hold, and the work to do under it, which is the same without locks. */
    record Turn(Function<LockClient, Acquirable> lock, Work work) {}

    /**
     * Returns when all work is done, or at closing time.
     *
     * @param open the time until closing time
     * @param roles one for each client: the next turn, given a name for it that no other turn has
     * @param progress how far they are, given the number of acknowledged entries
     */
    static Shift work(ScenarioRun run, Duration open, List<Function<String, Turn>> roles, IntFunction<String> progress)
            throws InterruptedException {
        Shift shift = new Shift(run, open);
        try {
            if (run.isLocked()) {
                for (int i = 0; i < roles.size(); i++) {
                    shift.clients.add(FaultyClient.connect(
                            run.servers().fixture(),
                            SESSION,
                            settings -> settings.basePath(run.nodes().root())));
                }
            }
            shift.start = System.nanoTime();
            shift.run(roles, progress);
            shift.events = shift.history.events();
            return shift;
        } finally {
            // All at once: one whose session has just been ended may take as long as a session timeout.
            shift.clients.parallelStream().forEach(FaultyClient::close);
        }
    }

    private void run(List<Function<String, Turn>> roles, IntFunction<String> progress) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(roles.size());
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            List<Future<Void>> working = new ArrayList<>();
            for (int i = 0; i < roles.size(); i++) {
                int number = i;
                Callable<Void> deed = () -> play(number, roles.get(number));
                working.add(threads.submit(() -> {
                    try {
                        return deed.call();
                    } finally {
                        done.countDown();
                    }
                }));
            }
            if (run.isLocked()) {
                working.add(threads.submit(() -> endSessions(done)));
            }
            run.follow(() -> status(progress), done);
            for (Future<Void> work : working) {
                work.get();
            }
        } catch (ExecutionException failed) {
            throw new IllegalStateException("a client broke off", failed.getCause());
        } finally {
            threads.shutdownNow();
        }
    }

    private String status(IntFunction<String> progress) {
        String soFar =
                String.format(Locale.ROOT, "%5.1f s  ", elapsed().toMillis() / 1e3) + progress.apply(confirmed.size());
        if (!run.isLocked()) {
            return soFar;
        }
        Figures figures = Figures.of(history.events());
        return soFar
                + String.format(
                        Locale.ROOT,
                        ", hand-overs %,d, sessions killed %,d, leases lost %,d",
                        figures.handOvers(),
                        figures.sessionsKilled(),
                        figures.leasesLost());
    }

    private Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    private Void play(int number, Function<String, Turn> role) throws KeeperException, InterruptedException {
        String name = run.isLocked() ? clients.get(number).name() : "client-" + (number + 1);
        boolean more = true;
        for (int turn = 1; more; turn++) {
            Duration left = open.minus(elapsed());
            if (left.isNegative() || left.isZero()) {
                return null;
            }
            Turn next = role.apply(name + "-turn-" + turn);
            try {
                more = run.isLocked()
                        ? underLock(clients.get(number), next, left)
                        : next.work().during(new Hold());
            } catch (LeaseLostException
                    | KeeperException.ConnectionLossException
                    | KeeperException.SessionExpiredException cutShort) {
                more = true; // the record has the outcome; the next turn is another try
            }
        }
        return null;
    }

    private boolean underLock(FaultyClient client, Turn turn, Duration left)
            throws KeeperException, InterruptedException {
        LockClient locks = client.client();
        Attempt attempt = history.attempt(client, LOCK);
        Optional<Lease> granted = turn.lock().apply(locks).tryAcquire(left);
        if (granted.isEmpty()) {
            attempt.gaveUp("closing time");
            return false;
        }
        LeaseHold hold = new LeaseHold(granted.get(), locks, attempt);
        try {
            lastGranted = client.name();
            return turn.work().during(hold);
        } finally {
            hold.release();
        }
    }

    /** The time between reading and writing, in which others can write; now and then longer than a session may last. */
    static void think() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        LockSupport.parkNanos(
                TimeUnit.MICROSECONDS.toNanos(random.nextInt(50) == 0 ? 400_000 : random.nextInt(3_000, 9_000)));
    }

    /** How a client writes during its turn; without a lock, this writes at once. */
    class Hold {
        /** Writes all or nothing. */
        void write(Op... ops) throws KeeperException, InterruptedException {
            run.nodes().write(ops);
        }

        /** As {@link #write}, and records the outcome: at the end ZooKeeper must have a node of that name or not. */
        final void enter(String entry, Op... ops) throws KeeperException, InterruptedException {
            try {
                write(ops);
                confirmed.put(entry, elapsed());
            } catch (KeeperException.ConnectionLossException | KeeperException.SessionExpiredException unknown) {
                unclear.add(entry); // written or not: ZooKeeper knows
                throw unknown;
            }
        }

        /** From here on only reads, beside other readers. */
        void downgrade(Function<LockClient, ReadWriteLock> lock) {}
    }

    /** Writes under a lease, and records its grant, checks, loss and release for the check at the end. */
    private final class LeaseHold extends Hold {
        private final LockClient locks;
        private final Attempt attempt;
        private Lease lease;

        LeaseHold(Lease lease, LockClient locks, Attempt attempt) {
            this.locks = locks;
            this.attempt = attempt;
            attempt.granted(lease.token());
            this.lease = recorded(lease, attempt);
        }

        private static Lease recorded(Lease fresh, Attempt attempt) {
            var unused = fresh.lost().thenAccept(cause -> attempt.lost(cause.name()));
            return fresh;
        }

        /** ZooKeeper writes only if it still knows the lease, whose client may not have noticed its end yet. */
        @Override
        void write(Op... ops) throws KeeperException, InterruptedException {
            long before = attempt.beforeLook();
            lease.ensureValid();
            attempt.valid(before);
            ZkLocks.guarded(lease, ops);
        }

        @Override
        void downgrade(Function<LockClient, ReadWriteLock> lock) {
            lease = recorded(lock.apply(locks).downgrade(lease), attempt);
        }

        void release() {
            attempt.releasing();
            attempt.released(lease.release());
        }
    }

    /**
     * Ends a session at the server now and then, as an administrator might: a second connection with the session's id
     * and password closes it. Every other time it is the holder's, if possible. The client notices a second later,
     * makes a new session and queues again; until then it is left alone.
     */
    private Void endSessions(CountDownLatch done) throws InterruptedException, ExecutionException, TimeoutException {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        Set<Long> killed = new HashSet<>();
        while (!done.await(random.nextLong(300, 900), TimeUnit.MILLISECONDS)) {
            String wanted = random.nextBoolean() ? lastGranted : "";
            FaultyClient client = clients.stream()
                    .filter(each -> each.name().equals(wanted))
                    .findFirst()
                    .orElseGet(() -> clients.get(random.nextInt(clients.size())));
            OptionalLong session = client.proxy().session();
            if (session.isPresent() && killed.add(session.getAsLong())) {
                history.expire(client, ExpiryOrder.SERVER_FIRST).get(SESSION_ENDS_WITHIN.toSeconds(), TimeUnit.SECONDS);
            }
        }
        return null;
    }

    /** The history of the locks; empty without. */
    List<HistoryEvent> events() {
        return events;
    }

    /** How many entries were acknowledged in the second half of the time. */
    long lateConfirmations() {
        Duration half = open.dividedBy(2);
        return confirmed.values().stream()
                .filter(when -> when.compareTo(half) > 0)
                .count();
    }

    /** Checks that ZooKeeper has all acknowledged entries, no refused one, and any of the unclear. */
    void claim(String entry, Set<String> entries) {
        Set<String> others = new HashSet<>(entries);
        others.removeAll(confirmed.keySet());
        run.claim(
                "every " + entry + " that a client saw confirmed is there, none that it saw refused",
                entries.containsAll(confirmed.keySet()) && unclear.containsAll(others));
    }
}
