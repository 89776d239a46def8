// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.server.EmbeddedZooKeeper;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("slow")
@LatchkeyTest
@Timeout(60)
class ClientProcessTest {
    private static final Duration SESSION = Duration.ofSeconds(20);

    /** As a logging backend may that writes to the console. */
    @Test
    void answersAreUnderstood_whenTheProcessPrintsOtherLines(EmbeddedZooKeeper server) throws Exception {
        try (ClientProcess holder = ClientProcess.start(server, SESSION, PrintingProgram.class)) {
            CompletableFuture<Long> token = holder.acquire("/printed");
            CompletableFuture<Boolean> valid = holder.isValid();
            assertTrue(token.get(30, TimeUnit.SECONDS) > 0);
            assertTrue(valid.get(30, TimeUnit.SECONDS));
        }
    }

    @Test
    void lastLinesOfTheProcessAreShown_whenItEnds(EmbeddedZooKeeper server) {
        try (ClientProcess failing = ClientProcess.start(server, SESSION, FailingProgram.class)) {
            CompletableFuture<Long> token = failing.acquire("/failed");
            ExecutionException told = assertThrows(ExecutionException.class, () -> token.get(30, TimeUnit.SECONDS));
            assertEquals(IllegalStateException.class, told.getCause().getClass());
            String message = String.valueOf(told.getCause().getMessage());
            assertTrue(message.contains("no locks today"), message);
            assertEquals(31, message.lines().count(), message);
        }
    }

    static final class PrintingProgram {
        private PrintingProgram() {}

        public static void main(String[] args) throws IOException, InterruptedException {
            System.out.println("before the first answer");
            Thread prints = new Thread(() -> {
                while (true) {
                    System.out.println("between the answers");
                    LockSupport.parkNanos(100_000);
                }
            });
            prints.setDaemon(true);
            prints.start();
            ClientProcessMain.main(args);
        }
    }

    static final class FailingProgram {
        private FailingProgram() {}

        public static void main(String[] args) throws IOException {
            int unused = System.in.read(); // the question
            for (int line = 0; line < 100; line++) {
                System.err.println("line " + line);
            }
            throw new IllegalStateException("no locks today");
        }
    }
}
