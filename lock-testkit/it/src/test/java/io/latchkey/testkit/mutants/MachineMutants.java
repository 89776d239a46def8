// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Bugs in the steps of a request. */
final class MachineMutants {
    private static final String MACHINE = "internal/acquire/Acquisition";
    private static final String REQUEST = "internal/request/Request";

    private MachineMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of(
                    "a lost create is searched without a barrier",
                    "internal/path/QueueReader",
                    "if (!session.connection().connected()) {\n            if (!waitsForConnection) {",
                    "if (session.connection().isOver()) {\n            if (!waitsForConnection) {"),
            Mutant.of(
                    "request kept across sessions",
                    "internal/client/LiveRequests",
                    "List.copyOf(live).forEach(Request::sessionOver);",
                    "live.stream().filter(r -> r.state() == State.HELD).toList().forEach(Request::sessionOver);"),
            Mutant.of(
                    "lost creates are searched on one connection only",
                    "internal/session/Session",
                    "if (!looksLater) {\n            lookAtSome();\n        }",
                    "lookAtSome();\n        lostCreates.clear();"),
            Mutant.of(
                    "a lost create is settled by the barrier of any server",
                    "internal/path/QueueReader",
                    "&& server.isPresent()\n                && server.equals(session.connection().server());",
                    "&& server.isPresent();"),
            Mutant.of(
                    "one ready member is enough",
                    MACHINE,
                    "!allReady() ||",
                    "members.stream().noneMatch(member -> member.standing == Standing.READY) ||"),
            Mutant.of(
                            "ready members are not looked at again",
                            REQUEST,
                            "if (members.size() > 1 && waited)",
                            "if (members.isEmpty())")
                    .caughtBy(
                            "io.latchkey.testkit.sim.AcquireMomentsTest#multiLockIsAskedForAgain_whenTheNodeOfItsReadyMemberIsGone"),
            Mutant.of(
                    "a holder without a node stays valid beside the next one of its client",
                    "internal/path/PresentNodes",
                    "if (!other.equals(member) && other.isHeld()) {",
                    "if (!other.equals(member) && other.isWaiting()) {"),
            Mutant.of(
                    "a closing client forgets calls whose requests have ended",
                    REQUEST,
                    "if (onceDeleted == null) {\n            client.forget(this);\n        }",
                    "client.forget(this);"),
            Mutant.of(
                    "one member's node lost: the others stay",
                    MACHINE,
                    ": enqueue(Shell::stopWatching, leave(others)),",
                    ": enqueue(Shell::stopWatching),"),
            Mutant.of(
                    "one member's lease lost: the others' nodes stay",
                    MACHINE,
                    "lose(LossCause.NODE_DELETED, nodesBut(event))",
                    "lose(LossCause.NODE_DELETED, List.of())"),
            Mutant.of(
                            "a try waits",
                            REQUEST,
                            "if (waitPolicy instanceof WaitPolicy.Never) {\n                entries()",
                            "if (waitPolicy instanceof WaitPolicy.Never && waited) {\n                entries()")
                    .caughtBy("RecipeWireTest#failedTryCostsOneDeletion"),
            Mutant.of(
                            "no time limit",
                            REQUEST,
                            "context.time().after(span, () -> context.execute(this::timeUp))",
                            "context.time().after(span.multipliedBy(60), () -> context.execute(this::timeUp))")
                    .caughtBy("FaultTest#timedTriesEndInTime_whenTheirSessionEnds"));
}
