// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@Tag("slow")
@Timeout(60)
class SignalsTest {
    private static final int THREADS = 8;

    /** A process with more threads than processors, all of which are busy. */
    static final class Busy {
        public static void main(String[] none) {
            for (int i = 0; i < THREADS; i++) {
                new Thread(() -> {
                            while (true) {
                                Thread.onSpinWait();
                            }
                        })
                        .start();
            }
            System.out.println("busy");
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void noThreadOfTheProcessRuns_onceItIsStopped() throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classes = Path.of(Busy.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .toString();
        Process busy = new ProcessBuilder(java, "-cp", classes, Busy.class.getName()).start();
        try {
            assertEquals("busy", busy.inputReader().readLine());
            for (int i = 0; i < 20; i++) {
                Signals.stop(busy);
                assertEquals(List.of(), running(busy.pid()));
                Signals.goOn(busy);
            }
        } finally {
            busy.destroyForcibly().waitFor();
        }
    }

    private static List<String> running(long process) throws Exception {
        List<String> running = new ArrayList<>();
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(process), "task"))) {
            for (Path thread : threads.toList()) {
                String status = Files.readString(thread.resolve("status"));
                if (!status.contains("T (stopped)")) {
                    running.add(status);
                }
            }
        }
        return running;
    }
}
