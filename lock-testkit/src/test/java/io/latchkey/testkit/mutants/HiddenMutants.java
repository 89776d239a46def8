// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Further bugs that were written without a look at the tests, and that no test caught. */
@SuppressWarnings("StringConcatToTextBlock") // The lines of the source, as they are indented there.
final class HiddenMutants {
    private HiddenMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of(
                            "a loss that the release finds is taken for a deletion",
                            MutantCompiler.API + "BodyInterruption",
                            "known.orElseGet(() -> shownByRelease(lease))",
                            "known.orElse(LossCause.NODE_DELETED)")
                    .caughtBy("io.latchkey.testkit.sim.LimitAndGraceTest"
                            + "#callNamesTheCauseOfTheLoss_whenItsReleaseIsTheFirstToFindIt[1]"),
            Mutant.of(
                            "credentials that the caller wipes are wiped for the client",
                            "ZkLockClient",
                            "credentials.clone()",
                            "credentials")
                    .caughtBy("AccessTest#loginIsKept_afterAReconnectAndInTheNextSession[1]"),
            Mutant.of(
                            "the results of a period's effects are those of its record",
                            "OncePerPeriod",
                            "            List<Op> all = new ArrayList<>(List.of(effects));\n"
                                    + "            all.addAll(place.writes(seen, recorded));",
                            "            List<Op> all = new ArrayList<>(place.writes(seen, recorded));\n"
                                    + "            all.addAll(List.of(effects));")
                    .caughtBy("OncePerPeriodTest#resultsAreThoseOfTheEffects_inTheirOrder"),
            Mutant.of(
                            "a cancelled timed try of an observed lock stays in the queue",
                            "micrometer/ObservedLock",
                            "        observe(request);\n" + "        return request;",
                            "        observe(request);\n" + "        return request.copy();")
                    .caughtBy("io.latchkey.zk.micrometer.ObservedLockTest#cancellingTheFutureReachesTheRequest"),
            Mutant.of(
                    "permits of a semaphore with a limit have none",
                    "internal/locks/ZkSemaphore",
                    "asked().get(0).as(Recipe.semaphore(declared, n))",
                    "new LockTarget(Recipe.semaphore(declared, n), path)"),
            Mutant.of(
                            "a path that begins like that of the server is refused",
                            "internal/locks/LockPaths",
                            "path.equals(\"/zookeeper\") || path.startsWith(\"/zookeeper/\")",
                            "path.startsWith(\"/zookeeper\")")
                    .caughtBy("io.latchkey.zk.internal.locks.LockPathsTest"
                            + "#pathIsTaken_whenItOnlyResemblesOneOfTheServer[1]"),
            Mutant.of(
                            "one unknown host is taken for all",
                            "internal/store/ZooKeeperHandles",
                            "} catch (UnknownHostException unknown) {",
                            "} catch (UnknownHostException unknown) {\n                break;")
                    .caughtBy("io.latchkey.zk.internal.store.ZooKeeperHandlesTest"
                            + "#hostsAreAccepted_whenTheFirstOfThemIsUnknown"),
            Mutant.of(
                            "the data of a node without data is null",
                            "internal/store/ZooKeeperResults",
                            "data == null ? EMPTY : data,",
                            "data,")
                    .caughtBy(
                            "io.latchkey.zk.internal.store.ZooKeeperResultsTest" + "#dataIsEmpty_whenTheNodeHasNoData"),
            Mutant.of(
                            "a search for locks ends after one session timeout",
                            "internal/admin/LockTree",
                            "            if (!(why instanceof LockUnavailableException)) {\n"
                                    + "                silence.set(engine.context().sessionTimeout());\n"
                                    + "            }\n"
                                    + "            if (action != null) {",
                            "            if (action != null) {")
                    .caughtBy("ListingTest#listingIsComplete_whenItTakesLongerThanASessionTimeout"),
            Mutant.of(
                            "a grace is not waited for in a thread that acquired asynchronously",
                            "internal/events/RequestEvents",
                            "return callerWaits && caller == thread.getId();",
                            "return caller == thread.getId();")
                    .caughtBy("io.latchkey.testkit.sim.LimitAndGraceTest"
                            + "#closeWaits_whenItsThreadHasAcquiredAsynchronously"),
            Mutant.of(
                            "a thread that ran a callback once counts as in one for ever",
                            "internal/context/ClientContext",
                            "            try {\n"
                                    + "                task.run();\n"
                                    + "            } finally {\n"
                                    + "                callback.remove();\n"
                                    + "            }",
                            "            task.run();")
                    .caughtBy("io.latchkey.testkit.sim.LimitAndGraceTest" + "#closeWaits_whenItsThreadHasRunACallback"),
            Mutant.of(
                            "a try behind two waiters of its client waits for them",
                            "internal/request/Request",
                            "return !(waitPolicy instanceof WaitPolicy.Never)\n                && members.size() == 1",
                            "return members.size() == 1")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest"
                            + "#tryIsAnsweredAtOnce_whenTwoRequestsOfItsClientWaitAhead"),
            Mutant.of(
                            "a downgraded lease does not hear of the request to its write lease",
                            "internal/request/Holding",
                            "            askedBy.ifPresent(by -> leases.forEach(lease -> lease.askedToRelease(by)));\n",
                            "")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest"
                            + "#downgradedHolderIsNotified_whenItsWriteLeaseWasAskedToRelease"),
            Mutant.of(
                            "only one of a thread's leases counts for a wait for itself",
                            "internal/request/OwnRequest",
                            "permits += member.path()",
                            "permits = member.path()")
                    .caughtBy("io.latchkey.zk.internal.request.OwnRequestTest"
                            + "#threadWaitsForItself_whenItsLeasesTogetherHaveAllPermits"),
            Mutant.of(
                            "levels above a path count as a create without an answer",
                            "internal/request/NodeCreation",
                            "above.makeAbove(entry.path(), outcome -> {\n                noLongerCreating();\n",
                            "above.makeAbove(entry.path(), outcome -> {\n")
                    .caughtBy("io.latchkey.testkit.sim.LimitAndGraceTest"
                            + "#borrowingClientCloses_whenItsRequestHasCreatedTheLevelsAboveAPath"),
            Mutant.of(
                            "a lease of a multi-lock passes for one of its first member",
                            "internal/request/ZkLease",
                            "return nodes.size() == 1\n                && recipe.equals(member.recipe())",
                            "return recipe.equals(member.recipe())")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest"
                            + "#leaseOfAMultiLockIsNotDowngraded_whenItsFirstMemberIsTheWriteLock"),
            Mutant.of(
                            "lists that are too long are asked for again a minute later at the earliest",
                            "internal/session/Lists",
                            "pause.compareTo(LONGEST_PAUSE) < 0",
                            "pause.compareTo(LONGEST_PAUSE) > 0")
                    .caughtBy("AsynchronousFormsTest#queueIsReadAgainAfterAPause_whenFiveListsInARowWereLost"),
            Mutant.of(
                            "leases that waited for a proof have no timer of their deadline",
                            "internal/session/Heartbeat",
                            "SerialExecutor.attemptEach(all, SessionRequest::confirmed);\n        validity.armPeriodEnd();",
                            "SerialExecutor.attemptEach(all, SessionRequest::confirmed);")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#lossIsReported_whenTheFirstHolderOnABorrowedHandleIsCutOffWithoutNotice"),
            Mutant.of(
                            "leases of a period that is over stay when the session turns out to live",
                            "internal/session/SessionValidity",
                            "if (present != null) {\n            lapse();\n",
                            "if (present != null) {\n")
                    .caughtBy("io.latchkey.testkit.sim.LimitAndGraceTest"
                            + "#nodeIsDeleted_whenTheDeadlinePassesOnTheWallClockAloneAndTheSessionLives"),
            Mutant.of(
                            "a claimed token has eleven digits at most",
                            "internal/queue/Owner",
                            "\"(\\\\d{1,18})\"",
                            "\"(\\\\d{1,11})\"")
                    .caughtBy("io.latchkey.zk.internal.queue.PathDataTest" + "#requestData_namesTheOwnerInOneLine"),
            Mutant.of(
                            "the timers of tries that have ended stay until their time",
                            "internal/validity/SystemClock",
                            "        timer.setRemoveOnCancelPolicy(true);\n",
                            "")
                    .caughtBy("io.latchkey.testkit.sim.LongTimesTest#timersThatAreCancelled_leaveNothing"),
            Mutant.of(
                            "callbacks have one thread",
                            "internal/threads/DaemonThreads",
                            "new ThreadPoolExecutor(most, most, IDLE_SECONDS",
                            "new ThreadPoolExecutor(1, most, IDLE_SECONDS")
                    .caughtBy("io.latchkey.zk.internal.threads.CallbackThreadsTest"
                            + "#fourTasksRunSideBySide_whenEachOfThemBlocks"),
            Mutant.of(
                            "the notice of a grant takes the label off its request",
                            "internal/path/SessionQueue",
                            "byte[] same = session.context().ownerData(member.label());",
                            "byte[] same = session.context().ownerData();")
                    .caughtBy("LabelsTest#queueShowsTheLabelOfTheRequest_whenItHasNotifiedTheNextOne"),
            Mutant.of(
                            "the wait of a failed request is recorded in another unit",
                            "internal/events/JfrEvents",
                            "event.waited = waited.toNanos();",
                            "event.waited = waited.toMillis();")
                    .caughtBy("FlightRecorderTest#everyEventIsThere"),
            Mutant.of(
                            "the client's own jute.maxbuffer is not used",
                            "internal/store/ZooKeeperStore",
                            "return zooKeeper.getClientConfig().getInt(ZKConfig.JUTE_MAXBUFFER, ZOOKEEPERS_LONGEST_ANSWER);",
                            "return ZOOKEEPERS_LONGEST_ANSWER;")
                    .caughtBy("HostileInputTest#listIsNotAskedFor_whenItExceedsTheClientsOwnLimit"));
}
