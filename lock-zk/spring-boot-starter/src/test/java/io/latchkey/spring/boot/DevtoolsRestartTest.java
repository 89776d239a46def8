// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.latchkey.spring.ServerOfTheTests;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A restart by devtools, in a process of its own. */
@Tag("slow")
@Timeout(120)
class DevtoolsRestartTest {
    @RegisterExtension
    static final ServerOfTheTests SERVER = new ServerOfTheTests();

    @TempDir
    private Path folder;

    @Test
    void restartLeavesNoThreadAndNoObject() throws Exception {
        Path log = folder.resolve("log");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:SoftRefLRUPolicyMSPerMB=0",
                        "-cp",
                        System.getProperty("java.class.path"),
                        RestartedApplication.class.getName(),
                        "--latchkey.connect-string=" + SERVER.connectString(),
                        "--latchkey.base-path=/restarted",
                        "--latchkey.grace=1s",
                        "--latchkey.leadership.roles=cleaner",
                        "--spring.main.web-application-type=none",
                        "--spring.jmx.enabled=false")
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        assertThat(process.waitFor(100, TimeUnit.SECONDS)).isTrue();
        String printed = Files.readString(log);
        assertThat(printed)
                .contains("RestartClassLoader")
                .contains("objects of the first run: 0")
                .doesNotContain("left: ")
                .contains("threads of clients: 1");
    }
}
