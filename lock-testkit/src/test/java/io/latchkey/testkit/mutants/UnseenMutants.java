// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Bugs that were written without a look at the tests, and that no test caught. */
@SuppressWarnings("StringConcatToTextBlock") // The lines of the source, as they are indented there.
final class UnseenMutants {
    private UnseenMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of(
                    "a multi-lock whose list lacks one node leaves the others",
                    "internal/acquire/Acquisition",
                    "return enqueue(new Command.StopWatching(), new Command.Leave(placed()));",
                    "return enqueue(new Command.StopWatching());"),
            Mutant.of(
                    "a request whose create is lost twice is not looked for again",
                    "internal/acquire/Acquisition",
                    "            searched = false;\n",
                    ""),
            Mutant.of(
                            "a timeout of more than 292 years overflows",
                            "internal/validity/SystemClock",
                            "return delay.compareTo(Duration.ofNanos(Long.MAX_VALUE)) >= 0 ? Long.MAX_VALUE "
                                    + ": delay.toNanos();",
                            "return delay.toNanos();")
                    .caughtBy(
                            "io.latchkey.zk.internal.validity.SystemClockTest" + "#delayWithoutEnd_isTakenAsALongOne"),
            Mutant.of(
                            "a request that queues again is not reported as queued",
                            "internal/request/Request",
                            "waited = false;\n        session().whenConnectedCreate(this);",
                            "session().whenConnectedCreate(this);")
                    .caughtBy("ObserverTest#waiter_getsItsPositionAgain_eachTimeThatItQueuesAgain"),
            Mutant.of(
                            "the watch on the own node is not set again after it was lost",
                            "internal/request/OwnNodeWatch",
                            "confirmed(false);\n            stop = null;\n            boolean lost",
                            "confirmed(false);\n            boolean lost")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest#evictedHolderLearnsAtOnce_whenItsWatchWasLost"),
            Mutant.of(
                            "deletions are not checked any more after a report without a node",
                            "internal/session/NodeChecks",
                            "asking = false;\n                return;",
                            "return;")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest#evictedHolderLearnsAtOnce_afterOneThatReleased"),
            Mutant.of(
                            "a list that may be too long is not asked for by a client without nodes",
                            "internal/session/Heartbeat",
                            "(hasNodes() || !onBeat.isEmpty() || !risky.isEmpty())",
                            "(hasNodes() || !onBeat.isEmpty())")
                    .caughtBy("AsynchronousFormsTest#queueIsRead_whenTwoListsOfAClientWithoutNodesWereLost"),
            Mutant.of(
                            "lists lost with the connection are counted over the whole session",
                            "internal/session/Lists",
                            "} else {\n            lost.remove(path);",
                            "} else if (answer.code() == Status.NO_NODE) {\n            lost.remove(path);")
                    .caughtBy("AsynchronousFormsTest#queueIsRead_whenFiveListsWereLostAndOthersWereAnsweredInBetween"),
            Mutant.of(
                            "a list that no request needs any more blocks the ones after it",
                            "internal/session/Lists",
                            "done.run();\n"
                                    + "                then.accept(Response.failed(Status.CONNECTION_LOSS, \"not asked "
                                    + "for\"));",
                            "then.accept(Response.failed(Status.CONNECTION_LOSS, \"not asked for\"));")
                    .caughtBy("AsynchronousFormsTest#requestIsGranted_whenAnEarlierOneWasGivenUpBeforeItsListWasSent"),
            Mutant.of(
                            "a release that the server refuses does not return",
                            "internal/path/PendingDeletions",
                            "deletion.complete(ReleaseOutcome.PENDING);\n            pending.remove(deletion);",
                            "pending.remove(deletion);")
                    .caughtBy("AccessTest#releaseIsPending_whileTheServerRefusesTheDeletion"),
            Mutant.of(
                            "the label of a downgraded lease's node displaces its token",
                            "internal/queue/Owner",
                            "return new Owner(host, processId, other, token);",
                            "return new Owner(host, processId, other);")
                    .caughtBy("LabelsTest#queueShowsTheTokenOfTheLease_whenALabelledWriteLeaseIsDowngraded"),
            Mutant.of(
                            "paths of kazoo are containers",
                            "internal/queue/SharedNaming",
                            "true,\n                text -> new Owner(\"\", 0, text)",
                            "false,\n                text -> new Owner(\"\", 0, text)")
                    .caughtBy("io.latchkey.zk.internal.queue.SharedNamingTest#emptyPathsOfKazooAreKept"),
            Mutant.of(
                    "completing the end of a candidate completes it for all",
                    MutantCompiler.API + "Leadership",
                    "return ended.copy();",
                    "return ended;"),
            Mutant.of(
                    "any interruption ends a candidate without an error",
                    MutantCompiler.API + "Leadership",
                    "if (failed instanceof InterruptedException && closed) {",
                    "if (failed instanceof InterruptedException) {"),
            Mutant.of(
                            "the second of two inner bodies does not know the outer one",
                            MutantCompiler.API + "BodyInterruption",
                            "if (outer == null) {\n            INNERMOST.remove();\n        } else {\n"
                                    + "            INNERMOST.set(outer);\n        }",
                            "INNERMOST.remove();")
                    .caughtBy("io.latchkey.lock.BodyInterruptionTest"
                            + "#enclosingBodyIsInterrupted_whenTheSecondBodyInsideHasClearedTheStatus"),
            Mutant.of(
                            "paths that are not listed are in no order",
                            MutantCompiler.API + "LockListing",
                            "unreadable = Collections.unmodifiableMap(new LinkedHashMap<>(unreadable));",
                            "unreadable = Map.copyOf(unreadable);")
                    .caughtBy("ListingTest#unreadableNodesAreNamedInTheOrderOfTheirPaths"),
            Mutant.of(
                            "the time of a lost lease counts from the call",
                            "internal/events/RequestEvents",
                            "held = Duration.ofNanos(signals.nanos() - grantedAt);\n            long ofLease",
                            "held = Duration.ofNanos(signals.nanos() - askedAt);\n            long ofLease")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#timeThatALostLeaseWasHeld_isWithoutItsWait"),
            Mutant.of(
                            "a diagnosis does not say what it could not read",
                            "internal/admin/QueueScan",
                            "gap = Optional.of(String.valueOf(failed.getCause().getMessage()));",
                            "continue;")
                    .caughtBy("DiagnoseTest#diagnosisNamesItsGap_whenTheConnectionBreaksAtARead"));
}
