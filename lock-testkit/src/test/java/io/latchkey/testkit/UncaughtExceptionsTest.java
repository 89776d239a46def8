// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.testkit.server.EmbeddedZooKeeper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** In a process of its own, since ZooKeeper's class is loaded once. */
@Tag("slow")
@Timeout(60)
class UncaughtExceptionsTest {
    @Test
    void handlerOfUncaughtExceptionsIsKept_whenTheFirstServerStarts() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor(30, TimeUnit.SECONDS);
        assertEquals("handler null", said.strip());
    }

    static final class Main {
        private Main() {}

        public static void main(String[] args) {
            EmbeddedZooKeeper.start().close();
            System.out.println("handler " + Thread.getDefaultUncaughtExceptionHandler());
        }
    }
}
