// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.context.WithoutServer;
import io.latchkey.zk.internal.validity.VirtualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RestartableTimerTest {
    private static final Duration SOON = Duration.ofSeconds(1);

    private final ClientContext context = new Engine(WithoutServer.config()).context();
    private final List<Runnable> due = ((VirtualClock) context.clock()).timers();
    private final List<String> ran = new ArrayList<>();
    private final RestartableTimer timer = new RestartableTimer(context, () -> ran.add("task"));

    /** The thread of the timers may have taken the task when it is cancelled. */
    @Test
    void taskRunsForTheLastSettingAlone_whenEarlierOnesAreDueAsTheyAreReplaced() {
        timer.set(SOON);
        timer.cancel();
        timer.set(SOON);
        timer.set(SOON);
        due.get(0).run();
        due.get(1).run();
        assertEquals(List.of(), ran);
        assertTrue(timer.isSet());
        due.get(2).run();
        assertEquals(List.of("task"), ran);
        assertFalse(timer.isSet());
    }
}
