// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import java.util.List;
import java.util.stream.Collectors;

/**
 * Actors that take their turns concurrently, each on a separate thread. All times are in milliseconds.
 *
 * @param actors at least one
 */
public record Workload(List<Actor> actors) {
    /**
     * One thread of a client.
     *
     * @param client whose session it uses, counted from 0; several actors may share one
     * @param turns what it does, in order
     */
    public record Actor(int client, List<Turn> turns) {
        /**
         * Takes the turns as they are now.
         *
         * @param client whose session it uses, counted from 0
         * @param turns what it does, in order
         * @throws IllegalArgumentException if the client is negative
         */
        public Actor {
            turns = List.copyOf(turns);
            if (client < 0) {
                throw new IllegalArgumentException("clients are counted from 0, not " + client);
            }
        }

        @Override
        public String toString() {
            return "C" + client + ": " + turns.stream().map(Turn::toString).collect(Collectors.joining("; "));
        }
    }

    /**
     * Takes the actors as they are now.
     *
     * @param actors at least one
     * @throws IllegalArgumentException if the list is empty
     */
    public Workload {
        actors = List.copyOf(actors);
        if (actors.isEmpty()) {
            throw new IllegalArgumentException("a workload without actors");
        }
    }

    /** {@return how many clients there are: one more than the highest number} */
    public int clients() {
        return actors.stream().mapToInt(Actor::client).max().orElse(0) + 1;
    }

    /** {@return one line an actor} */
    @Override
    public String toString() {
        return actors.stream().map(Actor::toString).collect(Collectors.joining("\n"));
    }
}
