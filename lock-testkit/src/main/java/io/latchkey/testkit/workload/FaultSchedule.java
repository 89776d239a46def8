// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.workload;

import io.latchkey.testkit.ExpiryOrder;
import io.latchkey.testkit.proxy.Direction;
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
    public record Timed(int afterMillis, int client, FaultAction action) {
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
     * Reads what {@link #toString} has printed. This is the text of each {@link FaultAction}, with numbers in
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

    private static FaultAction action(String text) {
        Matcher action = ACTION.matcher(text);
        if (!action.matches()) {
            throw new IllegalArgumentException("not a fault: \"" + text + "\"");
        }
        if (action.group("expire") != null) {
            return new FaultAction.Expire(ExpiryOrder.valueOf(action.group("expire")));
        } else if (action.group("lose") != null) {
            RequestKind kind = RequestKind.valueOf(action.group("lost"));
            int number = Integer.parseInt(action.group("lostNumber"));
            return action.group("lose").equals("request")
                    ? new FaultAction.LoseRequest(kind, number)
                    : new FaultAction.LoseAnswer(kind, number);
        } else if (action.group("on") != null) {
            return new FaultAction.ExpireOn(
                    RequestKind.valueOf(action.group("on")),
                    Integer.parseInt(action.group("onNumber")),
                    ExpiryOrder.valueOf(action.group("onExpire")));
        } else if (action.group("delay") != null) {
            return new FaultAction.Delay(
                    Integer.parseInt(action.group("delay")), Integer.parseInt(action.group("delayFor")));
        } else if (action.group("hole") != null) {
            return new FaultAction.BlackHole(
                    Direction.valueOf(action.group("hole")), Integer.parseInt(action.group("holeFor")));
        } else if (action.group("refuseFor") != null) {
            return new FaultAction.Refuse(Integer.parseInt(action.group("refuseFor")));
        } else if (action.group("stop") != null) {
            return new FaultAction.Stop(
                    FaultAction.Role.valueOf(action.group("stop")), Integer.parseInt(action.group("stopFor")));
        } else if (action.group("cutOffFor") != null) {
            return new FaultAction.CutOff(Integer.parseInt(action.group("cutOffFor")));
        }
        return new FaultAction.Cut();
    }

    /** {@return the faults as {@link #parse} reads them} */
    @Override
    public String toString() {
        return faults.stream().map(Timed::toString).collect(Collectors.joining(SEPARATOR));
    }
}
