// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.SessionState;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.threads.DaemonThreads;
import io.latchkey.zk.internal.validity.VirtualClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ObserverDispatcherTest {
    private static final SessionState LAST = SessionState.CLOSED;

    @Test
    void slowObserver_missesTheNewestCallsButTheLast_andGetsTheirNumberInTheirPlace() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch called = new CountDownLatch(1);
        BlockingQueue<Long> heard = new LinkedBlockingQueue<>();
        LockObserver slow = new LockObserver() {
            @Override
            public void requested(Request request) {
                called.countDown();
                awaitUninterrupted(goOn);
                heard.add(request.id());
            }

            @Override
            public void missed(long calls) {
                heard.add(-calls);
                throw new IllegalStateException("theirs");
            }

            @Override
            public void sessionChanged(SessionState state) {
                heard.add(0L);
            }
        };
        try (ObserverDispatcher feed = on(slow, thread())) {
            tell(feed, 1);
            assertTrue(called.await(10, TimeUnit.SECONDS));
            int fit = 1 + ObserverDispatcher.MOST_WAITING;
            for (long id = 2; id <= fit + 7; id++) {
                tell(feed, id);
            }
            feed.announceLast(observer -> observer.sessionChanged(LAST));
            goOn.countDown();
            List<Long> expected =
                    new ArrayList<>(LongStream.rangeClosed(1, fit).boxed().toList());
            expected.add(-7L);
            expected.add(0L);
            List<Long> all = new ArrayList<>();
            while (all.size() < expected.size()) {
                all.add(heard.poll(10, TimeUnit.SECONDS));
            }
            assertEquals(expected, all);
        }
    }

    /** The first was reported, and the client closed before it had begun. */
    @Test
    void closedIsLast_whenRequestsComeBesideTheClose() {
        List<String> heard = new ArrayList<>();
        LockObserver observer = new LockObserver() {
            @Override
            public void requested(Request request) {
                heard.add("requested " + request.id());
            }

            @Override
            public void notGranted(
                    Request request, AcquireFailure failure, Optional<LockException.Reason> reason, Duration waited) {
                heard.add("not granted " + request.id());
            }

            @Override
            public void sessionChanged(SessionState state) {
                heard.add(state.name());
            }
        };
        ClientEvents client = new ClientEvents(
                Outbox.inPlace(Runnable::run, Optional.of(ObserverDispatcher.inPlace(observer))),
                new VirtualClock(),
                Duration.ofSeconds(10),
                "");
        List<LockTarget> mutex = List.of(new LockTarget(Recipe.MUTEX, new LockPath("/m")));
        RequestEvents before = new RequestEvents(client, mutex);
        RequestEvents after = new RequestEvents(client, mutex);
        before.requested();
        client.session(LAST);
        after.requested();
        after.notGranted(LockObserver.AcquireFailure.REFUSED);
        before.notGranted(LockObserver.AcquireFailure.REFUSED);
        assertEquals(List.of("requested 1", "not granted 1", "CLOSED"), heard);
    }

    @Test
    void queuedCallsAreMade_whenTheDispatcherIsClosedBeforeThem() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch called = new CountDownLatch(1);
        BlockingQueue<Long> heard = new LinkedBlockingQueue<>();
        LockObserver slow = new LockObserver() {
            @Override
            public void requested(Request request) {
                called.countDown();
                awaitUninterrupted(goOn);
                heard.add(request.id());
            }
        };
        try (ObserverDispatcher feed = on(slow, thread())) {
            tell(feed, 1);
            tell(feed, 2);
            assertTrue(called.await(10, TimeUnit.SECONDS));
        }
        goOn.countDown();
        assertEquals(1L, heard.poll(10, TimeUnit.SECONDS));
        assertEquals(2L, heard.poll(10, TimeUnit.SECONDS));
    }

    @Test
    void exceptionOfAnObserverIsContained() throws Exception {
        BlockingQueue<Long> heard = new LinkedBlockingQueue<>();
        LockObserver angry = new LockObserver() {
            @Override
            public void requested(Request request) {
                heard.add(request.id());
                throw new AssertionError("theirs");
            }
        };
        try (ObserverDispatcher feed = on(angry, thread())) {
            tell(feed, 1);
            tell(feed, 2);
            assertEquals(1L, heard.poll(10, TimeUnit.SECONDS));
            assertEquals(2L, heard.poll(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void noCallIsMadeOrMissed_onceTheLastIsQueued() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        ObserverDispatcher feed = on(lines(heard, goOn), thread());
        tell(feed, 1);
        feed.announceLast(observer -> observer.sessionChanged(LAST));
        tell(feed, 2);
        goOn.countDown();
        assertEquals("requested 1", heard.poll(10, TimeUnit.SECONDS));
        assertEquals(LAST.name(), heard.poll(10, TimeUnit.SECONDS));
    }

    /** As when the machine can start no thread for a moment: the observer's thread does not run then. */
    @Test
    void numberOfMissedCallsComesBeforeTheNextCall() {
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        Queue<Throwable> refusals = new ArrayDeque<>(List.of(new OutOfMemoryError("thrown by a test")));
        ObserverDispatcher feed = new ObserverDispatcher(
                lines(heard, new CountDownLatch(0)),
                task -> {
                    if (refusals.poll() instanceof Error refusal) {
                        throw refusal;
                    }
                    task.run();
                },
                ClientLog.inPlace(),
                () -> {});
        tell(feed, 1);
        tell(feed, 2);
        assertEquals(List.of("missed 1", "requested 2"), List.copyOf(heard));
    }

    @Test
    void callQueuedBehindTheLastIsNotMade() {
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        List<String> ended = new ArrayList<>();
        ObserverDispatcher feed = new ObserverDispatcher(
                lines(heard, new CountDownLatch(0)), Runnable::run, ClientLog.inPlace(), () -> ended.add("ended"));
        feed.announceLast(observer -> {
            observer.sessionChanged(LAST);
            tell(feed, 1);
        });
        assertEquals(List.of(LAST.name()), List.copyOf(heard));
        assertEquals(List.of("ended"), ended, "its thread stays");
    }

    private static DaemonThreads thread() {
        return new DaemonThreads(1, "test-observer", new VirtualClock());
    }

    private static ObserverDispatcher on(LockObserver observer, DaemonThreads thread) {
        return new ObserverDispatcher(observer, thread, ClientLog.inPlace(), thread::close);
    }

    /** An observer that records its calls, each after {@code goOn}. */
    private static LockObserver lines(BlockingQueue<String> heard, CountDownLatch goOn) {
        return new LockObserver() {
            @Override
            public void requested(Request request) {
                awaitUninterrupted(goOn);
                heard.add("requested " + request.id());
            }

            @Override
            public void missed(long calls) {
                heard.add("missed " + calls);
            }

            @Override
            public void sessionChanged(SessionState state) {
                heard.add(state.name());
            }
        };
    }

    private static void tell(ObserverDispatcher feed, long id) {
        feed.announce(
                observer -> observer.requested(new LockObserver.Request(id, "/m", LockObserver.Kind.MUTEX, 1, "")));
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            assertTrue(latch.await(20, TimeUnit.SECONDS));
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }
}
