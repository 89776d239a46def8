// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class NewsQueueTest {
    private static final int MOST = 3;

    private final List<String> heard = new ArrayList<>();
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final NewsQueue news = queue(tasks::add);

    private NewsQueue queue(Executor thread) {
        return new NewsQueue(
                thread, MOST, number -> heard.add(number + " missed"), error -> heard.add(error.getMessage()));
    }

    private void add(String one) {
        news.add(() -> heard.add(one));
    }

    private void deliver() {
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
    }

    @Test
    void newsThatDoNotFitAreCounted_andTheNumberComesBeforeTheNext() {
        for (String one : List.of("a", "b", "c", "d", "e")) {
            add(one);
        }
        deliver();
        add("f");
        add("g");
        deliver();
        assertEquals(List.of("a", "b", "c", "2 missed", "f", "g"), heard);
    }

    @Test
    void newsThatMustNotBeMissedFitAlways() {
        for (String one : List.of("a", "b", "c", "d")) {
            add(one);
        }
        news.addAnyway(() -> heard.add("last"));
        add("e");
        deliver();
        assertEquals(List.of("a", "b", "c", "1 missed", "last"), heard);
        heard.clear();
        add("f");
        deliver();
        assertEquals(List.of("1 missed", "f"), heard);
    }

    @Test
    void newsThatNoThreadTakesAreMissed() {
        List<Runnable> taken = new ArrayList<>();
        boolean[] refuses = {true};
        NewsQueue refused = queue(task -> {
            if (refuses[0]) {
                throw new OutOfMemoryError("thrown by a test");
            }
            taken.add(task);
        });
        for (int i = 0; i < 2 * MOST; i++) {
            refused.add(() -> heard.add("not delivered"));
        }
        refuses[0] = false;
        refused.add(() -> heard.add("delivered"));
        taken.forEach(Runnable::run);
        assertEquals(List.of(2 * MOST + " missed", "delivered"), heard);
    }

    @Test
    void listenerThatThrowsGetsTheNextNews() {
        news.add(() -> {
            throw new AssertionError("thrown by a test");
        });
        add("b");
        deliver();
        assertEquals(List.of("thrown by a test", "b"), heard);
    }

    @Test
    void queueGoesOn_whenAlsoItsErrorsAreRefused() {
        NewsQueue hostile = new NewsQueue(tasks::add, MOST, number -> {}, error -> {
            throw new IllegalStateException(error);
        });
        hostile.add(() -> {
            throw new AssertionError("thrown by a test");
        });
        hostile.add(() -> heard.add("b"));
        deliver();
        assertEquals(List.of("b"), heard);
    }

    @Test
    void callerWaitsUntilAllIsDelivered_forATime() throws Exception {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            NewsQueue slow = queue(thread);
            slow.add(() -> {
                CallerWait.awaitUninterruptibly(new java.util.concurrent.CompletableFuture<>(), Duration.ofMillis(50));
                heard.add("late");
            });
            assertTimeoutPreemptively(Duration.ofSeconds(10), () -> slow.awaitDelivered(Duration.ofHours(1)));
            assertEquals(List.of("late"), heard);
        } finally {
            thread.shutdownNow();
            thread.awaitTermination(10, TimeUnit.SECONDS);
        }
        assertTimeoutPreemptively(Duration.ofSeconds(10), () -> news.awaitDelivered(Duration.ofMillis(1)));
    }
}
