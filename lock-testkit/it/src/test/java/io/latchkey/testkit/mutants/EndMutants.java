// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Bugs in the end of bodies, the limits of leases, deletions after a loss, and closing with a grace. */
@SuppressWarnings("StringConcatToTextBlock") // The lines of the source, as they are indented there.
final class EndMutants {
    private static final String LEASE = "internal/request/ZkLease";
    private static final String HOLDING = "internal/request/Holding";
    private static final String CLOSING = "internal/client/Closing";
    private static final String INTERRUPTION = MutantCompiler.API + "BodyInterruption";
    private static final String LEADERSHIP = MutantCompiler.API + "Leadership";
    private static final String CANDIDACY = MutantCompiler.API + "Candidacy";
    /** Too long for a general judge. */
    private static final String SCHEDULES =
            "io.latchkey.testkit.sim.LeadershipScheduleTest#oneLeadsAtATime_whateverHappens";

    private EndMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of(
                    "a body is interrupted after its end",
                    INTERRUPTION,
                    "            if (ended || cause != null) {\n                return;\n            }\n"
                            + "            cause = why;\n            boolean unused = demand(Demand.LOSS);",
                    "            if (cause != null) {\n                return;\n            }\n"
                            + "            cause = why;\n            due = true;"),
            Mutant.of(
                    "an interrupt stays after the body", INTERRUPTION, "sent && Thread.interrupted()", "sent && ended"),
            Mutant.of("an interrupt is sent on top of another", INTERRUPTION, "if (pending) {", "if (ended) {"),
            Mutant.of(
                    "an enclosing body does not learn of its loss",
                    INTERRUPTION,
                    "demandedInside |= inner != null;\n        LockSupport",
                    "LockSupport"),
            Mutant.of(
                    "an enclosing body does not learn of a loss right before the inner body",
                    INTERRUPTION,
                    "if (mayBePending && isInterrupted()) {",
                    "if (mayBePending && !isInterrupted()) {"),
            Mutant.of(
                    "the end of a body waits for an interrupt that blocks",
                    INTERRUPTION,
                    "} else if (left <= 0) {",
                    "} else if (left <= -1_000_000_000_000L) {"),
            Mutant.of(
                    "a close after a step-down sends no interrupt",
                    INTERRUPTION,
                    "|| (next == Demand.STEP_DOWN && !demands.isEmpty())",
                    "|| (next != Demand.LOSS && !demands.isEmpty())"),
            Mutant.of(
                    "leads whether or not its lease is valid",
                    LEADERSHIP,
                    "public boolean isLeader() {\n        Lease present = candidacy.lease();\n"
                            + "        return present != null && present.isValid();",
                    "public boolean isLeader() {\n        Lease present = candidacy.lease();\n"
                            + "        return present != null;"),
            Mutant.of(
                    "another lock's loss begins a new term",
                    CANDIDACY,
                    "if (!demanded && !lost &&",
                    "if (!demanded && !lost && !(thrown instanceof LeaseLostException) &&"),
            Mutant.of(
                    "a listener's term ends by an interrupt alone",
                    INTERRUPTION,
                    "while (!isDemanded() && lease.isValid()) {",
                    "while (true) {"),
            Mutant.of("a refusal that passes ends the candidate", CANDIDACY, "default -> true;", "default -> false;"),
            Mutant.of(
                            "a listener whose election is interrupted is not notified of the end",
                            LEADERSHIP,
                            "try {\n                listener.elected(lease);",
                            "listener.elected(lease);\n            try {")
                    .caughtBy(SCHEDULES),
            Mutant.of(
                            "the interrupt that ended a term is left for the next",
                            CANDIDACY,
                            "Optional<LossCause> unused = former.interruption.end();",
                            "former.interruption.isDemanded();")
                    .caughtBy(SCHEDULES),
            Mutant.of(
                            "the exception of an interrupted body ends the candidate",
                            CANDIDACY,
                            "if (!demanded && !lost &&",
                            "if (!(demanded && thrown instanceof InterruptedException) && !lost &&")
                    .caughtBy(SCHEDULES),
            Mutant.of(
                            "a close does not end the term",
                            CANDIDACY,
                            "present.demand(Demand.CLOSE);",
                            "present.interruption.isDemanded();")
                    .caughtBy(SCHEDULES),
            Mutant.of(
                            "a limit releases the node and leaves the lease valid",
                            LEASE,
                            "if (until == null || until.isValid()) {",
                            "if (until == null || until.remaining() != null) {")
                    .and(
                            LEASE,
                            "if (isValid()) {\n            Duration left",
                            "if (!Objects.requireNonNull(limit).isValid()) {\n            request.lapsed(this);\n"
                                    + "        } else if (isValid()) {\n            Duration left")
                    .and(
                            HOLDING,
                            "if (leases.size() == 1) {\n            machine.accept(new Event.Lapsed());",
                            "if (leases.size() == 1) {\n            machine.accept(new Event.Release(outcome -> {}));"),
            Mutant.of("a downgraded lease has no limit", HOLDING, "read.keepLimitOf(write);", ""),
            Mutant.of(
                    "a limit that passes on the wall clock is found late",
                    LEASE,
                    "set(Comparators.min(left, look));",
                    "set(Comparators.max(left, look));"),
            Mutant.of(
                    "a limit ends the lease that followed",
                    HOLDING,
                    "if (!isHeld() || !leases.contains(lease)) {",
                    "if (!isHeld()) {"),
            Mutant.of(
                    "the timers of released leases are left",
                    LEASE,
                    "limitTimer.cancel();\n",
                    "limitTimer.hashCode();\n"),
            Mutant.of(
                    "a local turn has the limit of the one that asked",
                    "internal/client/LocalWaiter",
                    ".map(LockTarget::unlimited)",
                    ".map(target -> target)"),
            Mutant.of(
                    "the node of a lost lease is deleted before the notice",
                    LEASE,
                    "return !(end.get() instanceof End.Lost) || notified.isDone();",
                    "return end.get() != null || notified.isDone();"),
            Mutant.of(
                    "a stage that blocks keeps the node of a lost lease",
                    LEASE,
                    "dividedBy(BOUNDS_IN_A_TIMEOUT), () -> notified.complete(null));",
                    "dividedBy(BOUNDS_IN_A_TIMEOUT), () -> notified.isDone());"),
            Mutant.of(
                    "a close with a grace closes at once",
                    CLOSING,
                    "if (!draining || grace.isZero()) {",
                    "if (!draining || !grace.isNegative()) {"),
            Mutant.of(
                    "the grace does not end",
                    CLOSING,
                    "config.time().after(grace, () -> context.execute(this::begin));",
                    "config.time().after(grace, () -> context.execute(this::finishWhenIdle));"),
            Mutant.of(
                    "the grace is half as long",
                    CLOSING,
                    "config.time().after(grace, ",
                    "config.time().after(grace.dividedBy(2), "),
            Mutant.of(
                    "the grace is a second longer",
                    CLOSING,
                    "config.time().after(grace, ",
                    "config.time().after(grace.plusSeconds(1), "),
            Mutant.of(
                    "bodies are interrupted a second after the loss",
                    LEASE,
                    "lossHandlers.forEach(handler -> handle(handler, cause));",
                    "context.time().after(java.time.Duration.ofSeconds(1),"
                            + " () -> lossHandlers.forEach(handler -> handle(handler, cause)));"),
            Mutant.of(
                    "holders are not asked when the grace begins",
                    CLOSING,
                    "holders.forEach(Request::askToRelease);",
                    "holders.forEach(Request::state);"),
            Mutant.of(
                    "the client closes before the last release is confirmed",
                    CLOSING,
                    "live.filter(SessionQueues::hasPendingReleases).isEmpty()",
                    "live.filter(last -> false).isEmpty()"),
            Mutant.of(
                    "the client closes before the owners of lost leases are notified",
                    CLOSING,
                    "notices > 0 && live.isPresent()",
                    "notices > 0 && live.isEmpty()"),
            Mutant.of(
                    "a close with a grace waits for its own thread",
                    CLOSING,
                    "&& !callerHolds) {",
                    "&& (callerHolds || draining || !draining)) {"),
            Mutant.of(
                    "a close with a grace waits for its own callback",
                    CLOSING,
                    "!context.isInCallback() &&",
                    "context != null &&"),
            Mutant.of(
                    "a holder may queue again while its client waits for it",
                    "internal/client/LiveRequests",
                    "        if (refusal != null) {",
                    "        if (refusal != null && live.isEmpty()) {"),
            Mutant.of(
                    "a close during the grace does nothing",
                    CLOSING,
                    "if (closing) {\n            return;",
                    "if (closing || (draining && requests.anyHolds())) {\n            return;"));
}
