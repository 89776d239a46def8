// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import io.latchkey.testkit.SimulatedLocks;
import io.latchkey.testkit.proxy.FaultProxy;
import io.latchkey.testkit.proxy.Wire;
import io.latchkey.testkit.proxy.WireRecord.Answer;
import io.latchkey.testkit.server.ServerNode;
import java.util.OptionalLong;
import java.util.function.LongFunction;

/**
 * Observations of an attempt by an observer other than the client.
 *
 * @param sessions the session that the grant with a token is of
 * @param places when it could be seen, on the clock of {@link System#nanoTime()}, that the request with a token stood
 *     at the server
 */
record ServerObservation(LongFunction<OptionalLong> sessions, LongFunction<OptionalLong> places) {
    /** No observations. */
    static ServerObservation nobody() {
        return new ServerObservation(token -> OptionalLong.empty(), token -> OptionalLong.empty());
    }

    /**
     * The client's proxy, from now on. A token is the number of the transaction that placed the request. So by the
     * first answer of a state not older than that, the request stood; the client itself may not have got the answer.
     */
    static ServerObservation of(FaultProxy proxy) {
        Wire.Mark mark = proxy.mark();
        return new ServerObservation(proxy::sessionThatCreated, token -> proxy.since(mark).records().stream()
                .filter(Answer.class::isInstance)
                .map(Answer.class::cast)
                .filter(answer -> answer.zxid() >= token)
                .mapToLong(Answer::nanoTime)
                .findFirst());
    }

    /** The simulation, which knows whose every node is. Where requests stood it does not say. */
    static ServerObservation of(SimulatedLocks locks) {
        return new ServerObservation(
                token -> locks.nodesUnder("/").stream()
                        .filter(node -> node.created() == token && node.isEphemeral())
                        .mapToLong(ServerNode::session)
                        .findFirst(),
                token -> OptionalLong.empty());
    }
}
