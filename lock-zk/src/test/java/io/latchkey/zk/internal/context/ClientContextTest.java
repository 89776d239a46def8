// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.context;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.PathData;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The margin for touches of sessions on their way from a server to the leader, which requests them every half tick; the
 * known capacities of semaphores.
 */
class ClientContextTest {
    /** A quarter; a third where the servers lengthened the timeout, or it is short; or the given one up to a third. */
    @ParameterizedTest
    @CsvSource({
        "PT10S,  PT10S,    ,       PT2.5S",
        "PT6S,   PT6S,     ,       PT1.5S",
        "PT12S,  PT12S,    ,       PT3S",
        "PT12S,  PT12.003S, ,      PT4.001S",
        "PT0.1S, PT12S,    ,       PT4S",
        "PT12S,  PT5.34S,  ,       PT1.335S",
        "PT12S,  PT5.33S,  ,       PT1.334S",
        "PT12S,  PT4.001S, ,       PT1.333666666S",
        "PT12S,  PT4S,     ,       PT1.333333333S",
        "PT12S,  PT3.999S, ,       PT1.333S",
        "PT12S,  PT3S,     ,       PT1S",
        "PT4S,   PT4S,     PT0.2S, PT0.2S",
        "PT4S,   PT4S,     PT4S,   PT1.333333333S"
    })
    void marginFollowsTheTimeout(Duration asked, Duration granted, @Nullable Duration given, Duration margin) {
        assertEquals(margin, margin(asked, granted, Optional.ofNullable(given)));
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

    /** As of a handle that connects later. Its owner asked for that timeout, so the servers have lengthened nothing. */
    @Test
    void marginIsAQuarter_whenABorrowedSessionIsLongerThanTheOneToAskFor() {
        Engine borrowing = new Engine(WithoutServer.borrowing());
        assertEquals(Duration.ofSeconds(5), borrowing.context().margin(Duration.ofSeconds(20)));
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

    /** An executor may run a stage where it is submitted, also in another one. */
    @Test
    void threadIsInACallback_untilTheOutermostEnds() {
        ClientContext context = context(Duration.ofSeconds(10), Optional.empty());
        List<Boolean> inside = new ArrayList<>();
        context.callBack(() -> {
            context.callBack(() -> inside.add(context.isInCallback()));
            inside.add(context.isInCallback());
        });
        inside.add(context.isInCallback());
        assertEquals(List.of(true, true, false), inside);
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
