// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.proxy;

import io.latchkey.testkit.proxy.Fault.HeldFrames;
import io.latchkey.testkit.proxy.WireRecord.Request;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The faults that wait for a request, an answer or an event. Lives on the proxy's thread. */
final class FaultPlan {
    private final List<Trigger> triggers = new ArrayList<>();
    private final List<AnswerHold> answerHolds = new ArrayList<>();
    private final List<HeldFrames> eventHolds = new ArrayList<>();

    /** What happens when a trigger's request comes. */
    enum FaultEffect {
        CUT_BEFORE,
        CUT_AFTER,
        /** The server does not get it, and another code comes back for it. */
        REFUSE,
        /** The server does it, and another code comes back for it. */
        ANSWER_WITH,
        /** A connect that asks for a session: it gets a new one. */
        NEW_SESSION,
        TELL_SENT,
        TELL_ANSWERED
    }

    /** A fault together with what it waits for. Counts down to the request it strikes. */
    private static final class Trigger {
        final RequestMatch match;
        final FaultEffect effect;
        final Fault fault;
        final int code;
        int toGo;

        Trigger(RequestMatch match, int number, FaultEffect effect, int code, Fault fault) {
            this.match = match;
            this.code = code;
            this.toGo = number;
            this.effect = effect;
            this.fault = fault;
        }
    }

    private record AnswerHold(RequestMatch match, HeldFrames hold) {}

    /**
     * What a request has set off.
     *
     * @param code of the answer, if the effect replaces it
     */
    record TriggeredFault(FaultEffect effect, int code, Fault fault) {}

    void add(RequestMatch match, int number, FaultEffect effect, int code, Fault fault) {
        triggers.add(new Trigger(match, number, effect, code, fault));
    }

    void addAnswerHold(RequestMatch match, HeldFrames hold) {
        answerHolds.add(new AnswerHold(match, hold));
    }

    void addEventHold(HeldFrames hold) {
        eventHolds.add(hold);
    }

    void remove(HeldFrames hold) {
        hold.stop();
        answerHolds.removeIf(held -> held.hold() == hold);
        eventHolds.remove(hold);
    }

    /**
     * Counts the request for every trigger that waits for such a one; returns those whose number it is, in the order
     * they were armed.
     */
    List<TriggeredFault> onRequest(Request request) {
        List<TriggeredFault> triggered = new ArrayList<>();
        for (Trigger trigger : List.copyOf(triggers)) { // one that fails may have an action that arms another
            boolean due = trigger.match.matches(request, trigger.fault.struck()) && --trigger.toGo == 0;
            if (due) {
                triggered.add(new TriggeredFault(trigger.effect, trigger.code, trigger.fault));
            }
            if (due || !trigger.fault.isArmed()) {
                triggers.remove(trigger);
            }
        }
        return triggered;
    }

    @Nullable
    HeldFrames onAnswer(Request to) {
        for (AnswerHold held : List.copyOf(answerHolds)) {
            if (held.match().matches(to, held.hold().firstCaught())) {
                return held.hold();
            }
        }
        return null;
    }

    @Nullable
    HeldFrames onEvent() {
        return eventHolds.isEmpty() ? null : eventHolds.get(0);
    }

    /** No fault strikes any more, and nothing is held. */
    void clear() {
        triggers.forEach(trigger -> trigger.fault.close());
        triggers.clear();
        answerHolds.forEach(held -> held.hold().stop());
        answerHolds.clear();
        eventHolds.forEach(HeldFrames::stop);
        eventHolds.clear();
    }
}
