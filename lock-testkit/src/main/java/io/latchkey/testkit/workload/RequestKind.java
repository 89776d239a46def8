// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.testkit.proxy.RequestMatch;

/** The kinds of requests that a {@link FaultSchedule} can wait for. */
public enum RequestKind {
    /** Any request but the upkeep of the session and of leases. */
    ANY,
    /** One that creates a node. */
    CREATE,
    /** One that deletes a node. */
    DELETE,
    /** A list of children. */
    LIST,
    /** One that leaves a watch. */
    WATCH,
    /** A transaction that is no heartbeat. */
    MULTI,
    /** A transaction of nothing but checks, by which a lease proves that it stands. */
    HEARTBEAT;

    /** {@return these requests, for a {@link io.latchkey.testkit.proxy.FaultProxy}} */
    public RequestMatch match() {
        return switch (this) {
            case ANY -> RequestMatch.any().butHeartbeats();
            case CREATE -> RequestMatch.create();
            case DELETE -> RequestMatch.delete();
            case LIST -> RequestMatch.list();
            case WATCH -> RequestMatch.watching();
            case MULTI -> RequestMatch.multi().butHeartbeats();
            case HEARTBEAT -> RequestMatch.heartbeat();
        };
    }
}
