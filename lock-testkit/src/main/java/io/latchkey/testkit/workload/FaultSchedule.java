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
public record FaultSchedule(List<Timed> faults) {
    private static final String SEPARATOR = "; ";
    private static final Pattern TIMED = Pattern.compile("after (\\d+) C(\\d+) (.+)");
    private static final Pattern ACTION = Pattern.compile("expire (?<expire>[A-Z_]+)"
            + "|cut"
            + "|lose (?<lose>request|answer) (?<lost>[A-Z]+) (?<lostNumber>\\d+)"
            + "|on (?<on>[A-Z]+) (?<onNumber>\\d+) expire (?<onExpire>[A-Z_]+)"
            + "|delay (?<delay>\\d+) for (?<delayFor>\\d+)"
            + "|black hole (?<hole>[A-Z_]+) for (?<holeFor>\\d+)"
            + "|refuse for (?<refuseFor>\\d+)"
            + "|stop (?<stop>LEADER|FOLLOWER) for (?<stopFor>\\d+)"
            + "|cut off for (?<cutOffFor>\\d+)");

    /**
     * One fault.
     *
     * @param afterMillis the delay after the previous fault, or after the start
     * @param client the number of the client, from 0; larger numbers count round
     * @param action the fault
     */
    public record Timed(int afterMillis, int client, Action action) {
        /**
         * Makes the fault.
         *
         * @param afterMillis the delay after the previous fault, or after the start
         * @param client the number of the client, from 0
         * @param action the fault
         * @throws IllegalArgumentException if a number is negative
         */
        public Timed {
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

    private static Timed timed(String text) {
        Matcher timed = TIMED.matcher(text.strip());
        if (!timed.matches()) {
            throw new IllegalArgumentException("not a fault: \"" + text + "\"; like: after 12 C0 cut");
        }
        return new Timed(Integer.parseInt(timed.group(1)), Integer.parseInt(timed.group(2)), action(timed.group(3)));
    }

    private static Action action(String text) {
        Matcher action = ACTION.matcher(text);
        if (!action.matches()) {
            throw new IllegalArgumentException("not a fault: \"" + text + "\"");
        }
        if (action.group("expire") != null) {
            return new Action.Expire(ExpiryOrder.valueOf(action.group("expire")));
        } else if (action.group("lose") != null) {
            RequestKind kind = RequestKind.valueOf(action.group("lost"));
            int number = Integer.parseInt(action.group("lostNumber"));
            return action.group("lose").equals("request")
                    ? new Action.LoseRequest(kind, number)
                    : new Action.LoseAnswer(kind, number);
        } else if (action.group("on") != null) {
            return new Action.ExpireOn(
                    RequestKind.valueOf(action.group("on")),
                    Integer.parseInt(action.group("onNumber")),
                    ExpiryOrder.valueOf(action.group("onExpire")));
        } else if (action.group("delay") != null) {
            return new Action.Delay(
                    Integer.parseInt(action.group("delay")), Integer.parseInt(action.group("delayFor")));
        } else if (action.group("hole") != null) {
            return new Action.BlackHole(
                    Direction.valueOf(action.group("hole")), Integer.parseInt(action.group("holeFor")));
        } else if (action.group("refuseFor") != null) {
            return new Action.Refuse(Integer.parseInt(action.group("refuseFor")));
        } else if (action.group("stop") != null) {
            return new Action.Stop(
                    Action.Role.valueOf(action.group("stop")), Integer.parseInt(action.group("stopFor")));
        } else if (action.group("cutOffFor") != null) {
            return new Action.CutOff(Integer.parseInt(action.group("cutOffFor")));
        }
        return new Action.Cut();
    }

    /** {@return the faults as {@link #parse} reads them} */
    @Override
    public String toString() {
        return faults.stream().map(Timed::toString).collect(Collectors.joining(SEPARATOR));
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
