// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.testkit.WireRecord.Answer;
import java.util.OptionalLong;

/** What somebody else than the client saw of an attempt. */
interface Witness {
    /** The session that the grant with this token is of. */
    OptionalLong session(long token);

    /** When it could be seen, on the clock of {@link System#nanoTime()}, that the request with this token stood at the server. */
    OptionalLong placed(long token);

    /** Nobody saw it. */
    static Witness nobody() {
        return new Witness() {
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
     * The client's proxy, from now on. A token is the number of the transaction that placed the request. So by the first answer of a state
     * not older than that, the request stood; the client itself may not have got the answer.
     */
    static Witness of(FaultProxy proxy) {
        Wire.Mark mark = proxy.mark();
        return new Witness() {
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
    static Witness of(SimulatedLocks locks) {
        return new Witness() {
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
