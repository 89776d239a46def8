// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.testkit.Slowness;
import io.latchkey.testkit.Stopwatch;
import io.latchkey.testkit.proxy.FaultProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server that answers slowly or not at all: timed calls return within their timeout. */
@Tag("once")
@Tag("long")
@Timeout(90)
class SlowServerTest extends OnOneServer {
    private static final Duration LONG = Slowness.stretched(Duration.ofSeconds(6));
    private static final Duration PATIENCE = Duration.ofMillis(500);
    /** For a busy machine; an answer of the server would take twice as long as the patience. */
    private static final Duration ALLOWANCE = Duration.ofMillis(400);

    private final FaultProxy proxy = proxy();
    private final ZkLockClient slow =
            client(builder -> builder.connectString(proxy.connectString()).sessionTimeout(LONG));

    @Test
    void timedTryEndsInTime_whenTheServerIsSlow() throws Exception {
        for (Acquirable lock : List.of(
                slow.mutex("/m"),
                slow.readWriteLock("/rw").readLock(),
                slow.semaphore("/s", 3).permits(2),
                slow.multiLock(slow.mutex("/a"), slow.mutex("/b")))) {
            proxy.delay(PATIENCE);
            assertTrue(timed(PATIENCE, () -> lock.tryAcquire(PATIENCE)).isEmpty());
            proxy.delay(Duration.ZERO);
        }
        // What the late answers brought is given back.
        awaitNothingLeft("/m", "/rw", "/s", "/a", "/b");
        slow.mutex("/m").acquire().close();
    }

    @Test
    void timedTryEndsInTime_whenTheServerDoesNotRespond() throws Exception {
        proxy.blackHole();
        assertTrue(timed(PATIENCE, () -> slow.mutex("/m").tryAcquire(PATIENCE)).isEmpty());
        proxy.heal();
        awaitNothingLeft("/m");
    }

    /** One without a time has the server's: a session time-out. */
    @Test
    void tryEndsWithinASessionTimeout_withoutATimeout() throws Exception {
        proxy.blackHole();
        timed(
                LONG,
                () -> assertThrows(
                        LockUnavailableException.class, () -> slow.mutex("/m").tryAcquire()));
        proxy.heal();
    }

    /** A release ends when the connection is found broken, at two thirds of a session time-out; for others later. */
    @Test
    void releaseReturnsPending_andTheDeletionIsRetried() throws Exception {
        Lease held = slow.mutex("/m").acquire();
        proxy.blackHole();
        ReleaseOutcome outcome = timed(LONG, held::release);
        assertEquals(ReleaseOutcome.PENDING, outcome);
        proxy.heal();
        awaitNothingLeft("/m");
        assertTrue(slow.mutex("/m").acquireAsync().get(10, TimeUnit.SECONDS).isValid());
    }

    private interface Call<T> {
        T make() throws Exception;
    }

    private static <T> T timed(Duration limit, Call<T> call) throws Exception {
        Stopwatch watch = Stopwatch.start();
        T result = call.make();
        Duration took = Duration.ofMillis(watch.stop());
        assertTrue(took.compareTo(limit.plus(ALLOWANCE)) < 0, "it took " + took);
        return result;
    }
}
