// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseRequest;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.Contender.Eviction;
import io.latchkey.lock.admin.Contender.ReleaseRequestResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The sequence counter of a path is exhausted, for every recipe. */
@Timeout(60)
class OverflowTest extends OnOneServer {
    private static final int NEAR_THE_END = Integer.MAX_VALUE - 2;

    private final ZkLockClient first = client("first");
    private final ZkLockClient second = client("second");

    OverflowTest() throws InterruptedException {}

    private void setCounters(Lockable kind, int counter) {
        kind.paths().forEach(path -> server().setChildCounter(path, counter));
    }

    private void awaitSteppedBack(Lockable kind, int held) throws InterruptedException {
        for (String path : kind.paths()) {
            awaitRequests(path, held);
        }
        awaitUntil("a request that waits for an empty path", () -> server().watches().stream()
                .anyMatch(watch -> kind.paths().contains(watch.path())));
    }

    @ParameterizedTest
    @EnumSource(Lockable.class)
    void allAreServedOneAtATime_whenTheQueueHasDrained(Lockable kind) throws Exception {
        Lease held = kind.of(first).acquire();
        setCounters(kind, NEAR_THE_END);
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (ZkLockClient client : List.of(second, first, client("third"))) {
            waiting.add(kind.blocker(client).acquireAsync());
            waiting.add(kind.of(client).acquireAsync());
        }
        awaitSteppedBack(kind, 1);
        assertTrue(waiting.stream().noneMatch(CompletableFuture::isDone));
        assertTrue(held.isValid());

        held.close();
        List<CompletableFuture<Void>> served = new ArrayList<>();
        // Each second one shuts the others out.
        List<AtomicInteger> holding = List.of(new AtomicInteger(), new AtomicInteger());
        for (CompletableFuture<Lease> next : waiting) {
            AtomicInteger side = holding.get(served.size() % 2);
            AtomicInteger shutOut = holding.get(1 - served.size() % 2);
            served.add(next.thenAccept(lease -> {
                side.incrementAndGet();
                assertEquals(0, shutOut.get(), "held side by side");
                assertTrue(lease.isValid());
                assertTrue(lease.token() > held.token(), "tokens grow through a new path");
                side.decrementAndGet();
                lease.close();
            }));
        }
        CompletableFuture.allOf(served.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
        Lease after = kind.of(first).acquire();
        for (String path : kind.paths()) {
            assertTrue(
                    sequence(requestsUnder(path).get(0)) < 100, "the path was created again, and its counter with it");
        }
        after.close();
        awaitNothingLeft(kind.paths().toArray(String[]::new));
    }

    @Test
    void pathIsNoLongerWatched_whenTheLastThatWaitsForItGivesUp() throws Exception {
        Lease held = second.mutex("/m").acquire();
        server().setChildCounter("/m", NEAR_THE_END);
        CompletableFuture<Lease> waiting = first.mutex("/m").acquireAsync();
        awaitUntil("it waits for an empty path", () -> server().watches().stream()
                .anyMatch(watch -> watch.path().equals("/m")));
        waiting.cancel(false);
        awaitUntil("no watch is left", () -> server().watches().stream()
                .noneMatch(watch -> watch.path().equals("/m")));
        held.close();
    }

    /** A request steps back, too, when the server has no more numbers for it. */
    @ParameterizedTest
    @EnumSource(Lockable.class)
    void requestIsServed_whenTheCounterStandsStill(Lockable kind) throws Exception {
        kind.of(first).acquire().close();
        setCounters(kind, Integer.MAX_VALUE);
        List<CompletableFuture<Void>> served = new ArrayList<>();
        for (ZkLockClient client : List.of(first, second)) {
            for (int i = 0; i < 3; i++) {
                served.add(kind.of(client).acquireAsync().thenAccept(Lease::close));
            }
        }
        CompletableFuture.allOf(served.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
        awaitNothingLeft(kind.paths().toArray(String[]::new));
    }

    @ParameterizedTest
    @EnumSource(Lockable.class)
    void errorNamesForeignChildren_thatKeepAPathFromBeingRenewed(Lockable kind) throws Exception {
        kind.of(first).acquire().close();
        setCounters(kind, NEAR_THE_END);
        String path = kind.paths().get(0);
        String foreign = path + "/config";
        makeNode(foreign);
        LockException told =
                assertThrows(LockException.class, () -> kind.of(first).acquire());
        assertEquals(LockException.Reason.COUNTER_EXHAUSTED, told.reason());
        assertTrue(told.getMessage().contains(path), told.getMessage());
        assertTrue(told.getMessage().contains("Delete the path"), told.getMessage());
        handle().delete(foreign, -1);
        kind.of(second).acquire().close();
    }

    /** Its number is the smallest int, which has no positive counterpart. */
    @Test
    void actionsOnARequestWithoutANumberHaveNoEffect_whenItHasLeft() throws Exception {
        first.mutex("/m").acquire().close();
        String request = "/m/write-0123456789abcdef--2147483648";
        makeNode(request);
        Contender seen = first.mutex("/m").queue().get(0);
        handle().delete(request, -1);
        assertEquals(Eviction.GONE, seen.evict());
        assertEquals(ReleaseRequestResult.GONE, seen.requestRelease());
    }

    /**
     * The revocation node of a holder that was evicted and does not know it yet is not foreign: a path renewal waits
     * for it.
     */
    @ParameterizedTest
    @EnumSource(Lockable.class)
    void listeningHolder_isEvictedAndOthersAreServed(Lockable kind) throws Exception {
        Lease held = kind.of(first).acquire();
        CompletableFuture<ReleaseRequest> wish = listening(held, kind.paths().toArray(String[]::new));
        setCounters(kind, NEAR_THE_END);
        CompletableFuture<Lease> waiting = kind.blocker(second).acquireAsync();
        awaitSteppedBack(kind, 1);
        assertFalse(waiting.isDone());
        assertEquals(Eviction.EVICTED, kind.of(second).queue().get(0).evict());
        assertEquals(LossCause.NODE_DELETED, soon(held.lost()));
        soon(waiting).close();
        assertFalse(wish.isDone());
        awaitNothingLeft(kind.paths().toArray(String[]::new));
    }
}
