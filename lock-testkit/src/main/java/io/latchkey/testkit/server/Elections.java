// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

/**
 * Elections that come to an end on a busy machine. A server that has voted says so again after longer and longer
 * silence, up to a minute, in which a vote that was lost with its connection leaves an ensemble without a leader; here
 * up to a second.
 */
final class Elections {
    static final String LONGEST_SILENCE = "zookeeper.fastleader.maxNotificationInterval";
    static final String LONGEST_SILENCE_MILLIS = "1000";

    private Elections() {}

    /** ZooKeeper reads the property when the first server of a process begins its first election. */
    static synchronized void lively(Runnable start) {
        String before = System.getProperty(LONGEST_SILENCE);
        System.setProperty(LONGEST_SILENCE, LONGEST_SILENCE_MILLIS);
        try {
            start.run();
        } finally {
            if (before == null) {
                System.clearProperty(LONGEST_SILENCE);
            } else {
                System.setProperty(LONGEST_SILENCE, before);
            }
        }
    }
}
