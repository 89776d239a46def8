// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.demo.Options.Mode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class DemoTest {
    private static final Duration OPEN = Duration.ofSeconds(3);
    private static final Scenario INVENTORY = new Inventory(3, 60);
    private static final Scenario DOCUMENT = new SharedDocument(2, 2, OPEN);
    private static final Scenario WORKERS = new Workers(5, OPEN);
    private static final Scenario TRANSFERS = new Transfers(4, 4, OPEN);

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

    private boolean play(Scenario scenario, Mode mode) throws IOException, KeeperException, InterruptedException {
        return Demo.play(List.of(scenario), servers, mode, new Screen(out));
    }

    private void holds(Scenario scenario, String claim) throws IOException, KeeperException, InterruptedException {
        assertTrue(play(scenario, Mode.LOCKED), this::text);
        assertTrue(text().contains("[true] " + claim), this::text);
    }

    private void fails(Scenario scenario, String verdict) throws IOException, KeeperException, InterruptedException {
        assertFalse(play(scenario, Mode.UNSAFE), this::text);
        assertTrue(text().contains("VERDICT: " + verdict), this::text);
    }

    private String text() {
        return written.toString(UTF_8);
    }

    @Test
    void underTheMutexNothingIsOversold() throws IOException, KeeperException, InterruptedException {
        holds(INVENTORY, "stock 0 + sold 60 = 60");
    }

    @Test
    void withoutItIs() throws IOException, KeeperException, InterruptedException {
        fails(INVENTORY, "OVERSOLD by ");
    }

    @Test
    void underTheReadLockNoReadingIsTorn() throws IOException, KeeperException, InterruptedException {
        holds(DOCUMENT, "no editor came between");
    }

    @Test
    void withoutItReadingsAre() throws IOException, KeeperException, InterruptedException {
        fails(DOCUMENT, "TORN READINGS: ");
    }

    @Test
    void underTheSemaphoreNoMoreThanItsPermitsAreInUse() throws IOException, KeeperException, InterruptedException {
        holds(WORKERS, "never more than 3 permits");
    }

    @Test
    void withoutItMoreAre() throws IOException, KeeperException, InterruptedException {
        fails(WORKERS, "OVERLOADED: ");
    }

    @Test
    void underTheMultiLockMoneyStays() throws IOException, KeeperException, InterruptedException {
        holds(TRANSFERS, "money 4,000 = 4,000");
    }

    @Test
    void withoutItMoneyDoesNot() throws IOException, KeeperException, InterruptedException {
        fails(TRANSFERS, "ACCOUNTS WRONG by ");
    }

    @Test
    void allScenariosArePlayedUnlessSomeAreNamed() {
        assertEquals(Demo.SCENARIOS, Options.parse(Demo.SCENARIOS, "--unsafe").scenarios());
        assertEquals(
                List.of(DOCUMENT),
                Options.parse(List.of(INVENTORY, DOCUMENT), "document").scenarios());
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
