// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.SessionState;
import io.latchkey.zk.internal.events.ClientEvents;
import io.latchkey.zk.internal.events.ClientLog;
import io.latchkey.zk.internal.events.ObserverDispatcher;
import io.latchkey.zk.internal.events.Outbox;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.Request;
import io.latchkey.zk.internal.threads.SerialExecutor;
import io.latchkey.zk.internal.validity.ClockReading;
import io.latchkey.zk.internal.validity.ValidityPeriod;
import io.latchkey.zk.internal.validity.VirtualClock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Objects that several threads share, besides the serial executor. Lincheck's model checker plays random calls on two
 * threads, switches between these at reads and writes of shared memory, and requires that the results are those of some
 * order in one thread.
 */
@Tag("once")
@Tag("long")
class RaceProperties {
    /** The factor for the number of scenarios. */
    private static final int TIMES = Integer.getInteger("latchkey.races", 1);

    /** More than the look at the room on the stack goes down. */
    private static final int FRAMES = 300;

    private static void explore(Class<?> calls) {
        new ModelCheckingOptions()
                .iterations(10 * TIMES)
                .invocationsPerIteration(300)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(1)
                .actorsAfter(1)
                .recursionBound(FRAMES)
                .check(calls);
    }

    @Test
    void termIsOverForAllThreads_onceOneHasFoundItOver() {
        explore(Looks.class);
    }

    @Test
    void tasksRunOneByOneAndAllRun_whenThreadsSubmitAtOnce() {
        explore(Submissions.class);
    }

    @Test
    void observerHearsExactlyOneEnd_whenEndsOfARequestRace() {
        explore(Ends.class);
    }

    @Test
    void observerGetsOrMissesEachCall_whenItsQueueIsFull() {
        explore(FullQueue.class);
    }

    /** A validity period: once a thread has found it ended, no later check and no renewal finds it valid. */
    public static final class Looks {
        private final VirtualClock time = new VirtualClock();
        private final ClockReading start = time.now();
        private final ValidityPeriod term = new ValidityPeriod(time, start.plus(Duration.ofSeconds(2)));

        /** Reads the period as a lease does to report the cause of its loss. */
        @Operation
        public String look() {
            return term.isValid() ? "valid" : term.isOver() ? "session over" : "deadline passed";
        }

        @Operation
        public boolean extend() {
            return term.extend(start.plus(Duration.ofSeconds(4)));
        }

        @Operation
        public void shorten() {
            term.shorten(Duration.ofSeconds(1));
        }

        @Operation
        public void end() {
            term.end();
        }

        @Operation(nonParallelGroup = "clock")
        public void passTime() {
            time.passOnTheWallOnly(Duration.ofSeconds(3));
        }
    }

    /** Tasks that increment a counter without other synchronization. */
    public static final class Submissions {
        private final SerialExecutor serial = new SerialExecutor(Runnable::run, bug -> {});
        private final AtomicInteger submitted = new AtomicInteger();
        private int ran;

        @Operation
        public boolean submit() {
            submitted.incrementAndGet();
            serial.execute(() -> ran += serial.isRunningHere() ? 1 : 0);
            return serial.isRunningHere();
        }

        @Validate
        public void allRanWithinTheExecutor() {
            assertEquals(submitted.get(), ran);
        }
    }

    /** One request, with the calls of its observer. */
    public static final class Ends {
        private final RecordingObserver observer = new RecordingObserver();
        private final RequestEvents events = new RequestEvents(
                new ClientEvents(
                        Outbox.inPlace(Runnable::run, Optional.of(ObserverDispatcher.inPlace(observer))),
                        new VirtualClock(),
                        Duration.ofSeconds(10),
                        ""),
                List.of(new LockTarget(Recipe.MUTEX, new LockPath("/m"))));

        public Ends() {
            events.requested();
        }

        @Operation
        public void queued() {
            events.queued(1);
        }

        @Operation
        public void granted() {
            events.granted(7);
        }

        @Operation
        public void notGranted() {
            events.notGranted(LockObserver.AcquireFailure.CANCELLED);
        }

        @Operation
        public void lost() {
            events.lost(LossCause.NODE_DELETED);
        }

        @Operation
        public void released() {
            events.released();
        }

        @Operation
        public String heard() {
            return observer.heard("");
        }
    }

    private static final class RecordingObserver implements LockObserver {
        private String heard = "";

        synchronized String heard(String more) {
            heard += more;
            return heard;
        }

        @Override
        public void queued(Request request, int position) {
            heard("queued ");
        }

        @Override
        public void granted(Request request, long token, Duration waited) {
            heard("granted ");
        }

        @Override
        public void notGranted(
                Request request, AcquireFailure failure, Optional<LockException.Reason> reason, Duration waited) {
            heard("not granted ");
        }

        @Override
        public void lost(Request request, long token, LossCause cause, Duration held) {
            heard("lost ");
        }

        @Override
        public void released(Request request, long token, Duration held) {
            heard("released ");
        }
    }

    /** An observer's queue with room for two calls; the observer's thread takes one now and then. */
    public static final class FullQueue {
        private final Queue<Runnable> queue = new ConcurrentLinkedQueue<>();
        private final AtomicInteger told = new AtomicInteger();
        private long heard;

        private final ObserverDispatcher feed = new ObserverDispatcher(
                new LockObserver() {
                    @Override
                    public void sessionChanged(SessionState state) {
                        heard++;
                    }

                    @Override
                    public void missed(long calls) {
                        heard += calls;
                    }
                },
                task -> {
                    if (queue.size() >= 2) {
                        throw new RejectedExecutionException("full");
                    }
                    queue.add(task);
                },
                ClientLog.inPlace(),
                () -> {});

        @Operation
        public void tell() {
            told.incrementAndGet();
            feed.announce(observer -> observer.sessionChanged(SessionState.CONNECTED));
        }

        @Operation(nonParallelGroup = "thread")
        public void hear() {
            Optional.ofNullable(queue.poll()).ifPresent(Runnable::run);
        }

        @Validate
        public void eachIsHeardOrMissed() {
            while (!queue.isEmpty()) {
                hear();
            }
            tell();
            hear();
            assertEquals(told.get(), heard);
        }
    }
}
