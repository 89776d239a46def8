// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.Uninterruptibles;
import io.latchkey.lock.BodyInterruption.Demand;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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

    private static void demand(BodyInterruption body, Demand demand) {
        boolean unused = body.demand(demand);
        body.send();
    }

    /** Of a leader that steps down twice, and is closed and loses its lease while the body cleans up. */
    @Test
    void threadIsInterruptedAgain_whenAFurtherDemandFollows() {
        demand(outer, Demand.STEP_DOWN);
        assertTrue(Thread.interrupted());
        demand(outer, Demand.STEP_DOWN);
        assertFalse(Thread.interrupted());
        demand(outer, Demand.CLOSE);
        assertTrue(Thread.interrupted());
        demand(outer, Demand.STEP_DOWN);
        assertFalse(Thread.interrupted());
        outer.lost(LossCause.SESSION_EXPIRED);
        assertTrue(Thread.interrupted());
        demand(outer, Demand.CLOSE);
        outer.lost(LossCause.NODE_DELETED);
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
        assertTrue(outer.isDemanded());
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

    /** The thread has acquired the inner lock, and not begun its body: that one gets the interrupt, and clears it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void enclosingBodyIsInterrupted_whenItsLeaseIsLostRightBeforeTheInnerBody(boolean innerIsLost) {
        outer.lost(LossCause.SESSION_EXPIRED);
        BodyInterruption inner = new BodyInterruption();
        if (innerIsLost) {
            inner.lost(LossCause.SESSION_EXPIRED);
        }
        assertTrue(Thread.interrupted());
        assertEquals(innerIsLost, inner.end().isPresent());
        assertTrue(Thread.interrupted(), "the outer body is not interrupted");
        assertTrue(outer.end().isPresent());
        assertFalse(Thread.interrupted());
    }

    @Test
    void enclosingBodyIsInterrupted_whenItsInterruptIsOnItsWayAsTheInnerBodyBegins() {
        assertTrue(outer.demand(Demand.LOSS));
        BodyInterruption inner = new BodyInterruption();
        outer.send();
        assertTrue(Thread.interrupted());
        assertTrue(inner.end().isEmpty());
        assertTrue(Thread.interrupted(), "the outer body is not interrupted");
    }

    // ---- interrupts that run code of others

    /** A thread that runs a body, and what its {@code interrupt()} does. */
    private static final class StubbornThread extends Thread {
        private final CompletableFuture<BodyInterruption> body = new CompletableFuture<>();
        private final CountDownLatch mayEnd = new CountDownLatch(1);
        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch mayReturn = new CountDownLatch(1);
        private final CompletableFuture<Boolean> statusAfterTheEnd = new CompletableFuture<>();
        private final CompletableFuture<BodyInterruption> ended = new CompletableFuture<>();
        private final boolean setsTheStatusFirst;

        StubbornThread(boolean setsTheStatusFirst) {
            super("latchkey-body");
            this.setsTheStatusFirst = setsTheStatusFirst;
            setDaemon(true);
        }

        @Override
        public void run() {
            BodyInterruption mine = new BodyInterruption();
            body.complete(mine);
            while (mayEnd.getCount() > 0) {
                Thread.onSpinWait(); // the status stays
            }
            Optional<LossCause> unused = mine.end();
            statusAfterTheEnd.complete(Thread.interrupted());
            ended.complete(mine);
        }

        @Override
        public void interrupt() {
            if (setsTheStatusFirst) {
                super.interrupt();
            }
            entered.countDown();
            Uninterruptibles.awaitUninterruptibly(mayReturn);
            throw new IllegalStateException("of an overridden method");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Timeout(30)
    void bodyEnds_whenItsInterruptBlocksInAnotherThread(boolean setsTheStatusFirst) throws Exception {
        StubbornThread thread = new StubbornThread(setsTheStatusFirst);
        thread.start();
        BodyInterruption body = thread.body.get();
        CompletableFuture<Void> lost = CompletableFuture.runAsync(() -> body.lost(LossCause.NODE_DELETED));
        thread.entered.await();
        assertTrue(body.isDemanded());
        thread.mayEnd.countDown();
        assertEquals(!setsTheStatusFirst, thread.ended.get().wasLeftUnderWay());
        assertFalse(thread.statusAfterTheEnd.get());
        assertFalse(lost.isDone(), "the interrupt blocks");
        thread.mayReturn.countDown();
        lost.get(); // what the method throws is dropped
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
