// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.testkit.time.Slowness;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Measures {@link Slowness} before the first test of a JVM. JUnit has no factor for its timeouts, so on a busy machine
 * they are off, and the build's bound for a whole run remains.
 */
public final class SlownessOfTheRun implements LauncherSessionListener {
    private static final String TIMEOUTS = "junit.jupiter.execution.timeout.mode";

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        if (Slowness.factor() > 1 && System.getProperty(TIMEOUTS) == null) {
            System.setProperty(TIMEOUTS, "disabled");
        }
    }
}
