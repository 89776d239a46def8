// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The interrupts of bodies, alone and inside of each other, in the thread that runs them. */
class BodyInterruptionTest {
    private static final int RACES = 20_000;

    private final BodyInterruption outer = new BodyInterruption();

    @AfterEach
    void clear() {
        boolean unused = Thread.interrupted();
    }

    @Test
    void threadIsInterruptedOnce() {
        outer.lost(LossCause.NODE_DELETED);
        assertTrue(Thread.interrupted());
        outer.lost(LossCause.SESSION_EXPIRED);
        assertFalse(Thread.interrupted());
        assertEquals(Optional.of(LossCause.NODE_DELETED), outer.end());
    }

    /** By a leader that steps down, steps down again, and loses its lease while the body cleans up. */
    @Test
    void threadIsInterruptedOnce_whenThatIsAskedForAgain() {
        outer.interrupt();
        assertTrue(Thread.interrupted());
        outer.interrupt();
        outer.lost(LossCause.SESSION_EXPIRED);
        assertFalse(Thread.interrupted());
    }

    @Test
    void interruptIsTakenBack_whenTheBodyEnds() {
        outer.lost(LossCause.NODE_DELETED);
        assertEquals(Optional.of(LossCause.NODE_DELETED), outer.end());
        assertFalse(Thread.interrupted());
    }

    @Test
    void threadIsNotInterrupted_whenTheBodyHasEnded() {
        assertEquals(Optional.empty(), outer.end());
        outer.lost(LossCause.NODE_DELETED);
        assertFalse(Thread.interrupted());
    }

    @Test
    void earlierInterruptStays_andNoneIsSentOnTop() {
        Thread.currentThread().interrupt();
        outer.lost(LossCause.NODE_DELETED);
        assertTrue(outer.isWanted());
        assertEquals(Optional.of(LossCause.NODE_DELETED), outer.end());
        assertTrue(Thread.interrupted());
    }

    /** The inner body clears the status, as each wait does that ends with an {@code InterruptedException}. */
    @ParameterizedTest
    @ValueSource(strings = {"io", "oi", "o"})
    void enclosingBodyIsInterrupted_whenTheInnerOneHasClearedTheStatus(String order) {
        BodyInterruption inner = new BodyInterruption();
        order.chars().forEach(lost -> (lost == 'i' ? inner : outer).lost(LossCause.SESSION_EXPIRED));
        assertTrue(Thread.interrupted());
        assertEquals(order.contains("i"), inner.end().isPresent());
        assertTrue(Thread.interrupted(), "the outer body is not interrupted");
        assertTrue(outer.end().isPresent());
        assertFalse(Thread.interrupted());
    }

    @Test
    void enclosingBodyIsNotInterruptedAgain_whenItHasClearedTheStatusItself() {
        outer.lost(LossCause.SESSION_EXPIRED);
        assertTrue(Thread.interrupted());
        assertTrue(new BodyInterruption().end().isEmpty());
        assertFalse(Thread.interrupted());
    }

    @Test
    void enclosingBodyIsNotInterruptedAgain_whenAnotherBodyInsideEndsLater() {
        BodyInterruption first = new BodyInterruption();
        outer.lost(LossCause.SESSION_EXPIRED);
        assertTrue(Thread.interrupted());
        assertTrue(first.end().isEmpty());
        assertTrue(Thread.interrupted(), "the outer body is not interrupted");
        assertTrue(new BodyInterruption().end().isEmpty());
        assertFalse(Thread.interrupted(), "it knows already, and cleans up under another lock");
        assertTrue(outer.end().isPresent());
    }

    @Test
    void enclosingBodyIsInterrupted_whenTheSecondBodyInsideHasClearedTheStatus() {
        assertTrue(new BodyInterruption().end().isEmpty());
        BodyInterruption second = new BodyInterruption();
        outer.lost(LossCause.SESSION_EXPIRED);
        assertTrue(Thread.interrupted());
        assertTrue(second.end().isEmpty());
        assertTrue(Thread.interrupted(), "the outer body is not interrupted");
        assertTrue(outer.end().isPresent());
    }

    @Test
    void outermostBodyIsInterrupted_whenTwoBodiesInsideHaveClearedTheStatus() {
        BodyInterruption middle = new BodyInterruption();
        BodyInterruption inner = new BodyInterruption();
        outer.lost(LossCause.NODE_DELETED);
        assertTrue(Thread.interrupted());
        assertTrue(inner.end().isEmpty());
        assertTrue(Thread.interrupted(), "the lock of the outer body is lost, whatever runs inside of it");
        assertTrue(middle.end().isEmpty());
        assertTrue(Thread.interrupted());
        assertTrue(outer.end().isPresent());
    }

    @Test
    void enclosingBodyIsNotInterrupted_whenOnlyTheInnerLeaseIsLost() {
        BodyInterruption inner = new BodyInterruption();
        inner.lost(LossCause.NODE_DELETED);
        assertTrue(inner.end().isPresent());
        assertFalse(Thread.interrupted());
        assertTrue(outer.end().isEmpty());
    }

    @Test
    void noInterruptComesAfterTheEnd_whenTheLossComesAtTheSameTime() throws Exception {
        ExecutorService other = Executors.newSingleThreadExecutor();
        try {
            List<Integer> late = new ArrayList<>();
            for (int race = 0; race < RACES; race++) {
                AtomicReference<BodyInterruption> running = new AtomicReference<>(new BodyInterruption());
                Future<?> loss = other.submit(() -> running.get().lost(LossCause.NODE_DELETED));
                for (int spins = race % 200; spins > 0; spins--) {
                    Thread.onSpinWait();
                }
                Optional<LossCause> unused = running.get().end();
                boolean pending = Thread.interrupted();
                loss.get();
                if (pending || Thread.interrupted()) {
                    late.add(race);
                }
            }
            assertEquals(List.of(), late);
        } finally {
            other.shutdownNow();
        }
    }
}
