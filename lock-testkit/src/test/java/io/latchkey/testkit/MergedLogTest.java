// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.history.History;
import io.latchkey.testkit.history.HistoryEvent;
import io.latchkey.testkit.history.HistoryEvent.EventType;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("slow")
@Timeout(60)
class MergedLogTest {
    private final TestResources resources = new TestResources();

    private List<String> attached() {
        AssertionError failure = new AssertionError("some failure");
        resources.attachWiresTo(failure);
        assertEquals(1, failure.getSuppressed().length, "one list for all clients");
        return failure.getSuppressed()[0].getMessage().lines().toList();
    }

    private static int index(List<String> lines, String... parts) {
        for (int i = 0; i < lines.size(); i++) {
            if (List.of(parts).stream().allMatch(lines.get(i)::contains)) {
                return i;
            }
        }
        throw new AssertionError(List.of(parts) + " is missing in " + String.join("\n", lines));
    }

    private static double millis(String line) {
        return Double.parseDouble(line.strip().split(" ", 2)[0]);
    }

    @Test
    void failureHasHistoryAndWiresInOneList_withTheTimesOfTheHistory() throws Exception {
        EmbeddedZooKeeper server = resources.add(EmbeddedZooKeeper.start());
        try {
            FaultyClient one =
                    resources.add(FaultyClient.connectFor("one", server, Duration.ofSeconds(20), Reconnects.HONEST));
            FaultyClient two =
                    resources.add(FaultyClient.connectFor("two", server, Duration.ofSeconds(20), Reconnects.HONEST));
            History history = new History();
            history.recordedMutex(one, "/m").acquire().close();
            history.recordedMutex(two, "/m").acquire().close();
            List<String> lines = attached();
            for (FaultyClient client : List.of(one, two)) {
                int requested = index(lines, client.name(), "== ", " REQUESTED");
                int created = index(lines, client.name(), "-> ", "CREATE", "/m/");
                int granted = index(lines, client.name(), "== ", " GRANTED");
                assertTrue(requested < created && created < granted, () -> String.join("\n", lines));
            }
            HistoryEvent last = history.events().stream()
                    .filter(event -> event.type() == EventType.GRANTED)
                    .reduce((first, second) -> second)
                    .orElseThrow();
            assertTrue(
                    lines.get(index(lines, two.name(), " GRANTED"))
                            .contains(String.format(Locale.ROOT, "%.3f ms", last.nanos() / 1e6)),
                    () -> last + " has another time in " + String.join("\n", lines));
            List<Double> times =
                    lines.stream().skip(1).map(MergedLogTest::millis).toList();
            assertEquals(times.stream().sorted().toList(), times);
        } finally {
            resources.close();
        }
    }
}
