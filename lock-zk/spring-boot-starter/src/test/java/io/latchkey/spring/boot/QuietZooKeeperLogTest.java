// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.latchkey.spring.ServerOfTheTests;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.time.Eventually;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** The log of a start: ZooKeeper's is quiet unless the application has set its level, Latchkey's has two lines. */
@Tag("slow")
@Timeout(60)
class QuietZooKeeperLogTest {
    @RegisterExtension
    static final ServerOfTheTests SERVER = new ServerOfTheTests();

    private static final Duration SOON = Duration.ofSeconds(20);

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(LatchkeyAutoConfiguration.class)
    static class Application {}

    private static ConfigurableApplicationContext start(String... arguments) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        return application.run(arguments);
    }

    private static Level levelOf(String logger) {
        return logger(logger).getLevel();
    }

    private static Logger logger(String name) {
        return ((LoggerContext) LoggerFactory.getILoggerFactory()).getLogger(name);
    }

    private static Level zooKeepersLevel(String... arguments) {
        logger("org.apache.zookeeper").setLevel(null);
        String[] all = java.util.Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = "--latchkey.connect-string=" + SERVER.connectString();
        try (ConfigurableApplicationContext context = start(all)) {
            assertThat(context.isActive()).isTrue();
            return levelOf("org.apache.zookeeper");
        }
    }

    @Test
    void zooKeepersLogIsAtError_unlessALevelIsSet(@TempDir Path folder) throws Exception {
        assertThat(zooKeepersLevel()).isEqualTo(Level.ERROR);
        assertThat(zooKeepersLevel("--logging.level.org.apache.zookeeper=info")).isEqualTo(Level.INFO);
        assertThat(zooKeepersLevel("--latchkey.logging.quiet-zookeeper=false")).isNull();
        Path file = Files.writeString(
                folder.resolve("logback.xml"),
                "<configuration><logger name=\"org.apache.zookeeper\" level=\"WARN\"/><root level=\"OFF\"/></configuration>");
        assertThat(zooKeepersLevel("--logging.config=" + file)).isEqualTo(Level.WARN);
    }

    /** What a start logs of its connection. */
    private static final class Lines implements AutoCloseable {
        private final Logger logger = logger("io.latchkey.spring.boot.connection");
        private final ListAppender<ILoggingEvent> appender = new ListAppender<>();
        private final long begin = System.nanoTime();

        Lines() {
            appender.setContext(logger.getLoggerContext());
            appender.start();
            logger.addAppender(appender);
            logger.setLevel(Level.INFO);
        }

        List<String> soFar() {
            synchronized (appender) { // it appends so
                return appender.list.stream()
                        .map(ILoggingEvent::getFormattedMessage)
                        .toList();
            }
        }

        void await(String text) throws InterruptedException {
            Eventually.holds("'" + text + "'", SOON, () -> soFar().stream().anyMatch(line -> line.contains(text)));
        }

        /** Those of a start that was told of no wait, or took a second: that has a line of its own. */
        List<String> withoutAWait() {
            boolean slow = System.nanoTime() - begin >= TimeUnit.SECONDS.toNanos(1);
            return soFar().stream()
                    .filter(line -> !slow || !line.startsWith("The start waits for "))
                    .toList();
        }

        @Override
        public void close() {
            logger.detachAppender(appender);
            logger.setLevel(null);
        }
    }

    @Test
    void firstConnectionHasOneLine() {
        SERVER.application().run(context -> assertThat(context).hasNotFailed()); // loads the classes
        try (Lines lines = new Lines()) {
            SERVER.application().run(context -> assertThat(context).hasNotFailed());
            List<String> said = lines.withoutAWait();
            assertThat(said).hasSize(1);
            assertThat(said.get(0))
                    .startsWith("Connected to ZooKeeper at " + SERVER.connectString())
                    .contains("session 0x", "session timeout 4000 ms", "ZooKeeper client 3.");
        }
    }

    @Test
    void waitForTheServersHasOneLine() {
        try (EmbeddedZooKeeper late = EmbeddedZooKeeper.start();
                Lines lines = new Lines()) {
            late.stop();
            Thread starter = new Thread(() -> {
                try {
                    lines.await("waits for ZooKeeper");
                    late.restart();
                } catch (InterruptedException ended) {
                    Thread.currentThread().interrupt();
                }
            });
            starter.start();
            ServerOfTheTests.withoutServers()
                    .withPropertyValues("latchkey.connect-string=" + late.connectString())
                    .run(context -> assertThat(context).hasNotFailed());
            List<String> said = lines.soFar();
            assertThat(said).hasSize(2);
            assertThat(said.get(0)).contains("waits for ZooKeeper at " + late.connectString(), "30.0 s at most");
            assertThat(said.get(1)).startsWith("Connected to ZooKeeper");
        }
    }

    @Test
    void connectionInTheBackgroundHasTwoLines() {
        try (Lines lines = new Lines()) {
            SERVER.application()
                    .withPropertyValues("latchkey.connect-timeout=0s")
                    .run(context -> lines.await("Connected to ZooKeeper"));
            List<String> said = lines.withoutAWait();
            assertThat(said.get(said.size() - 1)).startsWith("Connected to ZooKeeper");
            assertThat(said.size()).isBetween(1, 2);
        }
    }
}
