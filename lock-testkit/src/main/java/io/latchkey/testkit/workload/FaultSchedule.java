// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.proxy.FaultProxy.Direction;
import io.latchkey.testkit.proxy.RequestMatch;
import io.latchkey.testkit.workload.FaultSchedule.Action.RequestKind;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A sequence of faults with their clients and times. Its text can be read by {@link #parse}: {@code after 12 C0 expire
 * SERVER_FIRST; after 0 C1 lose answer CREATE 2}. Start it with {@link FaultRun#start}.
 *
 * @param faults in their order
 */
public record FaultSchedule(List<TimedAction> faults) {
    private static final String SEPARATOR = "; ";
    private static final Pattern TIMED = Pattern.compile("after (\\d+) C(\\d+) (.+)");

    /**
     * One fault.
     *
     * @param afterMillis the delay after the previous fault, or after the start
     * @param client the number of the client, from 0; larger numbers count round
     * @param action the fault
     */
    public record TimedAction(int afterMillis, int client, Action action) {
        /**
         * Makes the fault.
         *
         * @param afterMillis the delay after the previous fault, or after the start
         * @param client the number of the client, from 0
         * @param action the fault
         * @throws IllegalArgumentException if a number is negative
         */
        public TimedAction {
            if (afterMillis < 0 || client < 0) {
                throw new IllegalArgumentException("negative: after " + afterMillis + " C" + client);
            }
        }

        @Override
        public String toString() {
            return "after " + afterMillis + " C" + client + " " + action;
        }
    }

    /**
     * Takes the faults as they are now.
     *
     * @param faults in their order
     */
    public FaultSchedule {
        faults = List.copyOf(faults);
    }

    /** {@return a schedule without faults} */
    public static FaultSchedule none() {
        return new FaultSchedule(List.of());
    }

    /**
     * Reads what {@link #toString} has printed. This is the text of each {@link Action}, with numbers in
     * milliseconds where it is a time:
     *
     * <pre>
     * expire SERVER_FIRST
     * cut
     * lose request CREATE 1
     * lose answer CREATE 1
     * on LIST 2 expire BOTH
     * delay 5 for 100
     * black hole TO_CLIENT for 100
     * refuse for 100
     * stop LEADER for 100
     * cut off for 100
     * </pre>
     *
     * @param text faults with {@code "; "} between them, each as {@code after 12 C0 cut}; blank for none
     * @return the faults in the order of the text
     * @throws IllegalArgumentException if it is no such text
     */
    public static FaultSchedule parse(String text) {
        return text.isBlank()
                ? none()
                : new FaultSchedule(Arrays.stream(text.split(SEPARATOR, -1))
                        .map(FaultSchedule::timed)
                        .toList());
    }

    private static TimedAction timed(String text) {
        Matcher timed = TIMED.matcher(text.strip());
        if (!timed.matches()) {
            throw new IllegalArgumentException("not a fault: \"" + text + "\"; like: after 12 C0 cut");
        }
        return new TimedAction(number(timed.group(1)), number(timed.group(2)), action(timed.group(3)));
    }

    /** Missing words are read as empty ones. The fault must print as the same text. */
    private static Action action(String text) {
        String[] words = (text + " ".repeat(5)).split(" ", -1);
        Action action =
                switch (words[0]) {
                    case "expire" -> new Action.Expire(ExpiryOrder.valueOf(words[1]));
                    case "cut" -> words[1].isEmpty() ? new Action.Cut() : new Action.CutOff(number(words[3]));
                    case "lose" -> lost(words[1], RequestKind.valueOf(words[2]), number(words[3]));
                    case "on" ->
                        new Action.ExpireOn(
                                RequestKind.valueOf(words[1]), number(words[2]), ExpiryOrder.valueOf(words[4]));
                    case "delay" -> new Action.Delay(number(words[1]), number(words[3]));
                    case "black" -> new Action.BlackHole(Direction.valueOf(words[2]), number(words[4]));
                    case "refuse" -> new Action.Refuse(number(words[2]));
                    case "stop" -> new Action.Stop(Action.Role.valueOf(words[1]), number(words[3]));
                    default -> throw new IllegalArgumentException("not a fault: \"" + text + "\"");
                };
        if (!action.toString().equals(text)) {
            throw new IllegalArgumentException("not a fault: \"" + text + "\"");
        }
        return action;
    }

    private static Action lost(String what, RequestKind kind, int number) {
        return what.equals("request") ? new Action.LoseRequest(kind, number) : new Action.LoseAnswer(kind, number);
    }

    private static int number(String word) {
        return Integer.parseUnsignedInt(word);
    }

    /** {@return the faults as {@link #parse} reads them} */
    @Override
    public String toString() {
        return faults.stream().map(TimedAction::toString).collect(Collectors.joining(SEPARATOR));
    }

    /**
     * A fault of one client or of its servers. The method that each action calls documents its effect. Times are in
     * milliseconds. A number counts requests of a kind from when the fault begins: 1 for the next.
     */
    public sealed interface Action {
        /**
         * Ends the session: {@link io.latchkey.testkit.FaultyClient#expire}.
         *
         * @param order the order in which server and client learn of the end
         */
        record Expire(ExpiryOrder order) implements Action {
            @Override
            public String toString() {
                return "expire " + order;
            }
        }

        /** Cuts the connection: {@link io.latchkey.testkit.proxy.FaultProxy#cut}. */
        record Cut() implements Action {
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
        record LoseRequest(RequestKind kind, int number) implements Action {
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
        record LoseAnswer(RequestKind kind, int number) implements Action {
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
        record ExpireOn(RequestKind kind, int number, ExpiryOrder order) implements Action {
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
        record Delay(int eachWayMillis, int forMillis) implements Action {
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
        record BlackHole(Direction direction, int forMillis) implements Action {
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
        record Refuse(int forMillis) implements Action {
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
        record Stop(Role role, int forMillis) implements Action {
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
        record CutOff(int forMillis) implements Action {
            @Override
            public String toString() {
                return "cut off for " + forMillis;
            }
        }

        /** The kinds of requests that a {@link FaultSchedule} can wait for. */
        enum RequestKind {
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
    }
}
