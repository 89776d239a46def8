// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.context;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.PathData;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * The margin for touches of sessions on their way from a server to the leader, which requests them every half tick; the
 * known capacities of semaphores.
 */
class ClientContextTest {
    @Test
    void marginIsAQuarter_whenTheSessionIsLong() {
        assertEquals(Duration.ofMillis(2500), margin(Duration.ofSeconds(10), Duration.ofSeconds(10)));
        assertEquals(Duration.ofMillis(1500), margin(Duration.ofSeconds(6), Duration.ofSeconds(6)));
    }

    /** Ticks are of two seconds unless set otherwise, and a session has two of them at least. */
    @Test
    void marginIsMoreThanHalfATick_whenTheSessionIsTheSmallestByDefault() {
        Duration tick = Duration.ofSeconds(2);
        for (int millis = 4000; millis <= 10_000; millis += 100) {
            Duration timeout = Duration.ofMillis(millis);
            Duration spare = margin(timeout, timeout).minus(tick.dividedBy(2));
            assertTrue(spare.compareTo(tick.dividedBy(7)) > 0, () -> spare + " to spare of " + timeout);
        }
    }

    @Test
    void marginIsMoreThanHalfATick_whenTheServerLengthenedTheSessionToItsSmallest() {
        Duration tick = Duration.ofSeconds(6);
        Duration margin = margin(Duration.ofMillis(100), tick.multipliedBy(2));
        assertEquals(tick.multipliedBy(2).dividedBy(3), margin);
    }

    /** As of a handle that connects later. Its owner asked for that timeout, so the servers have lengthened nothing. */
    @Test
    void marginIsAQuarter_whenABorrowedSessionIsLongerThanTheOneToAskFor() {
        Engine borrowing = new Engine(WithoutServer.borrowing());
        assertEquals(Duration.ofSeconds(5), borrowing.context().margin(Duration.ofSeconds(20)));
    }

    @Test
    void marginIsTheGivenOne_whenThatIsNoMoreThanAThird() {
        Duration asked = Duration.ofSeconds(4);
        assertEquals(Duration.ofMillis(200), margin(asked, asked, Optional.of(Duration.ofMillis(200))));
        assertEquals(asked.dividedBy(3), margin(asked, asked, Optional.of(asked)));
    }

    @Test
    void capacityIsTheDeclaredOneAgain_afterItWasResizedBack() {
        Duration timeout = Duration.ofSeconds(10);
        ClientContext context = context(timeout, Optional.empty());
        LockPath path = new LockPath("/s");
        PathData declared = PathData.semaphore(2);
        context.learn(path, declared.resized(5));
        assertEquals(Optional.of(5), context.knownCapacity(path));
        context.learn(path, declared.resized(5).resized(2));
        assertEquals(Optional.of(2), context.knownCapacity(path));
    }

    private static Duration margin(Duration asked, Duration granted) {
        return margin(asked, granted, Optional.empty());
    }

    private static Duration margin(Duration asked, Duration granted, Optional<Duration> given) {
        return context(asked, given).margin(granted);
    }

    private static ClientContext context(Duration asked, Optional<Duration> given) {
        Engine engine = new Engine(WithoutServer.config(asked, given));
        return engine.context();
    }
}
