// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.zk.ObservationCost.Way;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What it costs to be observed, for docs/archive/performance-record.md, and only where a length is given. Processor
 * time, since others may use the machine; one Java after the other, round and round.
 */
@Tag("soak")
class ObservationCostTest {
    private static final int ROUNDS = 3;

    /** An acquire in memory takes some twenty; with a server ten times that. */
    private static final double CHEAP_MICROS = 10;

    private final Map<Way, List<Double>> inMemory = new EnumMap<>(Way.class);
    private final Map<Way, List<Double>> withAServer = new EnumMap<>(Way.class);

    @Test
    void anAcquireAndARelease() throws Exception {
        Assumptions.assumeTrue(Soak.isLong());
        Duration each = Soak.length(Duration.ZERO).dividedBy((long) ROUNDS * Way.values().length);
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            for (int round = 0; round < ROUNDS; round++) {
                for (Way way : Way.values()) {
                    String[] micros = run(way, server.connectString(), each).split(" ", -1);
                    add(inMemory, way, micros[0]);
                    add(withAServer, way, micros[1]);
                }
            }
        }
        print("in memory", inMemory);
        print("one server, of another process", withAServer);
        double ours = median(inMemory.get(Way.RECORDING)) - median(inMemory.get(Way.RECORDING_WITHOUT_OURS));
        assertTrue(ours < CHEAP_MICROS, "our events in the JDK's recording take " + ours + " us an acquire");
    }

    private static String run(Way way, String servers, Duration span) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        if (way == Way.NO_RECORDER) {
            command.addAll(
                    List.of("--limit-modules", String.join(",", WithoutFlightRecorderTest.modulesWithout("jdk.jfr"))));
        }
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                ObservationCost.class.getName(),
                way.name(),
                servers,
                Long.toString(span.toMillis())));
        Process java = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, java.waitFor(), said);
        System.out.println(way + ": " + said.strip());
        return said.strip();
    }

    private static void add(Map<Way, List<Double>> all, Way way, String micros) {
        all.computeIfAbsent(way, w -> new ArrayList<>()).add(Double.valueOf(micros));
    }

    private static double median(List<Double> all) {
        return all.stream().sorted().toList().get(all.size() / 2);
    }

    private static void print(String where, Map<Way, List<Double>> all) {
        System.out.println("us of processor time an acquire and its release, " + where + ": median (least to most)");
        all.forEach((way, micros) -> System.out.printf(
                "  %-45s %7.1f (%.1f to %.1f)%n",
                way.described,
                median(micros),
                micros.stream().min(Double::compare).orElseThrow(),
                micros.stream().max(Double::compare).orElseThrow()));
    }
}
