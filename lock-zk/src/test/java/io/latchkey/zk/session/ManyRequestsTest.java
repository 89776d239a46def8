// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.session;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.Lists;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.queue.Owner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Steps that cost the same however many other requests or paths there are; with a walk over all, each bound is exceeded a hundredfold. */
class ManyRequestsTest {
    private static final Duration SOON = Duration.ofSeconds(2);

    private final Engine engine = new Engine(new Engine.Config(
            new Engine.Source.Own(listener -> {
                throw new AssertionError("never started");
            }),
            Duration.ofSeconds(10),
            Optional.empty(),
            new Owner("host", 1, "label"),
            () -> 1,
            new VirtualTime(),
            Runnable::run,
            path -> path));
    private final Session session = new Session(engine);

    /** Leaving from the front is the measure for leaving from the end, so that the machine's speed does not matter. */
    @Test
    void waitersLeaveALineOfLocalTurns_withoutAWalkOverTheLine() {
        LocalTurns turns = new LocalTurns(engine, 10, Duration.ofMinutes(1));
        List<CompletableFuture<Optional<ZkLease>>> line = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) {
            line.add(turns.acquire("/m", new Patience.Forever()));
        }
        long first = nanosToLeave(line.subList(0, 10_000));
        long last = nanosToLeave(Lists.reverse(line).subList(0, 10_000));
        assertTrue(last < 10 * first, () -> "from the front " + first + " ns, from the end " + last + " ns");
    }

    private static long nanosToLeave(List<CompletableFuture<Optional<ZkLease>>> leaving) {
        long start = System.nanoTime();
        leaving.forEach(turn -> assertTrue(turn.complete(Optional.empty())));
        return System.nanoTime() - start;
    }

    @Test
    void closingClientKnowsWhetherItOwes_withoutAWalkOverItsPaths() {
        for (int i = 0; i < 10_000; i++) {
            session.lane("/m/" + i).creating();
        }
        for (int i = 1; i < 10_000; i++) {
            session.lane("/m/" + i).noLongerCreating();
        }
        assertTimeoutPreemptively(SOON, () -> {
            for (int i = 0; i < 200_000; i++) {
                assertTrue(session.owes());
            }
        });
        session.lane("/m/0").noLongerCreating();
        assertFalse(session.owes());
    }

    @Test
    void releaseWithoutAConnection_isToldWithoutAWalkOverThoseBefore() {
        List<NodeName> nodes = new ArrayList<>();
        for (int i = 0; i < 150_000; i++) {
            nodes.add(NodeName.parse(String.format(Locale.ROOT, "read-%016x-%010d", i, i))
                    .orElseThrow());
        }
        Departures departures = session.lane("/m").departures();
        assertTimeoutPreemptively(SOON, () -> nodes.forEach(departures::withdraw));
        assertTrue(departures.owes());
    }
}
