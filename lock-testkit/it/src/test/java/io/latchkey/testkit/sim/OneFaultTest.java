// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.admin.Contender;
import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.testkit.server.ServerNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * One request of a client is refused or throttled, or it is lost, or its answer. Each request is struck in turn, for
 * every kind of lock. A loss or a throttling server keeps no caller from the lock, and no call fails by the latter.
 * Holders that listen hear of release requests, or that they cannot, and an evicted one hears of its loss. All calls
 * end, with their result or a {@link LockException}. Afterwards both clients are served, and the servers have no
 * request and no watch.
 */
@Tag("slow")
@Timeout(120)
class OneFaultTest {
    private static final Duration SESSION = Duration.ofSeconds(6);
    private static final int MOST_REQUESTS = 200;
    /** More than any of these sends until it is granted. */
    private static final int UNTIL_THE_GRANT = 24;
    /** A refused removal leaves a watch, whose event is then ignored. */
    private static final RequestMatch ANY = RequestMatch.of(
            "request", request -> RequestMatch.any().matches(request) && request.op() != WireRecord.Op.REMOVE_WATCHES);

    /** What happens to the request. */
    private enum FaultKind {
        REQUEST_LOST,
        ANSWER_LOST,
        /** This answer and all behind it: the client takes its session for ended, as the server does. */
        ANSWERS_AND_SESSION_LOST,
        THROTTLED,
        DENIED;

        /** Plans it for the client's request of this number, and returns when it has happened. */
        CompletableFuture<?> at(int number, SimulatedLocks locks, LockClient client) {
            AtomicInteger left = new AtomicInteger(number);
            return switch (this) {
                case REQUEST_LOST -> locks.cutBefore(client, ANY, number).struck();
                case ANSWER_LOST -> locks.cutAfter(client, ANY, number).struck();
                case ANSWERS_AND_SESSION_LOST ->
                    locks.holdAnswers(
                                    client,
                                    RequestMatch.of("from number " + number, any -> left.decrementAndGet() <= 0))
                            .firstCaught();
                case THROTTLED ->
                    locks.refuseRequest(client, ANY, number, KeeperException.Code.THROTTLEDOP)
                            .struck();
                case DENIED ->
                    locks.refuseRequest(client, ANY, number, KeeperException.Code.NOAUTH)
                            .struck();
            };
        }
    }

    private static final EnumSet<FaultKind> REFUSALS = EnumSet.of(FaultKind.DENIED);

    @ParameterizedTest
    @EnumSource
    void callersHaveTheLock_whateverIsLostBeforeTheGrant(EntryPoint entryPoint) {
        for (FaultKind loss : EnumSet.complementOf(REFUSALS)) {
            for (int number = 1; number <= UNTIL_THE_GRANT; number++) {
                boolean unused = isStruck(entryPoint, loss, number, true);
                boolean unused2 = isStruck(entryPoint, loss, number, false);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    void callersHaveTheLock_whateverIsLostLater(EntryPoint entryPoint) {
        for (FaultKind loss : EnumSet.complementOf(REFUSALS)) {
            strikeEachFrom(UNTIL_THE_GRANT + 1, entryPoint, loss);
        }
    }

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    void allCallsEnd_whateverIsRefused(EntryPoint entryPoint) {
        for (FaultKind refusal : REFUSALS) {
            strikeEachFrom(1, entryPoint, refusal);
        }
    }

    private static void strikeEachFrom(int first, EntryPoint entryPoint, FaultKind kind) {
        boolean struck = true;
        for (int number = first; struck; number++) {
            assertTrue(number < MOST_REQUESTS, "no end of requests");
            struck = isStruck(entryPoint, kind, number, number % 2 == 0);
        }
    }

    /**
     * Plays it once, and returns whether there was such a request.
     *
     * @param held whether another client holds; else no path exists
     */
    private static boolean isStruck(EntryPoint entryPoint, FaultKind kind, int number, boolean held) {
        Run run = new Run(entryPoint, held, kind);
        try {
            return run.play(number);
        } catch (AssertionError | Exception failed) {
            throw new AssertionError(
                    kind + ", number " + number + (held ? " behind a holder: " : ": ") + run.calls, failed);
        }
    }

    private record PendingAcquire(LockClient client, CompletableFuture<Lease> lease) {}

    /** One client's calls, and those of another. */
    private static final class Run {
        private final EntryPoint entryPoint;
        private final boolean held;
        private final FaultKind kind;
        private final SimulatedLocks locks = SimulatedLocks.start(SESSION);
        private final LockClient mine;
        private final LockClient other;
        private final List<CompletableFuture<?>> calls = new ArrayList<>();
        private final Set<PendingAcquire> handled = new HashSet<>();
        private CompletableFuture<?> struck = new CompletableFuture<>();
        private boolean sessionLost;

        Run(EntryPoint entryPoint, boolean held, FaultKind kind) {
            this.entryPoint = entryPoint;
            this.held = held;
            this.kind = kind;
            this.mine = entryPoint.described(locks.builder()).build();
            this.other = entryPoint.described(locks.builder()).build();
        }

        /** Returns whether there was such a request. */
        boolean play(int number) throws Exception {
            try (locks) {
                Optional<Lease> blocking =
                        held ? Optional.of(soon(entryPoint.blocker(other).acquireAsync())) : Optional.empty();
                struck = kind.at(number, locks, mine);
                List<PendingAcquire> asked = new ArrayList<>();
                for (LockClient client : List.of(mine, mine, other)) {
                    asked.add(new PendingAcquire(
                            client, called(entryPoint.asked(client).acquireAsync())));
                }
                pass(Duration.ZERO);
                calls.add(entryPoint.asked(mine).queueAsync());
                calls.add(mine.listLocksAsync("/"));
                if (entryPoint.isLatchkeysOwn()) {
                    calls.add(mine.semaphore("/other/s", 2).resizeAsync(3));
                }
                pass(Duration.ZERO);
                blocking.ifPresent(Lease::close);
                for (int i = 0; i < 3 * asked.size(); i++) {
                    pass(SESSION.dividedBy(3));
                    releaseOneOf(asked);
                }
                pass(SESSION);
                boolean was = struck.isDone();
                locks.heal(mine);
                assertAllEnded();
                if (!REFUSALS.contains(kind)) {
                    asked.forEach(each -> each.lease().join());
                }
                locks.advance(SESSION.multipliedBy(2));
                served(other);
                served(mine);
                locks.advance(Duration.ZERO);
                assertEquals(List.of(), requests());
                assertEquals(List.of(), locks.watches());
                return was;
            }
        }

        private void pass(Duration time) {
            locks.advance(time);
            if (kind == FaultKind.ANSWERS_AND_SESSION_LOST && struck.isDone() && !sessionLost) {
                sessionLost = true;
                locks.expire(mine, ExpiryOrder.BOTH);
                locks.heal(mine);
            }
        }

        private <T> CompletableFuture<T> called(CompletableFuture<T> call) {
            calls.add(call);
            return call;
        }

        /** Releases one lease that was granted and not released, if there is one; the second is evicted. */
        private void releaseOneOf(List<PendingAcquire> asked) throws Exception {
            for (PendingAcquire each : asked) {
                if (each.lease().isDone() && !each.lease().isCompletedExceptionally() && handled.add(each)) {
                    Lease lease = each.lease().join();
                    if (handled.size() == 2) {
                        evict(lease);
                    } else {
                        listenAndRelease(each.client(), lease);
                    }
                    return;
                }
            }
        }

        private void evict(Lease lease) throws Exception {
            CompletableFuture<LossCause> lost = lease.lost().toCompletableFuture();
            pass(Duration.ZERO);
            for (Contender each : contendersOf(lease)) {
                var unused = each.evict();
            }
            pass(SESSION.dividedBy(2));
            assertTrue(lost.isDone(), "an evicted holder has not heard of its loss");
        }

        private void listenAndRelease(LockClient client, Lease lease) throws Exception {
            var unused = lease.lost();
            if (entryPoint.isLatchkeysOwn()) {
                CompletableFuture<ReleaseRequest> heard =
                        lease.releaseRequested().toCompletableFuture();
                for (int i = 0; i < 2; i++) {
                    pass(SESSION.dividedBy(3));
                    for (Contender each : contendersOf(lease)) {
                        var unused2 = each.requestRelease();
                    }
                }
                pass(SESSION.dividedBy(3));
                boolean mayFail = REFUSALS.contains(kind);
                assertTrue(
                        !lease.isValid() || (heard.isDone() && (mayFail || !heard.isCompletedExceptionally())),
                        () -> "no release request was heard: " + heard);
            }
            pass(Duration.ZERO);
            if (entryPoint == EntryPoint.WRITE) {
                var unused3 = called(client.readWriteLock("/rw").downgradeAsync(lease))
                        .handle((read, failed) -> calls.add(
                                (read == null ? lease : read).releaseAsync().toCompletableFuture()));
            } else {
                calls.add(lease.releaseAsync().toCompletableFuture());
            }
        }

        /** As the other client sees them. */
        private List<Contender> contendersOf(Lease lease) throws Exception {
            return soon(entryPoint.asked(other).queueAsync()).stream()
                    .filter(each -> each.isOf(lease))
                    .toList();
        }

        private void assertAllEnded() throws InterruptedException {
            for (CompletableFuture<?> call : calls) {
                assertTrue(call.isDone(), () -> call + " has not ended, at the servers are " + requests());
                try {
                    call.get();
                } catch (ExecutionException failed) {
                    assertInstanceOf(LockException.class, failed.getCause());
                    String message = String.valueOf(failed.getCause().getMessage());
                    assertFalse(
                            kind == FaultKind.THROTTLED
                                    && message.toLowerCase(Locale.ROOT).contains("throttle"),
                            message);
                }
            }
        }

        private void served(LockClient client) throws Exception {
            CompletableFuture<Lease> next = entryPoint.asked(client).acquireAsync();
            locks.advance(Duration.ZERO);
            soon(next).close();
        }

        private static <T> T soon(CompletionStage<T> due) throws Exception {
            return due.toCompletableFuture().get(5, TimeUnit.SECONDS);
        }

        private List<ServerNode> requests() {
            return locks.nodesUnder("/").stream()
                    .filter(ServerNode::isEphemeral)
                    .toList();
        }
    }
}
