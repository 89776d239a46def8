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
                    "a found node's token is guessed",
                    "internal/acquire/Acquisition",
                    "Set.of(), Created.UNKNOWN_TOKEN));",
                    "Set.of(), 1L));"),
            Mutant.of(
                    "a lost response without a search for the own node",
                    MACHINE,
                    "(m, e) -> m.go(RECOVERING, new Command.Recover()), RECOVERING)",
                    "(m, e) -> m.enqueue(), ENQUEUEING)"),
            Mutant.of(
                    "a lost create is searched without a barrier",
                    "internal/path/QueueReader",
                    "if (!session.connection().connected()) {\n            if (!waitsForConnection) {",
                    "if (session.connection().isOver()) {\n            if (!waitsForConnection) {"),
            Mutant.of(
                    "request kept across sessions",
                    "internal/client/Engine",
                    "SerialExecutor.attemptEach(live, Request::sessionOver);",
                    "SerialExecutor.attemptEach(live.stream().filter(r -> r.state() == State.HELD).toList(), Request::sessionOver);"),
            Mutant.of("one id for all attempts", MACHINE, "id = ids.get();", "id = id.isEmpty() ? ids.get() : id;"),
            Mutant.of(
                    "grant without the own node in the list",
                    MACHINE,
                    "return enqueue(new Command.StopWatching(), new Command.Leave(placed()));",
                    "member.standing = Standing.READY;\n            return confirmIfReady(List.of());"),
            Mutant.of(
                    "time-out leaves its node",
                    MACHINE,
                    "return end(new Command.StopWatching(), new Command.Leave(placed()));",
                    "return end(new Command.StopWatching());"),
            Mutant.of(
                    "time-out leaves its watches",
                    MACHINE,
                    "return end(new Command.StopWatching(), new Command.Leave(placed()));",
                    "return end(new Command.Leave(placed()));"),
            Mutant.of(
                    "a request given up while its create is in flight leaves its node",
                    MACHINE,
                    "return end(new Command.Leave(placed(event.names())));",
                    "return end();"),
            Mutant.of(
                    "a request given up after a lost response leaves its node",
                    MACHINE,
                    "return end(new Command.Discard(id));",
                    "return end();"),
            Mutant.of(
                    "a lost create is forgotten when its request continues",
                    MACHINE,
                    "new Command.Remember(id)",
                    "new Command.StopWatching()"),
            Mutant.of(
                    "lost creates are searched on one connection only",
                    "internal/session/Session",
                    "lookForLostCreates.forEach(context::execute);",
                    "lookForLostCreates.forEach(context::execute);\n        lookForLostCreates.clear();"),
            Mutant.of(
                    "token from the sequence number",
                    MACHINE,
                    "token = transaction;",
                    "token = transaction == Created.UNKNOWN_TOKEN ? transaction : names.get(0).sequence() + 1L;"),
            Mutant.of(
                    "one ready member is enough",
                    MACHINE,
                    "!allReady() ||",
                    "members.stream().noneMatch(member -> member.standing == Standing.READY) ||"),
            Mutant.of(
                            "ready members are not looked at again",
                            REQUEST,
                            "if (entries.size() == 1 || !waited)",
                            "if (!entries.isEmpty())")
                    .caughtBy("OldBugsTest#multiLockIsNotGrantedBesideTheNext_whenAReadyMembersNodeWasDeleted"),
            Mutant.of(
                    "one member's node lost: the others stay",
                    MACHINE,
                    ": enqueue(new Command.StopWatching(), new Command.Leave(others));",
                    ": enqueue(new Command.StopWatching());"),
            Mutant.of(
                    "one member's lease lost: the others' nodes stay",
                    MACHINE,
                    "m.lose(LossCause.NODE_DELETED, m.placedBut((Event.OwnNodeGone) e))",
                    "m.lose(LossCause.NODE_DELETED, List.of())"),
            Mutant.of(
                    "a lapsed lease leaves its node",
                    MACHINE,
                    "m.lose(LossCause.DEADLINE_PASSED, m.placed())",
                    "m.lose(LossCause.DEADLINE_PASSED, List.of())"),
            Mutant.of(
                    "a request that steps back at the end of the counter leaves its node",
                    MACHINE,
                    "return go(DRAINING, new Command.Leave(placed(names)), new Command.Drain(i, transaction));",
                    "return go(DRAINING, new Command.Drain(i, transaction));"),
            Mutant.of(
                    "watches stay after the grant",
                    MACHINE,
                    "return go(HELD, new Command.StopWatching(), new Command.Grant(token));",
                    "return go(HELD, new Command.Grant(token));"),
            Mutant.of(
                    "released without deleting",
                    MACHINE,
                    "return end(new Command.LeaveAsHolder(placed(), event.then()));",
                    "return end();"),
            Mutant.of(
                            "a try waits",
                            REQUEST,
                            "if (waitPolicy instanceof WaitPolicy.Never) {\n                giveUpThen",
                            "if (waitPolicy instanceof WaitPolicy.Never && waited) {\n                giveUpThen")
                    .caughtBy("WireBudgetTest#failedTryCostsOneDeletion"),
            Mutant.of(
                            "no time limit",
                            REQUEST,
                            "context.time().after(span, () -> context.execute(this::timeUp))",
                            "context.time().after(span.multipliedBy(60), () -> context.execute(this::timeUp))")
                    .caughtBy("SlowServerTest#timedTryEndsInTime_whenTheServerIsSlow"));
}
