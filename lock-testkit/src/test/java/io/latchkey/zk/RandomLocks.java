// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.OnLoss;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.check.ExclusionChecker;
import io.latchkey.testkit.check.FifoChecker;
import io.latchkey.testkit.check.LinearizabilityChecker;
import io.latchkey.testkit.check.LivenessChecker;
import io.latchkey.testkit.check.LossChecker;
import io.latchkey.testkit.check.TokenOrderChecker;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.LockClaim;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A few paths of every kind, and clients that take locks on them at random: alone, shared, permits, several at once,
 * with and without a time, some downgraded, some for a body that a loss interrupts. All is recorded.
 */
final class RandomLocks {
    private static final int CAPACITY = 3;
    /** The allowance for pauses of the machine. {@link TimedAcquires} excludes pauses and is stricter. */
    private static final Duration ALLOWANCE = Duration.ofSeconds(3);

    private static final Duration SERVED = Duration.ofSeconds(15);

    private final EmbeddedZooKeeper server;
    private final History history;
    private final String base;
    private final int ofEachKind;
    private final Set<FaultyClient> waiting = ConcurrentHashMap.newKeySet();
    private final AtomicInteger interrupted = new AtomicInteger();

    RandomLocks(EmbeddedZooKeeper server, History history, String base, int ofEachKind) {
        this.server = server;
        this.history = history;
        this.base = base;
        this.ofEachKind = ofEachKind;
    }

    private record Claimed(Acquirable lock, LockClaim claim) {}

    /** One lock of the kind with this number at a path drawn. */
    private Claimed draw(LockClient client, int kind, SplittableRandom random) {
        String path = base + "/" + kind + "/" + random.nextInt(ofEachKind);
        int permits = random.nextInt(1, CAPACITY + 1);
        return switch (kind) {
            case 0 -> new Claimed(client.mutex(path), LockClaim.exclusive(path));
            case 1 ->
                random.nextInt(3) == 0
                        ? new Claimed(client.readWriteLock(path).writeLock(), LockClaim.exclusive(path))
                        : new Claimed(client.readWriteLock(path).readLock(), LockClaim.shared(path));
            default ->
                new Claimed(
                        client.semaphore(path, CAPACITY).permits(permits), LockClaim.permits(path, permits, CAPACITY));
        };
    }

    /** One turn: takes something, holds it for a moment, lets it go. Says whether it was granted. */
    boolean takeTurn(FaultyClient faulty, SplittableRandom random, int longestHoldMillis) throws InterruptedException {
        LockClient client = faulty.client();
        int form = random.nextInt(6);
        if (form == 5) {
            return downgrade(faulty, random, longestHoldMillis);
        }
        List<Claimed> claimed = new ArrayList<>();
        if (form >= 3) {
            List<Integer> kinds = new ArrayList<>(List.of(0, 1, 2));
            Collections.shuffle(kinds, new java.util.Random(random.nextLong()));
            kinds.subList(0, random.nextInt(2, 4)).forEach(kind -> claimed.add(draw(client, kind, random)));
        } else {
            claimed.add(draw(client, form, random));
        }
        Acquirable lock = claimed.size() == 1
                ? claimed.get(0).lock()
                : client.multiLock(claimed.stream().map(Claimed::lock).toArray(Acquirable[]::new));
        Acquirable recorded = history.recorded(
                faulty, lock, claimed.stream().map(Claimed::claim).toArray(LockClaim[]::new));
        if (random.nextInt(6) == 0) {
            return runBody(faulty, recorded, random, longestHoldMillis);
        }
        waiting.add(faulty);
        Optional<Lease> lease = random.nextInt(4) == 0
                ? TimedAcquires.tryAcquire(recorded, Duration.ofMillis(random.nextInt(1, 200)))
                : Optional.of(recorded.acquire());
        waiting.remove(faulty);
        lease.ifPresent(granted -> holdAndRelease(granted, random, longestHoldMillis));
        return lease.isPresent();
    }

    /** A body that a loss interrupts, which may be that of a limit. */
    private boolean runBody(FaultyClient faulty, Acquirable lock, SplittableRandom random, int longestHoldMillis)
            throws InterruptedException {
        int hold = random.nextInt(longestHoldMillis + 1);
        Acquirable limited = random.nextBoolean()
                ? lock.heldAtMost(Duration.ofMillis(random.nextInt(1, longestHoldMillis + 1)))
                : lock;
        waiting.add(faulty);
        try {
            limited.run(OnLoss.INTERRUPT, lease -> {
                waiting.remove(faulty);
                if (lease.isValid()) {
                    pause(hold);
                }
            });
        } catch (LeaseLostException lost) {
            interrupted.incrementAndGet();
        }
        return true;
    }

    /** The number of bodies whose lease was lost. */
    int interrupted() {
        return interrupted.get();
    }

    private boolean downgrade(FaultyClient faulty, SplittableRandom random, int longestHoldMillis)
            throws InterruptedException {
        String path = base + "/1/" + random.nextInt(ofEachKind);
        ReadWriteLock lock = faulty.client().readWriteLock(path);
        waiting.add(faulty);
        Lease write = history.recorded(faulty, lock.writeLock(), LockClaim.exclusive(path))
                .acquire();
        waiting.remove(faulty);
        pause(random.nextInt(longestHoldMillis + 1));
        write.isValid();
        try {
            holdAndRelease(History.downgrade(lock, write), random, longestHoldMillis);
        } catch (LeaseLostException lost) {
            write.isValid();
        }
        return true;
    }

    private static void holdAndRelease(Lease lease, SplittableRandom random, int longestHoldMillis) {
        if (lease.isValid()) {
            pause(random.nextInt(longestHoldMillis + 1));
        }
        if (lease.isValid()) {
            lease.close();
        }
    }

    /** Whether the client waits for a grant. */
    boolean waits(FaultyClient client) {
        return waiting.contains(client);
    }

    /** Work takes its time; nothing is awaited here. */
    static void pause(int millis) {
        LockSupport.parkNanos(Duration.ofMillis(millis).toNanos());
    }

    /**
     * Waits until no request is left, nor a watch of one, and checks what was recorded. After all work has ended, it is
     * decided whether every attempt has ended and every loss was reported; where sessions end, other rules may remain
     * undecided.
     */
    void check(Duration within) throws InterruptedException {
        Eventually.holds(
                "no request is left: " + requests(), within, () -> requests().isEmpty());
        Eventually.holds("no watch is left: " + server.watches(), within, () -> server.watchCount() == 0);
        ExclusionChecker.readWrite().whileSessionsLive(history).assertNotBroken();
        ExclusionChecker.permits().whileSessionsLive(history).assertNotBroken();
        TokenOrderChecker.check(history).assertNotBroken();
        FifoChecker.check(history).assertNotBroken();
        LossChecker.check(history).assertObeyed();
        LinearizabilityChecker.check(history).assertNotBroken();
        LivenessChecker.check(history, ALLOWANCE, SERVED).assertObeyed();
    }

    List<ServerNode> requests() {
        Stream<ServerNode> all = server.nodesUnder(base).stream();
        return all.filter(ServerNode::isEphemeral).toList();
    }
}
