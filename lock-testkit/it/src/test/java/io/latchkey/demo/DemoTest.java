// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("slow")
class DemoTest {
    private static final Duration OPEN = Duration.ofSeconds(3);

    private static Servers servers;

    private final ByteArrayOutputStream written = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(written, true, UTF_8);

    @BeforeAll
    static void open() {
        servers = Servers.open();
    }

    @AfterAll
    static void close() {
        servers.close();
    }

    static Stream<Arguments> scenarios() {
        return Stream.of(
                Arguments.of(new Inventory(3, 60), "stock 0 + sold 60 = 60", "OVERSOLD by "),
                Arguments.of(new SharedDocument(2, 2, OPEN), "no editor came between", "TORN READINGS: "),
                Arguments.of(new Workers(5, OPEN), "never more than 3 permits", "OVERLOADED: "),
                Arguments.of(new Transfers(4, 4, OPEN), "money 4,000 = 4,000", "ACCOUNTS WRONG by "));
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void verdictHolds_onlyWithLocks(DemoScenario scenario, String claim, String damage) throws Exception {
        boolean held = Demo.play(List.of(scenario), servers, true, out);
        assertTrue(held && text().contains("[true] " + claim), this::text);
        boolean heldWithout = Demo.play(List.of(scenario), servers, false, out);
        assertTrue(!heldWithout && text().contains("VERDICT: " + damage), this::text);
    }

    private String text() {
        return written.toString(UTF_8);
    }

    @Test
    void helpNamesTheScenarios() throws InterruptedException {
        assertEquals(0, Demo.run(out, "--help"));
        Demo.SCENARIOS.forEach(scenario -> assertTrue(text().contains("  " + scenario.name() + "  "), this::text));
    }

    @Test
    void unknownScenario_isRefused() throws InterruptedException {
        assertEquals(2, Demo.run(out, "--fast"));
        assertTrue(text().contains("--fast"), this::text);
    }
}
