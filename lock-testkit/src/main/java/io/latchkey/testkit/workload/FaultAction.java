// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.proxy.Direction;

/**
 * A fault of one client or of its servers. The method that each action calls documents its effect. Times are in
 * milliseconds. A number counts requests of a kind from when the fault begins: 1 for the next.
 */
public sealed interface FaultAction {
    /**
     * Ends the session: {@link io.latchkey.testkit.FaultyClient#expire}.
     *
     * @param order the order in which server and client learn of the end
     */
    record Expire(ExpiryOrder order) implements FaultAction {
        @Override
        public String toString() {
            return "expire " + order;
        }
    }

    /** Cuts the connection: {@link io.latchkey.testkit.proxy.FaultProxy#cut}. */
    record Cut() implements FaultAction {
        @Override
        public String toString() {
            return "cut";
        }
    }

    /**
     * Cuts in place of a request: {@link io.latchkey.testkit.proxy.FaultProxy#cutBefore}.
     *
     * @param kind which requests count
     * @param number which of them
     */
    record LoseRequest(RequestKind kind, int number) implements FaultAction {
        @Override
        public String toString() {
            return "lose request " + kind + " " + number;
        }
    }

    /**
     * Cuts in place of the answer to a request: {@link io.latchkey.testkit.proxy.FaultProxy#cutAfter}.
     *
     * @param kind which requests count
     * @param number which of them
     */
    record LoseAnswer(RequestKind kind, int number) implements FaultAction {
        @Override
        public String toString() {
            return "lose answer " + kind + " " + number;
        }
    }

    /**
     * Ends the session when a request has been passed on, most likely before it is answered.
     *
     * @param kind which requests count
     * @param number which of them
     * @param order the order in which server and client learn of the end
     */
    record ExpireOn(RequestKind kind, int number, ExpiryOrder order) implements FaultAction {
        @Override
        public String toString() {
            return "on " + kind + " " + number + " expire " + order;
        }
    }

    /**
     * Makes every frame late for some time: {@link io.latchkey.testkit.proxy.FaultProxy#delay}.
     *
     * @param eachWayMillis how late
     * @param forMillis for how long
     */
    record Delay(int eachWayMillis, int forMillis) implements FaultAction {
        @Override
        public String toString() {
            return "delay " + eachWayMillis + " for " + forMillis;
        }
    }

    /**
     * Lets nothing through in one direction for some time: {@link io.latchkey.testkit.proxy.FaultProxy#blackHole}.
     *
     * @param direction which way
     * @param forMillis for how long
     */
    record BlackHole(Direction direction, int forMillis) implements FaultAction {
        @Override
        public String toString() {
            return "black hole " + direction + " for " + forMillis;
        }
    }

    /**
     * Cuts, and resets new connections for some time: {@link io.latchkey.testkit.proxy.FaultProxy#refuse}.
     *
     * @param forMillis for how long
     */
    record Refuse(int forMillis) implements FaultAction {
        @Override
        public String toString() {
            return "refuse for " + forMillis;
        }
    }

    /** A part in an ensemble; one server alone has both. */
    enum Role {
        /** The one that commits. */
        LEADER,
        /** Any of the others. */
        FOLLOWER
    }

    /**
     * Stops a server and starts it again: {@link io.latchkey.testkit.server.ZooKeeperFixture#stop(int)}. Waits for
     * sessions of the same schedule that are about to end, and those for it.
     *
     * @param role which server
     * @param forMillis for how long
     */
    record Stop(Role role, int forMillis) implements FaultAction {
        @Override
        public String toString() {
            return "stop " + role + " for " + forMillis;
        }
    }

    /**
     * Cuts a follower off from its leader for some time: {@link
     * io.latchkey.testkit.server.EmbeddedEnsemble#cutOffFromLeader}. Moot where one server is alone.
     *
     * @param forMillis for how long
     */
    record CutOff(int forMillis) implements FaultAction {
        @Override
        public String toString() {
            return "cut off for " + forMillis;
        }
    }
}
