// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SerialExecutorTest {
    private static final int TASKS = 3 * SerialExecutor.MOST;

    private final List<Runnable> left = new ArrayList<>();
    private final List<Integer> ran = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final SerialExecutor serial = new SerialExecutor(left::add, failures::add);

    private void runMany() {
        // While the first task runs, other threads keep submitting tasks.
        serial.execute(() -> IntStream.range(1, TASKS).forEach(i -> serial.execute(() -> ran.add(i))));
    }

    @Test
    void submittingThreadIsRelieved_whenTasksKeepComing() {
        runMany();
        assertEquals(SerialExecutor.MOST - 1, ran.size());
        assertEquals(1, left.size());

        serial.execute(() -> ran.add(TASKS));
        assertEquals(SerialExecutor.MOST - 1, ran.size(), "a task ran while others were left to the relief");
        left.remove(0).run();
        assertEquals(IntStream.rangeClosed(1, TASKS).boxed().toList(), ran);
        serial.execute(() -> ran.add(TASKS + 1));
        assertEquals(TASKS + 1, ran.size(), "idle again, so the submitting thread runs its task");
    }

    @Test
    void taskBehindEachRunsAtTheEndOfEach_fromTheOneThatGivesIt() {
        serial.execute(() -> ran.add(1));
        serial.execute(() -> {
            serial.afterEachTask(() -> ran.add(0));
            serial.execute(() -> ran.add(3));
            ran.add(2);
        });
        assertEquals(List.of(1, 2, 0, 3, 0), ran);
    }

    @Test
    void submittingThreadGoesOn_whenNoThreadCanRelieveIt() {
        SerialExecutor alone = new SerialExecutor(
                task -> {
                    throw new InternalError("no thread (thrown by a test; JUnit rethrows an OutOfMemoryError)");
                },
                failures::add);
        alone.execute(() -> IntStream.range(0, TASKS).forEach(i -> alone.execute(() -> ran.add(i))));
        assertEquals(IntStream.range(0, TASKS).boxed().toList(), ran);
        assertEquals(List.of(), failures);
    }

    /** The state that the tasks share is unknown then. */
    @Test
    void taskThatThrowsIsTheLast_andItsOwnerIsNotifiedOnce() {
        AssertionError unexpected = new AssertionError("thrown by a test");
        serial.execute(() -> {
            serial.execute(() -> ran.add(1));
            throw unexpected;
        });
        serial.execute(() -> ran.add(2));
        serial.fail(new AssertionError("a second failure"));
        assertEquals(List.of(), ran);
        assertEquals(List.of(unexpected), failures);
        assertFalse(serial.isRunningHere());
    }

    @Test
    void nothingRuns_afterAFailureFromOutside() {
        serial.fail(new AssertionError("thrown by a test"));
        serial.execute(() -> ran.add(1));
        assertEquals(List.of(), ran);
        assertEquals(1, failures.size());
    }

    /** Each thread with less room than a step may need has the relief run it, and no task is cut short. */
    @Test
    void taskIsLeftToTheRelief_whereverTheStackOfTheSubmittingThreadEnds() throws Exception {
        CompletableFuture<Integer> depth = new CompletableFuture<>();
        Thread deep = new Thread(null, () -> depth.complete(descend()), "deep", 512 * 1024);
        deep.start();
        assertTrue(depth.get(20, TimeUnit.SECONDS) > 100);
        assertEquals(List.of(), failures);
        assertTrue(left.size() > 0, "no thread was relieved");
        while (!left.isEmpty()) {
            left.remove(0).run();
        }
        assertEquals(
                ran.size(),
                IntStream.range(0, ran.size()).filter(i -> ran.get(i) == 7).count());
    }

    /** Submits a task at each depth until the stack ends, and returns the depth. */
    @SuppressWarnings("InfiniteRecursion") // until there is no more room
    private int descend() {
        serial.execute(() -> ran.add(deepTask(50)));
        try {
            return descend() + 1;
        } catch (StackOverflowError end) {
            return 1;
        }
    }

    private static int deepTask(int calls) {
        return calls == 0 ? 7 : deepTask(calls - 1);
    }

    @Test
    void threadIsRunningHere_onlyWithinATask() {
        List<Boolean> within = new ArrayList<>();
        serial.execute(() -> within.add(serial.isRunningHere()));
        assertEquals(List.of(true), within);
        assertFalse(serial.isRunningHere());
    }
}
