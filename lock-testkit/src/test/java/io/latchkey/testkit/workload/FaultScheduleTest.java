// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.FaultyClient;
import io.latchkey.testkit.LatchkeyTest;
import io.latchkey.testkit.Reconnects;
import io.latchkey.testkit.history.History;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ExternalServers;
import io.latchkey.testkit.time.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@LatchkeyTest(reconnects = Reconnects.FAST, sessionMillis = 20_000)
@Timeout(60)
class FaultScheduleTest {
    private static final String ONE_OF_EACH =
            "after 12 C0 expire SERVER_FIRST; after 0 C1 cut; after 3 C2 lose request CREATE 2; "
                    + "after 3 C2 lose answer MULTI 1; after 1 C0 on DELETE 3 expire BOTH; after 7 C1 delay 2 for 30; "
                    + "after 0 C0 black hole TO_CLIENT for 9; after 9 C10 refuse for 5; "
                    + "after 2 C0 stop LEADER for 5; after 0 C1 cut off for 40";

    @Test
    void printedText_isReadAgain() {
        FaultSchedule schedule = FaultSchedule.parse(ONE_OF_EACH);
        assertEquals(10, schedule.faults().size());
        assertEquals(ONE_OF_EACH, schedule.toString());
        assertEquals(schedule, FaultSchedule.parse(schedule.toString()));
        assertEquals(FaultSchedule.none(), FaultSchedule.parse(""));
        assertThrows(IllegalArgumentException.class, () -> FaultSchedule.parse("after 1 C0 explode"));
        assertThrows(IllegalArgumentException.class, () -> FaultSchedule.parse("C0 cut"));
    }

    @Test
    void sameTextInjectsTheSameFaults(FaultyClient one, FaultyClient two) throws Exception {
        History history = new History();
        String text = "after 1 C0 cut; after 0 C1 expire SERVER_FIRST; after 20 C0 on CREATE 1 expire CLIENT_FIRST; "
                + "after 0 C1 lose answer CREATE 1";
        FaultSchedule schedule = FaultSchedule.parse(text);
        try (FaultRun run = FaultRun.start(schedule, List.of(one, two), history)) {
            run.done().get(10, TimeUnit.SECONDS);
            one.client().mutex("/faults").acquire().close();
            two.client().mutex("/faults").acquire().close();
            Eventually.holds(
                    "all four struck",
                    Duration.ofSeconds(10),
                    () -> run.struck().size() == 4);
            assertTrue(run.struck().containsAll(schedule.faults()), () -> run.struck() + "");
        }
        assertFalse(history.events().isEmpty(), "the end of a session is recorded");
    }

    /** Such as a partition before external servers, where no session can be ended. */
    @Test
    void runFails_whenAFaultCannotBeBroughtAbout(EmbeddedZooKeeper server) throws Exception {
        ExternalServers others = ExternalServers.at(server.connectString());
        for (String order : List.of("expire PARTITION", "expire CLIENT_FIRST", "on CREATE 1 expire PARTITION")) {
            FaultSchedule schedule = FaultSchedule.parse("after 0 C0 " + order + "; after 0 C0 delay 0 for 60000");
            try (FaultyClient client = FaultyClient.connect(others, Duration.ofSeconds(20), Reconnects.FAST);
                    FaultRun run = FaultRun.start(schedule, List.of(client), new History())) {
                Mutex mutex = client.client().mutex("/unsupported");
                Eventually.holds("failure", Duration.ofSeconds(10), () -> {
                    mutex.acquire(Duration.ofSeconds(10)).close();
                    return run.done().isDone();
                });
                ExecutionException failure =
                        assertThrows(ExecutionException.class, () -> run.done().get(10, TimeUnit.SECONDS));
                assertInstanceOf(UnsupportedOperationException.class, failure.getCause());
                assertFalse(run.struck().contains(schedule.faults().get(0)));
                mutex.acquire(Duration.ofSeconds(10)).close();
            }
        }
    }

    @Test
    void serverIsStoppedAndRestarted(FaultyClient one, EmbeddedZooKeeper server) throws Exception {
        FaultSchedule schedule = FaultSchedule.parse(
                "after 0 C0 stop FOLLOWER for 5; after 1 C0 cut off for 60000; after 1 C0 stop LEADER for 60000");
        Lease lease = one.client().mutex("/kept").acquire();
        FaultRun run = FaultRun.start(schedule, List.of(one), new History());
        Eventually.holds("a stopped server", Duration.ofSeconds(10), () -> run.struck()
                .contains(schedule.faults().get(2)));
        assertFalse(server.isRunning());
        run.close();
        assertTrue(server.isRunning());
        assertEquals(
                List.of(schedule.faults().get(0), schedule.faults().get(2)),
                run.struck(),
                "one server has none to be cut off from");
        lease.ensureValid();
        lease.close();
    }
}
