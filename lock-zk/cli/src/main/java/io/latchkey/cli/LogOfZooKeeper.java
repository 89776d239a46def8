// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

/**
 * The log of ZooKeeper's client and of Latchkey, on standard error. It is off unless it is asked for: its lines would
 * stand among those of the command.
 */
final class LogOfZooKeeper {
    /** The option of all commands, which counts before the first class that logs is loaded. */
    static final String OPTION = "--verbose";

    private static final String SIMPLE = "org.slf4j.simpleLogger.";

    private LogOfZooKeeper() {}

    /** Sets the log up. A system property that is given to the JVM counts more. */
    static void show(boolean shown) {
        set("defaultLogLevel", shown ? "info" : "off");
        set("showDateTime", "true");
        set("dateTimeFormat", "HH:mm:ss.SSS");
        set("showThreadName", "false");
        set("showShortLogName", "true");
    }

    private static void set(String name, String value) {
        if (System.getProperty(SIMPLE + name) == null) {
            System.setProperty(SIMPLE + name, value);
        }
    }
}
