// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Bugs that were written without a look at the tests, and that no test caught. */
@SuppressWarnings("StringConcatToTextBlock") // The lines of the source, as they are indented there.
final class BlindMutants {
    private BlindMutants() {}

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
                    .caughtBy(
                            "io.latchkey.testkit.SimulatedLocksTest#observer_getsTheEventsOfItsClientInSimulatedTime"),
            Mutant.of(
                            "a diagnosis does not say what it could not read",
                            "internal/admin/QueueScan",
                            "gap = Optional.of(String.valueOf(failed.getCause().getMessage()));",
                            "continue;")
                    .caughtBy("DiagnoseTest#diagnosisNamesItsGap_whenTheConnectionBreaksAtARead"),
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
                    .caughtBy("HostileInputTest#listIsNotAskedFor_whenItExceedsTheClientsOwnLimit"),
            Mutant.of(
                            "an interrupt during the check of the chroot is swallowed",
                            "FirstContact",
                            "            Thread.currentThread().interrupt();\n",
                            "")
                    .caughtBy("MistakesTest#interruptedBuildThrows_whenTheFirstAnswerIsLate"),
            Mutant.of(
                            "a period is recorded without its effects after a lost answer",
                            "OncePerPeriod",
                            "tried = failed.getResults() == null;",
                            "tried = false;")
                    .caughtBy("OncePerPeriodTest"
                            + "#periodIsRecordedOnlyWithItsEffect_whenTheWorkGoesOnAfterALostAnswer[1]"),
            Mutant.of(
                            "a turn at Curator's semaphore is kept if it is granted as its request is cancelled",
                            "internal/client/CuratorSemaphoreRequest",
                            "if (abandoned) {\n            mine.release(ignored -> {});",
                            "if (abandoned) {")
                    .caughtBy("io.latchkey.testkit.sim.GivingUpTest"
                            + "#requestOfCuratorsSemaphoreLeavesNothing_whenItIsCancelledBetweenTwoTasks"),
            Mutant.of(
                            "the end of a borrowed session does not end a close that waits for a deletion",
                            "internal/client/Engine",
                            "closing.finishWhenIdle();\n            return;",
                            "return;")
                    .caughtBy("io.latchkey.testkit.sim.LimitAndGraceTest"
                            + "#borrowingClientCloses_whenTheSessionEndsBeforeItsNodeCanBeDeleted"),
            Mutant.of(
                            "characters beyond the basic plane are taken in paths",
                            "internal/locks/LockPaths",
                            "path.chars().filter(LockPaths::refused)",
                            "path.codePoints().filter(LockPaths::refused)")
                    .caughtBy("io.latchkey.zk.internal.locks.LockPathsTest"
                            + "#pathIsRefused_whenACharacterIsBeyondTheBasicPlane[1]"),
            Mutant.of(
                            "a grant that comes together with the interrupt is kept",
                            "internal/locks/ZkAcquirable",
                            "            if (!request.cancel(false) && !request.isCompletedExceptionally()) {\n"
                                    + "                request.join().ifPresent(ZkLease::abandon);\n"
                                    + "            }\n",
                            "            request.cancel(false);\n")
                    .caughtBy("io.latchkey.zk.internal.locks.ZkAcquirableTest"
                            + "#leaseIsReleased_whenItsCallerIsInterruptedAtTheGrant"),
            Mutant.of(
                            "a former session is given up when the handle that was to close it gave up",
                            "internal/store/SuccessiveHandles",
                            "!connected && opened.attempts()",
                            "connected && opened.attempts()")
                    .caughtBy("io.latchkey.zk.internal.store.SuccessiveHandlesTest"
                            + "#formerSessionIsTakenOverAgain_whenTheHandleThatWasToCloseItGaveUp"),
            Mutant.of(
                            "the gauge of the connection is 1 while the session is over",
                            "micrometer/LockMeters",
                            "connected = state == SessionState.CONNECTED;",
                            "connected = state != SessionState.DISCONNECTED;")
                    .caughtBy("io.latchkey.zk.micrometer.LockMetersTest#connectionIsNotShown_whileTheSessionIsOver"),
            Mutant.of(
                            "the rest of a lost create that was found in part is not looked for",
                            "internal/acquire/Acquisition",
                            ": enqueue(new Command.Leave(found), new Command.Discard(id));",
                            ": enqueue(new Command.Leave(found));")
                    .caughtBy("io.latchkey.zk.internal.acquire.AcquisitionTest#"
                            + "lostCreateIsStillLookedFor_whenOnlyOneOfItsTwoNodesIsFound"),
            Mutant.of(
                            "a client on a borrowed handle closes while it creates the levels above a path",
                            "internal/request/NodeCreation",
                            "creating();\n"
                                    + "            ParentNodes above = new ParentNodes(session);\n"
                                    + "            levels.add(above);\n"
                                    + "            above.makeAbove(entry.path(), outcome -> {\n"
                                    + "                noLongerCreating();",
                            "ParentNodes above = new ParentNodes(session);\n"
                                    + "            levels.add(above);\n"
                                    + "            above.makeAbove(entry.path(), outcome -> {")
                    .caughtBy("io.latchkey.testkit.sim.LimitAndGraceTest#"
                            + "noLevelIsLeftOnABorrowedHandle_whenTheClientClosesWhileTheyAreCreated"),
            Mutant.of(
                            "a node of lost readers is deleted when the first of them is notified",
                            "internal/request/Request",
                            "if (late.remove(lease) && late.isEmpty()) {",
                            "if (late.remove(lease)) {")
                    .caughtBy("io.latchkey.testkit.sim.LimitAndGraceTest#"
                            + "nodeIsKeptUntilTheLastReaderIsNotified_whenTheClientClosesWithTwo"),
            Mutant.of(
                            "a node stays whose last reader has held for too long",
                            "internal/request/Holding",
                            "leave(lease);\n"
                                    + "                if (leases.isEmpty()) {\n"
                                    + "                    machine.accept(new Event.Lapsed());\n"
                                    + "                }",
                            "leave(lease);")
                    .caughtBy("io.latchkey.testkit.sim.LimitAndGraceTest#"
                            + "nodeOfReadersIsDeletedAfterTheNotice_whenALimitHasPassedAndTheOthersHaveReleased"),
            Mutant.of(
                            "a node counts as watched after its watch has fired",
                            "internal/request/OwnNodeWatch",
                            "public void gone() {\n" + "            confirmed(false);",
                            "public void gone() {")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest#"
                            + "evictedHolderLearnsAtOnce_whenItsNodeIsLeftToAWatch"),
            Mutant.of(
                            "a look for the own layout counts that is older than the node",
                            "internal/request/OwnLayoutCheck",
                            "lookedFor = machine.name(0).isPresent() ? attempt : \"\";",
                            "lookedFor = attempt;")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#"
                            + "permitOfCuratorsLayout_isRefusedBesideARequestThatCameBeforeItsPathWasMade"),
            Mutant.of(
                            "a list that shows a downgrade takes the writer's node for deleted",
                            "internal/path/PresentNodes",
                            ".filter(name -> name.text().equals(text) && !there.contains(text))\n"
                                    + "                .filter(name -> member.replacement()\n"
                                    + "                        .filter(other -> there.contains(other.text()))\n"
                                    + "                        .isEmpty())",
                            ".filter(name -> name.text().equals(text) && !there.contains(text))")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest#"
                            + "downgradeSucceeds_whenAListOfItsClientShowsItBeforeTheResponse"),
            Mutant.of(
                            "a path that is not empty any more cannot be renewed",
                            "internal/path/PathRenewal",
                            "case OK, NO_NODE -> renewed();\n" + "                case NOT_EMPTY -> look();",
                            "case OK, NO_NODE -> renewed();")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest#"
                            + "pathIsRenewedLater_whenARequestComesBeforeItIsDeleted"),
            Mutant.of(
                            "only the first lost connection has a list on the next one",
                            "internal/path/QueueReader",
                            "waitsForConnection = false;\n" + "                    sendListUnlessOneIs();",
                            "sendListUnlessOneIs();")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest#"
                            + "lostCreateIsFoundAgain_whenAnotherOneWasLostBefore"),
            Mutant.of(
                            "a release whose missing nodes are looked for is not answered at the end",
                            "internal/path/PendingDeletions",
                            "sent.addAll(batch);\n"
                                    + "        session.connection()\n"
                                    + "                .<List<Status>>ask(",
                            "session.connection()\n" + "                .<List<Status>>ask(")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest#"
                            + "releaseIsAnswered_whenItsClientClosesWhileMissingNodesAreLookedFor"),
            Mutant.of(
                            "a failed heartbeat counts although the answer behind it was lost",
                            "internal/session/NodeChecks",
                            "then.accept(answer.ok() ? failed : Response.failed(answer.code(), answer.detail()));",
                            "then.accept(failed);")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest#"
                            + "requestIsNotGrantedWithoutANode_whenTheAnswerThatNamesItIsLost"),
            Mutant.of(
                            "a second shrink forgets the largest capacity",
                            "internal/queue/PathData",
                            "Math.max(largest, newCapacity)",
                            "Math.max(capacity, newCapacity)")
                    .caughtBy("io.latchkey.zk.internal.queue.PathDataTest"
                            + "#largestCapacityIsKept_whenASecondShrinkFollows"),
            Mutant.of(
                            "a reader that gave up as it joined keeps the node",
                            "internal/client/LocalHandOff",
                            "if (!reader.take(lease)) {\n                lease.abandon();\n            }",
                            "boolean unused = reader.take(lease);")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest"
                            + "#sharedNodeIsReleased_whenAReaderGaveUpAsItJoined"));
}
