// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.testkit.proxy.FastReconnects;

/** How long ZooKeeper's own client takes to come back after it has lost its connection. */
public enum Reconnects {
    /**
     * As long as in production: the client sleeps 0.1 s at each disconnect, up to 1 s before each further connection,
     * and another 1 s where it has one server only. So it is back after 1.2 to 1.9 s on average, and it takes as long
     * to learn that its session is over.
     */
    HONEST,
    /**
     * Milliseconds: the client is woken from its sleeps, see {@link FastReconnects}. For properties with many tries,
     * whose faults are about the order of events; not for tests of what happens while a client is away. No fault waits
     * for a session to end by time then: {@link FaultyClient#expire} ends it by force in every {@link ExpiryOrder}.
     */
    FAST
}
