// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.context.logging.LoggingApplicationListener;
import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggerConfiguration;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.context.ApplicationListener;
import org.springframework.core.Ordered;

/**
 * Sets the level of ZooKeeper's own log to error when the application starts, unless the application has set one, by a
 * property or in the configuration file of its logging backend. What matters for locks is in Latchkey's log.
 */
final class QuietZooKeeperLog implements ApplicationListener<ApplicationEnvironmentPreparedEvent>, Ordered {
    private static final String LOGGER = "org.apache.zookeeper";

    QuietZooKeeperLog() {}

    @Override
    public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
        if (!event.getEnvironment().getProperty("latchkey.logging.quiet-zookeeper", Boolean.class, true)) {
            return;
        }
        LoggingSystem logging = LoggingSystem.get(event.getSpringApplication().getClassLoader());
        LoggerConfiguration present = logging.getLoggerConfiguration(LOGGER);
        if (present == null || present.getLevelConfiguration(LoggerConfiguration.ConfigurationScope.DIRECT) == null) {
            logging.setLogLevel(LOGGER, LogLevel.ERROR);
        }
    }

    /** After the listener that sets up logging. */
    @Override
    public int getOrder() {
        return LoggingApplicationListener.DEFAULT_ORDER + 1;
    }
}
