// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.time.Duration;
import java.util.List;

/**
 * The plans of workers and the possible faults of a world: a schedule without its steps.
 *
 * @param clients the number of clients
 * @param servers the number of servers besides the leader, to which no client connects
 * @param plans the tasks of the workers, in order
 * @param ends how sessions end
 * @param faults the maximum number of faults
 * @param cancels the maximum number of cancels
 * @param start the initial state
 * @param turns the most local turns of a node; 0 without local turns
 * @param closes the maximum number of clients that close; if there are any, each lease has a body that is interrupted
 *     on its loss
 * @param hostile whether the code of users in the clients' processes throws, blocks and calls back
 */
record WorldSpec(
        int clients,
        int servers,
        List<Plan> plans,
        Ends ends,
        int faults,
        int cancels,
        Start start,
        int turns,
        int closes,
        boolean hostile) {
    /** The longest time from the first local turn of a node to the beginning of the last. */
    static final Duration LONGEST = Duration.ofSeconds(5);

    WorldSpec(int clients, int servers, List<Plan> plans, Ends ends, int faults, int cancels, Start start) {
        this(clients, servers, plans, ends, faults, cancels, start, 0, 0, false);
    }

    WorldSpec withEnds(Ends others) {
        return new WorldSpec(clients, servers, plans, others, faults, cancels, start, turns, closes, hostile);
    }

    WorldSpec withFaults(int most) {
        return new WorldSpec(clients, servers, plans, ends, most, cancels, start, turns, closes, hostile);
    }

    WorldSpec withTurns(int most) {
        return new WorldSpec(clients, servers, plans, ends, faults, cancels, start, most, closes, hostile);
    }

    WorldSpec withCloses(int most) {
        return new WorldSpec(clients, servers, plans, ends, faults, cancels, start, turns, most, hostile);
    }

    WorldSpec withHostileCode() {
        return new WorldSpec(clients, servers, plans, ends, faults, cancels, start, turns, closes, true);
    }

    WorldSpec withPlans(List<Plan> others) {
        return new WorldSpec(clients, servers, others, ends, faults, cancels, start, turns, closes, hostile);
    }

    /** One worker, and what it acquires, holds and releases. */
    record Plan(int client, List<Task> tasks) {
        @Override
        public String toString() {
            return "C" + client + tasks;
        }
    }

    /** How sessions end. */
    enum Ends {
        /** By time alone: two believed-valid leases that exclude each other never overlap. */
        BY_TIME,
        /** By time and by force, and operators delete nodes, which no clock shows. */
        BY_TIME_AND_DECREE,
        /** By force only: time does not affect sessions and connections. */
        BY_FORCE;

        boolean byDecree() {
            return this != BY_TIME;
        }

        Sessions.Expiry expiry() {
            return this == BY_FORCE ? Sessions.Expiry.BY_FORCE : Sessions.Expiry.BY_TIME;
        }
    }

    /** What is there when it begins. */
    enum Start {
        /** Nothing: clients have to connect, and to make the paths. */
        NOTHING,
        /** Clients are connected, and the paths exist. */
        IN_USE,
        /** As in use, and so many requests were there before that the counters of the paths are near their end. */
        WORN_OUT
    }
}
