// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.LoggerFactory;

/** The lines of a class's logger, with their levels and the messages of their exceptions. */
public final class CapturedLog implements AutoCloseable {
    private final Logger logger;
    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

    public CapturedLog(Class<?> type) {
        logger = ((LoggerContext) LoggerFactory.getILoggerFactory()).getLogger(type);
        logger.setLevel(Level.INFO);
        appender.start();
        logger.addAppender(appender);
    }

    public String text() {
        return List.copyOf(appender.list).stream().map(CapturedLog::line).collect(Collectors.joining("\n"));
    }

    private static String line(ILoggingEvent event) {
        StringBuilder line = new StringBuilder(event.getLevel() + " " + event.getFormattedMessage());
        for (IThrowableProxy each = event.getThrowableProxy(); each != null; each = each.getCause()) {
            line.append(": ").append(each.getMessage());
        }
        return line.toString();
    }

    @Override
    public void close() {
        boolean unused = logger.detachAppender(appender);
        logger.setLevel(null);
    }
}
