// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.proxy.WireRecord.Answer;
import io.latchkey.testkit.server.ServerNode;
import java.util.OptionalLong;

/** Observations of an attempt by an observer other than the client. */
interface ServerObservation {
    /** The session that the grant with this token is of. */
    OptionalLong session(long token);

    /**
     * When it could be seen, on the clock of {@link System#nanoTime()}, that the request with this token stood at the
     * server.
     */
    OptionalLong placed(long token);

    /** No observations. */
    static ServerObservation nobody() {
        return new ServerObservation() {
            @Override
            public OptionalLong session(long token) {
                return OptionalLong.empty();
            }

            @Override
            public OptionalLong placed(long token) {
                return OptionalLong.empty();
            }
        };
    }

    /**
     * The client's proxy, from now on. A token is the number of the transaction that placed the request. So by the
     * first answer of a state not older than that, the request stood; the client itself may not have got the answer.
     */
    static ServerObservation of(FaultProxy proxy) {
        Wire.Mark mark = proxy.mark();
        return new ServerObservation() {
            @Override
            public OptionalLong session(long token) {
                return proxy.sessionThatCreated(token);
            }

            @Override
            public OptionalLong placed(long token) {
                return proxy.since(mark).records().stream()
                        .filter(Answer.class::isInstance)
                        .map(Answer.class::cast)
                        .filter(answer -> answer.zxid() >= token)
                        .mapToLong(Answer::nanoTime)
                        .findFirst();
            }
        };
    }

    /** The simulation, which knows whose every node is. Where requests stood it does not say. */
    static ServerObservation of(SimulatedLocks locks) {
        return new ServerObservation() {
            @Override
            public OptionalLong session(long token) {
                return locks.nodesUnder("/").stream()
                        .filter(node -> node.created() == token && node.isEphemeral())
                        .mapToLong(ServerNode::session)
                        .findFirst();
            }

            @Override
            public OptionalLong placed(long token) {
                return OptionalLong.empty();
            }
        };
    }
}
