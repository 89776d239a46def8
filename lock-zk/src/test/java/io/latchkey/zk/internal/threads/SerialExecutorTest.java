// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.threads;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SerialExecutorTest {
    private static final int TASKS = 3 * SerialExecutor.MOST;

    private final List<Runnable> left = new ArrayList<>();
    private final List<Integer> ran = new ArrayList<>();
    private final SerialExecutor serial = new SerialExecutor(left::add);

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
    void submittingThreadGoesOn_whenNoThreadCanRelieveIt() {
        SerialExecutor alone = new SerialExecutor(task -> {
            throw new InternalError("no thread (thrown by a test; JUnit rethrows an OutOfMemoryError)");
        });
        alone.execute(() -> IntStream.range(0, TASKS).forEach(i -> alone.execute(() -> ran.add(i))));
        assertEquals(IntStream.range(0, TASKS).boxed().toList(), ran);
    }

    @Test
    @Tag("errors")
    void tasksBehindRun_whenATaskThrows() {
        serial.execute(() -> {
            serial.execute(() -> ran.add(1));
            throw new AssertionError("thrown by a test, logged as unexpected");
        });
        serial.execute(() -> ran.add(2));
        assertEquals(List.of(1, 2), ran);
    }

    @Test
    void threadIsRunningHere_onlyWithinATask() {
        List<Boolean> within = new ArrayList<>();
        serial.execute(() -> within.add(serial.isRunningHere()));
        assertEquals(List.of(true), within);
        assertFalse(serial.isRunningHere());
    }

    @Test
    @Tag("errors")
    void otherElementsAreServed_whenTheActionThrowsForOne() {
        SerialExecutor.attemptEach(List.of(1, 2, 3), i -> {
            ran.add(i);
            assertTrue(i != 2, "thrown by a test, logged as unexpected");
        });
        assertEquals(List.of(1, 2, 3), ran);
    }
}
