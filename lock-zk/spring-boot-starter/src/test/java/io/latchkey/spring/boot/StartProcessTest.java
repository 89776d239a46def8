// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.latchkey.testkit.time.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/** Starts that fail, in processes of their own: with the log that a user sees. */
@Tag("slow")
@Timeout(120)
class StartProcessTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    private Path folder;

    /** An application without servers. */
    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({SslAutoConfiguration.class, LatchkeyAutoConfiguration.class})
    public static class WaitingApplication {
        public static void main(String[] args) {
            var unused = SpringApplication.run(WaitingApplication.class, args);
        }
    }

    private Process start(Path log, String... settings) throws IOException {
        Path logback = Files.writeString(
                folder.resolve("logback.xml"),
                "<configuration><include resource=\"org/springframework/boot/logging/logback/base.xml\"/></configuration>");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                WaitingApplication.class.getName(),
                "--logging.config=" + logback,
                "--latchkey.connect-string=127.0.0.1:1",
                "--spring.main.web-application-type=none"));
        command.addAll(List.of(settings));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
    }

    @Test
    void processEnds_whenItGetsSigtermWhileItWaitsForServers() throws Exception {
        Path log = folder.resolve("log");
        Process process = start(log, "--latchkey.connect-timeout=10m");
        try {
            Eventually.holds("the wait", SOON, () -> text(log).contains("The start waits for ZooKeeper"));
            process.destroy();
            assertThat(process.waitFor(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(text(log)).contains("The start was interrupted while the lock client waited for 127.0.0.1:1");
        } finally {
            process.destroyForcibly();
        }
    }

    /** Boot's own analyzers would show the exception of the binding around it. */
    @Test
    void badTimeIsShownWithWhatToDo() throws Exception {
        Path log = folder.resolve("log");
        Process process = start(log, "--latchkey.grace=-1s");
        assertThat(process.waitFor(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(text(log))
                .contains("APPLICATION FAILED TO START")
                .contains("latchkey.grace is negative: PT-1S.")
                .contains("Set it to zero or more, such as 10s.");
    }

    @Test
    void missingFileOfTheBundleIsShownWithWhatToDo() throws Exception {
        for (String reload : new String[] {"false", "true"}) { // Boot reads the file at another time
            Path log = folder.resolve("log-" + reload);
            Process process = start(
                    log,
                    "--latchkey.ssl.bundle=zk",
                    "--spring.ssl.bundle.pem.zk.reload-on-update=" + reload,
                    "--spring.ssl.bundle.pem.zk.truststore.certificate=file:" + folder.resolve("ca.crt"));
            assertThat(process.waitFor(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(text(log))
                    .contains("APPLICATION FAILED TO START")
                    .contains("A store of the SSL bundle 'zk' cannot be read: ")
                    .contains(folder.resolve("ca.crt").toString())
                    .contains("The files have to exist");
        }
    }

    private static String text(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
