// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

/** What a simulated ZooKeeper has really come to. */
final class Counters {
    /** A request was created, and its client lost the connection before it heard of that. */
    int createdButAnswerLost;
    /** A read was answered by a server that lagged behind the leader, where the answer would have been another. */
    int staleReads;
    /** A write was carried out after its client had given the connection up. */
    int lateWrites;
    /** A write of a former connection was carried out when its client was back at the server that had taken it. */
    int writesOfFormerConnections;
    /** A write was refused since its session was over. */
    int writesOfDeadSessions;
    /** A session ended since nobody had heard of its client for its time-out. */
    int expiredByTime;
    /** A client came back to its session on another connection. */
    int reconnects;
}
