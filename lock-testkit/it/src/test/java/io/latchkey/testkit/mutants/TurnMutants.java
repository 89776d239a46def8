// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Bugs in the local turns of one client's waiters. */
final class TurnMutants {
    private static final String TURNS = "internal/turns/TurnQueue";
    private static final String HOLDING = "internal/request/Holding";

    private TurnMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of("a node has turns without end", TURNS, "(turns < most &&", "(turns <= most * 100 &&"),
            Mutant.of(
                            "a request lingers that no caller needs",
                            TURNS,
                            "|| port.now() - needlessSince >= PATIENCE.toNanos()",
                            "|| port.now() < needlessSince")
                    .caughtBy("LocalTurnsTest#requestIsWithdrawn_whenItsCallerWasServedAndNoOtherComes[1]"),
            Mutant.of(
                    "callers of permits ask the servers at once",
                    TURNS,
                    "return beyond >= useful ?",
                    "return beyond < useful ?"),
            Mutant.of("a reader joins a writer", TURNS, "if (!read || !hasTurnFor(reader)", "if (!hasTurnFor(reader)"),
            Mutant.of(
                    "a reader's node serves a writer",
                    TURNS,
                    "(place.isExclusive() || !waiter.excludes())",
                    "(turns > 0 || !waiter.excludes())"),
            Mutant.of(
                    "the first reader to leave releases the node",
                    HOLDING,
                    "return !leases.isEmpty() || (successor",
                    "return (successor"),
            Mutant.of(
                            "a reader overtakes a writer of its client",
                            TURNS,
                            "if (waiting.isEmpty() && join(caller)) {",
                            "if (join(caller)) {")
                    .caughtBy("LocalTurnsTest#readerWaits_behindAWriterOfItsClient"),
            Mutant.of(
                            "a request stays for a writer that gave up",
                            TURNS,
                            "(nodes.isEmpty() && !writers.isEmpty())",
                            "nodes.isEmpty()")
                    .caughtBy("LocalTurnsTest#readerIsGranted_whenTheWriterBeforeItGivesUp"),
            Mutant.of(
                            "a reader waits for a writer's node beside a downgraded holder",
                            TURNS,
                            "(nodes.isEmpty() && !writers.isEmpty())",
                            "!writers.isEmpty()")
                    .caughtBy("LocalTurnsTest#readerHoldsBesideADowngradedHolder_whenAWriterWaitsBehindIt"),
            Mutant.of(
                            "the next node is for its first waiter alone",
                            TURNS,
                            "(isHeldAlone() || writers.contains(first()))",
                            "writers.contains(first())")
                    .caughtBy("LocalTurnsTest#nextNodeServesReadersAndWriters_behindAWritersNode"),
            Mutant.of(
                    "the next node of readers stays when none needs it",
                    TURNS,
                    "if (nodes.stream().allMatch(each -> each.spare != null)) {",
                    "if (nodes.isEmpty()) {"),
            Mutant.of(
                            "a request without a waiter is in the way of readers",
                            HOLDING,
                            "successor.downgraded();",
                            "mayPassOn();")
                    .caughtBy("LocalTurnsTest#readerHoldsBesideADowngradedHolder_whenAWriterWaitsBehindIt"),
            Mutant.of(
                            "a lease that no waiter took counts as a holder's",
                            TURNS,
                            "place.takeBack(next);",
                            "read = true;")
                    .caughtBy("LocalTurnsTest#nodeIsReleased_whenItsOnlyReaderGivesUpAtTheSameTime"),
            Mutant.of(
                            "a permit is passed on after a shrink",
                            HOLDING,
                            "reader().writtenAt() <= token",
                            "reader().writtenAt() < Long.MAX_VALUE")
                    .caughtBy("LocalTurnsTest#permitIsNotPassedOn_afterAShrink"),
            Mutant.of(
                            "a reader joins after a limit has passed",
                            HOLDING,
                            "last = true;\n        lapsed = true;",
                            "lapsed = true;")
                    .caughtBy("LocalTurnsTest#limitEndsOneReadersLease_andNoOtherReaderJoins"),
            Mutant.of(
                            "the limit of one reader ends the leases of all",
                            HOLDING,
                            "if (leases.size() == 1) {",
                            "if (!leases.isEmpty()) {")
                    .caughtBy("LocalTurnsTest#limitEndsOneReadersLease_andNoOtherReaderJoins"),
            Mutant.of(
                            "a reader joins a holder that is asked to release",
                            HOLDING,
                            "&& askedBy.isEmpty()\n                && openWriters",
                            "&& openWriters")
                    .caughtBy("LocalTurnsTest#readerDoesNotJoinAHolder_thatIsAskedToRelease"),
            Mutant.of(
                            "a reader joins although a guarded write of a former holder is open",
                            HOLDING,
                            "&& openWriters.stream().noneMatch(ZkLease::hasOpenWrites)",
                            "&& openWriters.size() < Integer.MAX_VALUE")
                    .caughtBy("LocalTurnsTest#readerDoesNotJoin_whileAGuardedWriteOfAFormerHolderIsOpen"),
            Mutant.of("a reader joins after the deadline", TURNS, "if (!lease.isValid()) {", "if (turns < 0) {")
                    .caughtBy("LocalTurnsTest#readerDoesNotJoin_afterTheDeadline"),
            Mutant.of(
                            "a try that does not wait takes a turn",
                            "internal/client/LocalHandOff",
                            "if (waitPolicy instanceof WaitPolicy.Never) {",
                            "if (lock.path().node().isEmpty()) {")
                    .caughtBy("LocalTurnsTest#tryWithoutAWait_writesNothing_whereItsClientKnowsHolders[1]"),
            Mutant.of(
                    "an owner's events end with the downgrade",
                    HOLDING,
                    "newLease(write.token(), write.signals());",
                    "newLease(write.token(), signals);"));
}
