// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

/** Counters of the situations that a simulated ZooKeeper has reached. */
final class Counters {
    /** Requests that were created, but whose clients lost the connection before the response. */
    int createdButAnswerLost;
    /** Reads whose result differed from the leader's because the server lagged behind. */
    int staleReads;
    /** Writes of a former connection that were executed when their client reconnected to the same server. */
    int writesOfFormerConnections;
    /** Writes that were refused because their session had ended. */
    int writesOfDeadSessions;
    /** Sessions that expired: no server had heard from the client for a session timeout. */
    int expiredByTime;
    /** Reconnects within a session. */
    int reconnects;
}
