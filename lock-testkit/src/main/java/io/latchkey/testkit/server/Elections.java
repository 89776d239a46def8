// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import io.latchkey.testkit.time.Eventually;
import java.io.IOException;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * Elections that come to an end on a busy machine. A server that has voted says so again after longer and longer
 * silence, up to a minute, in which a vote that was lost with its connection leaves an ensemble without a leader; here
 * up to a second.
 */
final class Elections {
    static final String LONGEST_SILENCE = "zookeeper.fastleader.maxNotificationInterval";
    static final String LONGEST_SILENCE_MILLIS = "1000";

    private Elections() {}

    /** Starts an ensemble and returns it when it serves; closes it if it does not in time. */
    static <E> E serving(E made, Runnable start, Runnable close, Duration within, BooleanSupplier serves) {
        try {
            start.run();
            Eventually.holds("an ensemble that serves", within, serves::getAsBoolean);
            return made;
        } catch (InterruptedException e) {
            close.run();
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while starting an ensemble", e);
        } catch (RuntimeException | AssertionError e) {
            close.run();
            throw e;
        }
    }

    /** ZooKeeper reads the property when the first server of a process begins its first election. */
    static void lively(Runnable start) throws IOException {
        boolean unused = SystemProperties.during(LONGEST_SILENCE, LONGEST_SILENCE_MILLIS, () -> {
            start.run();
            return true;
        });
    }
}
