package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.Lease;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The true zombie: a holder whose whole JVM stood still for longer than its session. */
@Timeout(60)
@DisabledOnOs(OS.WINDOWS)
class PausedJvmTest extends OnOneServer {
    @Test
    void aHolderThatWasStoppedFindsItsLeaseInvalidOnTheFirstLook() throws Exception {
        ZkLockClient other = client("other");
        Process holder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Holder.class.getName(),
                        server().connectString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader said =
                new BufferedReader(new InputStreamReader(holder.getInputStream(), StandardCharsets.UTF_8))) {
            assertEquals("held true", said.readLine());
            signal(holder, "STOP");
            Lease successor = other.mutex("/m").acquire();
            OutputStream ask = holder.getOutputStream();
            ask.write('\n');
            ask.flush();
            signal(holder, "CONT");
            assertEquals("first look false", said.readLine());
            assertEquals("lost", said.readLine());
            assertTrue(successor.isValid());
        } finally {
            holder.destroyForcibly().waitFor();
        }
        assertFalse(holder.isAlive());
    }

    private static void signal(Process process, String name) throws IOException, InterruptedException {
        int status = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
        assertEquals(0, status);
    }

    /** Holds, and looks at its lease once when it is told to, before anything else can have happened. */
    static final class Holder {
        private Holder() {}

        public static void main(String[] args) throws Exception {
            try (ZkLockClient locks = ZkLockClient.builder()
                    .connectString(args[0])
                    .sessionTimeout(Duration.ofSeconds(1))
                    .build()) {
                Lease lease = locks.mutex("/m").acquire();
                System.out.println("held " + lease.isValid());
                int asked = System.in.read();
                System.out.println((asked == '\n' ? "first look " : "asked ") + lease.isValid());
                lease.lost().join();
                System.out.println("lost");
            }
        }
    }
}
