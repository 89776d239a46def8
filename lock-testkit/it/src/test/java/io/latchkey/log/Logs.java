// SPDX-License-Identifier: Apache-2.0
package io.latchkey.log;

import org.slf4j.ILoggerFactory;
import org.slf4j.IMarkerFactory;
import org.slf4j.Logger;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.BasicMarkerFactory;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.MessageFormatter;
import org.slf4j.helpers.NOPLogger;
import org.slf4j.helpers.NOPMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.slf4j.spi.SLF4JServiceProvider;

/**
 * The logging backend of the tests: it keeps the errors of the locks, see {@link LoggedErrors}, and passes warnings and
 * other messages to listening tests, and drops the rest.
 */
public final class Logs implements SLF4JServiceProvider {
    private final IMarkerFactory markers = new BasicMarkerFactory();
    private final MDCAdapter context = new NOPMDCAdapter();

    @Override
    public ILoggerFactory getLoggerFactory() {
        return Logs::logger;
    }

    private static Logger logger(String name) {
        return name.startsWith("io.latchkey.zk.") ? new RecordingLogger(name) : NOPLogger.NOP_LOGGER;
    }

    @Override
    public IMarkerFactory getMarkerFactory() {
        return markers;
    }

    @Override
    public MDCAdapter getMDCAdapter() {
        return context;
    }

    @Override
    public String getRequestedApiVersion() {
        return "2.0.99";
    }

    @Override
    public void initialize() {}

    private static final class RecordingLogger extends LegacyAbstractLogger {
        private static final long serialVersionUID = 1;

        RecordingLogger(String name) {
            this.name = name;
        }

        @Override
        public boolean isTraceEnabled() {
            return false;
        }

        @Override
        public boolean isDebugEnabled() {
            HostileLog.strike();
            return false;
        }

        @Override
        public boolean isInfoEnabled() {
            HostileLog.strike();
            return LoggedWarnings.wanted();
        }

        @Override
        public boolean isWarnEnabled() {
            HostileLog.strike();
            return LoggedWarnings.wanted();
        }

        @Override
        public boolean isErrorEnabled() {
            HostileLog.strike();
            return true;
        }

        @Override
        protected String getFullyQualifiedCallerName() {
            return RecordingLogger.class.getName();
        }

        @Override
        protected void handleNormalizedLoggingCall(
                Level level, Marker marker, String message, Object[] arguments, Throwable thrown) {
            if (level == Level.ERROR) {
                LoggedErrors.add(message, thrown);
            } else {
                LoggedWarnings.add(level, MessageFormatter.basicArrayFormat(message, arguments));
            }
        }
    }
}
