package io.latchkey.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.demo.Options.Mode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.Test;

class DemoTest {
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(written, true, UTF_8);

    private boolean play(Mode mode) throws IOException, KeeperException, InterruptedException {
        try (Servers servers = Servers.open()) {
            return new Inventory(3, 60).play(new Stage(servers, mode, new Screen(out)));
        }
    }

    private String text() {
        return written.toString(UTF_8);
    }

    @Test
    void underTheLockNothingIsOversold() throws IOException, KeeperException, InterruptedException {
        assertTrue(play(Mode.LOCKED), this::text);
        assertTrue(text().contains("stock 0 + sold 60 = 60"), this::text);
    }

    @Test
    void withoutTheLockItIs() throws IOException, KeeperException, InterruptedException {
        assertFalse(play(Mode.UNSAFE), this::text);
        assertTrue(text().contains("OVERSOLD by "), this::text);
    }

    @Test
    void helpNamesTheScenarios() throws InterruptedException {
        assertEquals(0, Demo.run(out, "--help"));
        assertTrue(text().contains("inventory"), this::text);
    }

    @Test
    void whatItDoesNotKnowItRefuses() throws InterruptedException {
        assertEquals(2, Demo.run(out, "--fast"));
        assertTrue(text().contains("--fast"), this::text);
    }
}
