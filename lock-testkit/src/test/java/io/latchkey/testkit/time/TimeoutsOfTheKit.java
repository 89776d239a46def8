// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.time;

import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/** Turns JUnit's timeouts off on a busy machine: they know no {@link Slowness}. The build's bound for a run remains. */
public final class TimeoutsOfTheKit implements LauncherSessionListener {
    private static final String MODE = "junit.jupiter.execution.timeout.mode";

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        if (Slowness.factor() > 1 && System.getProperty(MODE) == null) {
            System.setProperty(MODE, "disabled");
        }
    }
}
