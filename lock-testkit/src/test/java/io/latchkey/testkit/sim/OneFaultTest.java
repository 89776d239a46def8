// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.Fault;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.proxy.WireRecord;
import io.latchkey.testkit.server.ServerNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * One request of a client is refused or lost, each in turn. All calls end then, with their result or a {@link
 * LockException}. Afterwards both clients are served, and the servers have no request and no watch.
 */
@Timeout(120)
@Tag("slow")
class OneFaultTest {
    private static final Duration SESSION = Duration.ofSeconds(6);
    private static final int MOST_REQUESTS = 200;
    /** A refused removal leaves a watch, whose event is then ignored. */
    private static final RequestMatch ANY = RequestMatch.of(
            "request", request -> RequestMatch.any().matches(request) && request.op() != WireRecord.Op.REMOVE_WATCHES);

    /** What happens to the request. */
    private enum Strike {
        THROTTLED,
        DENIED,
        CUT_BEFORE,
        CUT_AFTER;

        Fault at(int number, SimulatedLocks locks, LockClient client) {
            return switch (this) {
                case THROTTLED -> locks.refuseRequest(client, ANY, number, KeeperException.Code.THROTTLEDOP);
                case DENIED -> locks.refuseRequest(client, ANY, number, KeeperException.Code.NOAUTH);
                case CUT_BEFORE -> locks.cutBefore(client, ANY, number);
                case CUT_AFTER -> locks.cutAfter(client, ANY, number);
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    void allCallsEndAndNothingIsLeft_whicheverRequestIsStruck(Door door) throws Exception {
        for (Strike strike : Strike.values()) {
            boolean struck = true;
            for (int number = 1; struck; number++) {
                assertTrue(number < MOST_REQUESTS, "no end of requests");
                struck = new Run(door, number % 2 == 0).play(strike, number);
            }
        }
    }

    private record Asked(LockClient client, CompletableFuture<Lease> lease) {}

    /** One client's calls, and those of another. */
    private static final class Run {
        private final Door door;
        private final boolean held;
        private final SimulatedLocks locks = SimulatedLocks.start(SESSION);
        private final LockClient mine;
        private final LockClient other;
        private final List<CompletableFuture<?>> calls = new ArrayList<>();
        private final Set<Asked> handled = new HashSet<>();

        /**
         * @param held whether the other client holds; else no path exists
         */
        Run(Door door, boolean held) {
            this.door = door;
            this.held = held;
            this.mine = door.described(locks.builder()).build();
            this.other = door.described(locks.builder()).build();
        }

        /** Returns whether there was such a request. */
        boolean play(Strike strike, int number) throws Exception {
            try (locks) {
                Optional<Lease> blocking =
                        held ? Optional.of(soon(door.blocker(other).acquireAsync())) : Optional.empty();
                Fault fault = strike.at(number, locks, mine);
                List<Asked> asked = new ArrayList<>();
                for (LockClient client : List.of(mine, mine, other)) {
                    asked.add(new Asked(client, called(door.asked(client).acquireAsync())));
                }
                locks.advance(Duration.ZERO);
                calls.add(door.asked(mine).queueAsync());
                calls.add(mine.locksAsync("/"));
                if (door.isLatchkeysOwn()) {
                    calls.add(mine.semaphore("/other/s", 2).resizeAsync(3));
                }
                locks.advance(Duration.ZERO);
                blocking.ifPresent(Lease::close);
                for (int i = 0; i < 3 * asked.size(); i++) {
                    locks.advance(SESSION.dividedBy(3));
                    releaseOneOf(asked);
                }
                locks.advance(SESSION);
                boolean struck = fault.struck().isDone();
                locks.heal(mine);
                assertAllEnded(fault.toString());
                locks.advance(SESSION.multipliedBy(2));
                served(other);
                served(mine);
                locks.advance(Duration.ZERO);
                assertEquals(List.of(), requests(), fault::toString);
                assertEquals(List.of(), locks.watches(), fault::toString);
                return struck;
            }
        }

        private <T> CompletableFuture<T> called(CompletableFuture<T> call) {
            calls.add(call);
            return call;
        }

        /** What was granted, unless it is among the leases that were released. */
        private void releaseOneOf(List<Asked> asked) {
            for (Asked each : asked) {
                if (each.lease().isDone() && !each.lease().isCompletedExceptionally() && handled.add(each)) {
                    listenAndRelease(each.client(), each.lease().join());
                    return;
                }
            }
        }

        private void listenAndRelease(LockClient client, Lease lease) {
            var unused = lease.lost();
            if (door.isLatchkeysOwn()) {
                var unused2 = lease.releaseRequested();
            }
            locks.advance(Duration.ZERO);
            if (door == Door.WRITE) {
                var unused3 = called(client.readWriteLock("/rw").downgradeAsync(lease))
                        .handle((read, failed) -> calls.add((read == null ? lease : read).releaseAsync()));
            } else {
                calls.add(lease.releaseAsync());
            }
        }

        private void assertAllEnded(String what) throws InterruptedException {
            for (CompletableFuture<?> call : calls) {
                assertTrue(call.isDone(), () -> what + ": " + call + " of " + calls + ", at the servers " + requests());
                try {
                    call.get();
                } catch (ExecutionException failed) {
                    if (!(failed.getCause() instanceof LockException)) {
                        throw new AssertionError(what, failed.getCause());
                    }
                }
            }
        }

        private void served(LockClient client) throws Exception {
            CompletableFuture<Lease> next = door.asked(client).acquireAsync();
            locks.advance(Duration.ZERO);
            soon(next).close();
        }

        private static <T> T soon(CompletableFuture<T> due) throws Exception {
            return due.get(5, TimeUnit.SECONDS);
        }

        private List<ServerNode> requests() {
            return locks.nodesUnder("/").stream()
                    .filter(ServerNode::isEphemeral)
                    .toList();
        }
    }
}
