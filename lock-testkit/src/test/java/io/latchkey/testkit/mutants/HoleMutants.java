// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Bugs that no test caught, found by reading the code beside its tests. */
@SuppressWarnings("StringConcatToTextBlock") // The lines of the source, as they are indented there.
final class HoleMutants {
    private HoleMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of(
                            "a guarded write that finds the node replaced takes the lease for lost",
                            "internal/request/ZkLease",
                            "            if (gone.isCurrent()) {\n",
                            "            if (gone.owner().isHeld()) {\n")
                    .caughtBy("io.latchkey.testkit.sim.LimitAndGraceTest"
                            + "#downgradeSucceeds_whenAGuardedWriteFindsTheFormerNodeGone"),
            Mutant.of(
                            "a node that is being replaced counts as the owner's",
                            "internal/request/QueueEntry",
                            "return replacement == null && node().equals(Optional.of(name));",
                            "return node().equals(Optional.of(name));")
                    .caughtBy("io.latchkey.testkit.sim.LimitAndGraceTest"
                            + "#downgradeSucceeds_whenAGuardedWriteFindsTheFormerNodeGone"),
            Mutant.of(
                            "a node is passed on while it is being downgraded",
                            "internal/request/Holding",
                            "                && downgrade == null\n",
                            "")
                    .caughtBy("io.latchkey.testkit.sim.LimitAndGraceTest"
                            + "#nextTurnHasANodeOfItsOwn_whenAWriterReleasesDuringItsDowngrade"),
            Mutant.of(
                            "a former turn downgrades the node of the present one",
                            "internal/request/Holding",
                            "if (!isHeld() || !leases.contains(write) || downgrade != null) {",
                            "if (!isHeld() || downgrade != null) {")
                    .caughtBy("io.latchkey.testkit.sim.LimitAndGraceTest"
                            + "#nextTurnKeepsItsNode_whenItsPredecessorDowngradesTooLate"),
            Mutant.of(
                            "the time left of a lease with a limit does not end with the session",
                            "internal/request/ZkLease",
                            "return allowed.compareTo(left) < 0 ? allowed : left;",
                            "return allowed;")
                    .caughtBy("io.latchkey.testkit.sim.LimitAndGraceTest"
                            + "#remainingTimeIsThatOfTheSession_whenTheLimitIsLonger"),
            Mutant.of(
                            "a token whose read was lost is not read again",
                            "internal/request/Request",
                            "if (entry.node().equals(Optional.of(node))) {",
                            "if (entry.node().isEmpty()) {")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#lostCreateIsFound_whenTheReadOfItsTokenIsLostToo"),
            Mutant.of(
                            "the first member of a multi-lock is taken for the one whose node is gone",
                            "internal/request/Request",
                            "nodes.get(refusal.get().index()).gone();",
                            "nodes.get(0).gone();")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#multiLockIsAskedForAgain_whenTheNodeOfItsReadyMemberIsGone"),
            Mutant.of(
                            "a holder that began to listen during its downgrade does not listen",
                            "internal/request/RevocationNode",
                            "        if (owner.isAt(own)) {\n"
                                    + "            owner.nodeGone(own);\n"
                                    + "        } else {\n"
                                    + "            session.heartbeat().afterBeat(this::create);\n"
                                    + "        }\n",
                            "        owner.nodeGone(own);\n")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest"
                            + "#downgradedHolderIsNotified_whenItBeganToListenDuringTheDowngrade"),
            Mutant.of(
                            "a lost watch for release requests is not set again",
                            "internal/request/RevocationNode",
                            "session.connection().whenConnected(RevocationNode.this::listen);",
                            "session.connection().connected();")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest"
                            + "#releaseRequestArrivesAtTheReconnect_whenTheHolderHadJustBegunToListen"),
            Mutant.of(
                            "a holder that may not listen gets no error",
                            "internal/request/RevocationNode",
                            "default -> cannotListen(plain);",
                            "default -> {}")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest"
                            + "#everyHolderLearnsThatItCannotBeAsked_whenTheServerDoesNotLetItListen"),
            Mutant.of(
                            "only the first of several holders by one node learns that it cannot be asked",
                            "internal/request/Holding",
                            "leases.forEach(lease -> lease.cannotBeAsked(why));",
                            "leases.iterator().next().cannotBeAsked(why);")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest"
                            + "#everyHolderLearnsThatItCannotBeAsked_whenTheServerDoesNotLetItListen"),
            Mutant.of(
                            "a try is answered before its node is deleted",
                            "internal/request/Request",
                            "if (deleting == 0 && machine.state() == State.ENDED) {",
                            "if (machine.state() == State.ENDED) {")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest"
                            + "#tryIsAnsweredEmptyInItsTime_whenTheAnswerToItsDeletionIsLate"),
            Mutant.of(
                            "a waiter that may not watch the request ahead waits",
                            "internal/request/WatchesAhead",
                            "member.fail(Errors.denied(displayPath, \"watch the queue\", why));",
                            "queue.session().heartbeat().afterBeat(member::lookAgain);")
                    .caughtBy("AccessTest#waiterIsDenied_whenItMayNotWatchTheRequestAhead"),
            Mutant.of(
                            "a lost check of a multi-lock's nodes is not repeated",
                            "internal/request/Request",
                            "                session().tryAgain(() -> {\n"
                                    + "                    if (machine.state() == State.CONFIRMING"
                                    + " && machine.id().equals(attempt)) {\n"
                                    + "                        confirm();\n"
                                    + "                    }\n"
                                    + "                });\n"
                                    + "                return;\n",
                            "                return;\n")
                    .caughtBy("io.latchkey.testkit.sim.LostOnTheWayTest#requestIsGranted_whateverIsLost"),
            Mutant.of(
                            "a look for requests of another layout that ended with its session is waited for",
                            "internal/request/Request",
                            "            ownLayout.sessionOver();\n",
                            "            ownLayout.isDone();\n")
                    .caughtBy("io.latchkey.testkit.sim.LostOnTheWayTest#requestIsGranted_whateverIsLost"),
            Mutant.of(
                            "a lost look for requests of another layout is not repeated",
                            "internal/request/OwnLayoutCheck",
                            "session.tryAgain(this::confirmStill);",
                            "looking = false;")
                    .caughtBy("io.latchkey.testkit.sim.LostOnTheWayTest#requestIsGranted_whateverIsLost"),
            Mutant.of(
                            "a second release without a connection is not pending",
                            "internal/path/PendingDeletions",
                            "if (waitsForConnection) {\n            added.complete(ReleaseOutcome.PENDING);\n        } else {",
                            "if (!waitsForConnection) {")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#everyReleaseIsPendingAtOnce_withoutAConnection"),
            Mutant.of(
                            "all deletions that were pending are sent in one transaction",
                            "internal/path/PendingDeletions",
                            "while (count < pending.size() && bytes + pending.get(count).bytes() <= BATCH);",
                            "while (count < pending.size());")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#deletionsAreSentInParts_whenManyWereReleasedWithoutAConnection"),
            Mutant.of(
                            "a short deletion counts for less than its share of a transaction",
                            "internal/path/PendingDeletions",
                            "Math.max(NODE, 2 * WIDEST * node.path().length() + 100)",
                            "2 * WIDEST * node.path().length() + 100")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#deletionsAreSentInParts_whenManyWereReleasedWithoutAConnection"),
            Mutant.of(
                            "a missing revocation node makes the loss of a lease forgotten",
                            "internal/path/PendingDeletions",
                            "deletion.nodeMissing |= !deletion.uncertain && remove.node().wasHeld();",
                            "deletion.nodeMissing = !deletion.uncertain && remove.node().wasHeld();")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#everyReleaseOfAHolderThatListensTellsTheLoss_whenBothNodesAreGone"),
            Mutant.of(
                            "a question for missing nodes counts as on its way for ever",
                            "internal/path/PendingDeletions",
                            "flights--;\n                    batch.forEach(sent::remove);\n                    foundMissing",
                            "batch.forEach(sent::remove);\n                    foundMissing")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#everyReleaseOfAHolderThatListensTellsTheLoss_whenBothNodesAreGone"),
            Mutant.of(
                            "a release whose missing nodes were asked for counts as pending for ever",
                            "internal/path/PendingDeletions",
                            "flights--;\n                    batch.forEach(sent::remove);\n                    foundMissing",
                            "flights--;\n                    foundMissing")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#everyReleaseOfAHolderThatListensTellsTheLoss_whenBothNodesAreGone"),
            Mutant.of(
                            "a release is forgotten if the answer that names its missing nodes is lost",
                            "internal/path/PendingDeletions",
                            "pending.addAll(0, remaining);",
                            "if (answer.ok()) {\n                        pending.addAll(0, remaining);\n                    }")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#otherNodesAreDeleted_whenTheAnswerThatNamesMissingOnesIsLost"),
            Mutant.of(
                            "a release that waits for another one is not answered when the session ends",
                            "internal/path/PendingDeletions",
                            "pending.forEach(deletion -> deletion.complete(outcome));",
                            "")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest#everyReleaseIsAnswered_whenItsSessionEnds"),
            Mutant.of(
                            "a borrower closes while its lost create is looked for",
                            "internal/path/SessionQueue",
                            "deletions.hasPendingDeletions() || reader.hasPendingDeletions() || creating > 0",
                            "deletions.hasPendingDeletions() || creating > 0")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#borrowerIsClosed_onceItsLostCreateWasLookedFor"),
            Mutant.of(
                            "a lost create is looked for though its path is gone",
                            "internal/path/QueueReader",
                            "removeLost(List.of());\n",
                            "")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#borrowerIsClosed_onceItsLostCreateWasLookedFor"),
            Mutant.of(
                            "a plain node is adopted though another client has adopted it",
                            "internal/path/QueueReader",
                            "new ZnodeStore.Write.SetData(path.node(), asked.bytes(), version)",
                            "new ZnodeStore.Write.SetData(path.node(), asked.bytes(), -1)")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#plainNodeIsAdoptedOnce_whenTwoKindsAreAskedFor"),
            Mutant.of(
                            "a plain node is adopted though another layout uses it",
                            "internal/path/QueueReader",
                            "Optional<OtherUse> otherUse = Queue.of(listing.children(), asked).otherUse();",
                            "Optional<OtherUse> otherUse = Optional.empty();")
                    .caughtBy(
                            "io.latchkey.testkit.sim.HeartbeatTest" + "#plainNodeStaysAsItIs_whenAnotherLayoutUsesIt"),
            Mutant.of(
                            "a request for another kind fails all that its list serves",
                            "internal/path/QueueReader",
                            "fail(List.of(want), Errors.mismatch(",
                            "fail(served, Errors.mismatch(")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#requestForAnotherKindFailsAlone_whenItsListServesOthers"),
            Mutant.of(
                            "a path is no longer renewed once the connection was lost twice",
                            "internal/path/PathRenewal",
                            "                waitsForConnection = false;\n",
                            "")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#pathIsRenewed_whenTheConnectionIsLostTwiceBefore"),
            Mutant.of(
                            "a request waits for ever if the server refuses to delete its worn-out path",
                            "internal/path/PathRenewal",
                            "default -> cannotRenew(Connection.plain(answer).detail());",
                            "default -> {}")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#requestFails_whenTheServerRefusesToDeleteAWornOutPath"),
            Mutant.of(
                            "a refused notification is not sent again",
                            "internal/path/SessionQueue",
                            "case OTHER -> session.heartbeat().afterBeat(() -> announceByWriting(member, own));",
                            "case OTHER -> {}")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest"
                            + "#nextWaiterIsGranted_whenTheServerRefusesItsNoticeOnce"),
            Mutant.of(
                            "a write that the server refuses proves that the session lives",
                            "internal/session/Connection",
                            "            if (answer.ok()) {\n                validity.committed(sent, now);\n            } else {\n"
                                    + "                validity.heard(sent, now);\n            }",
                            "            validity.committed(sent, now);")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#leaseIsLost_whenTheServerRefusesEveryWrite"),
            Mutant.of(
                            "what waits for a connection is done again on each new one",
                            "internal/session/Connection",
                            "        onConnected.clear();\n        waiting.forEach",
                            "        waiting.forEach")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest#taskRunsOnce_whateverItHasWaitedFor"),
            Mutant.of(
                            "what waits for a heartbeat is done again after each",
                            "internal/session/Heartbeat",
                            "                onBeat.clear();\n                tasks.forEach",
                            "                tasks.forEach")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest#taskRunsOnce_whateverItHasWaitedFor"),
            Mutant.of(
                            "deletions that are reported while another is checked wait for the heartbeat",
                            "internal/session/NodeChecks",
                            "                asking = false;\n                collected.set(pause);",
                            "                asking = false;")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#evictedHoldersLearnAtOnce_whenTheirNodesAreDeletedTogether"),
            Mutant.of(
                            "deletions wait for the heartbeat after one that was checked",
                            "internal/session/NodeChecks",
                            "                asking = false;\n                collected.set(pause);",
                            "                collected.set(pause);")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#evictedHoldersLearnAtOnce_whenTheirNodesAreDeletedTogether"),
            Mutant.of(
                            "the length of paths does not count for the parts of a heartbeat",
                            "internal/session/NodeChecks",
                            "bytes += CHECK + owned.path().length();",
                            "bytes += CHECK;")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest#beatHasSeveralParts_whenItsPathsAreLong"),
            Mutant.of(
                            "a node whose check is refused counts as deleted",
                            "internal/session/NodeChecks",
                            "        if (refusal.code() == Status.NO_NODE) {\n            part.get(refusal.index()).gone();\n        }",
                            "        part.get(refusal.index()).gone();")
                    .caughtBy("io.latchkey.zk.internal.session.NodeChecksTest"
                            + "#nodeIsNotTakenForDeleted_whenTheClientMayNotReadIt"),
            Mutant.of(
                            "a node that may not be read counts as deleted",
                            "internal/session/NodeChecks",
                            "answer.get().get(i) == Status.NO_NODE",
                            "answer.get().get(i) != Status.OK")
                    .caughtBy("io.latchkey.zk.internal.session.NodeChecksTest"
                            + "#nodeIsNotTakenForDeleted_whenTheClientMayNotReadIt"),
            Mutant.of(
                            "the timer of the deadline is set once",
                            "internal/session/SessionValidity",
                            "        checkPeriod();\n        if (!holding.isEmpty()) {\n            armPeriodEnd();\n        }",
                            "        checkPeriod();")
                    .caughtBy("io.latchkey.testkit.sim.HeartbeatTest"
                            + "#lossIsReported_whenAHolderOfManyHeartbeatsIsCutOffWithoutNotice"),
            Mutant.of(
                            "a client risks its leases for a list right after one that was lost",
                            "internal/session/Lists",
                            "return times(path) >= LOST_BY_CHANCE || (wasLost(path) && validity.hasHolders());",
                            "return times(path) >= LOST_BY_CHANCE;")
                    .caughtBy("AsynchronousFormsTest#listWaitsForAHeartbeat_whenOneWasLostAndItsClientHolds"),
            Mutant.of(
                            "the pause before a list that is too long does not grow",
                            "internal/session/Lists",
                            "Duration pause = context.sessionTimeout().multipliedBy(times);",
                            "Duration pause = context.sessionTimeout();")
                    .caughtBy("AsynchronousFormsTest#pauseDoublesUpToAMinute_whenAListIsLostAgainAndAgain"),
            Mutant.of(
                            "the pause before a list that is too long grows without a bound",
                            "internal/session/Lists",
                            "return pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;",
                            "return pause;")
                    .caughtBy("AsynchronousFormsTest#pauseDoublesUpToAMinute_whenAListIsLostAgainAndAgain"),
            Mutant.of(
                            "the pause before a list that is too long overflows after some time",
                            "internal/session/Lists",
                            "1 << Math.min(counted.times() - LOST_BY_LENGTH, Byte.SIZE)",
                            "1 << (counted.times() - LOST_BY_LENGTH)")
                    .caughtBy("AsynchronousFormsTest#pauseDoublesUpToAMinute_whenAListIsLostAgainAndAgain"),
            Mutant.of(
                            "the first server that refuses connections speaks for all",
                            "internal/store/ZooKeeperHandles",
                            "                // This machine refuses as well; the next may not.",
                            "                return true;")
                    .caughtBy("io.latchkey.zk.internal.store.ZooKeeperHandlesTest"
                            + "#serversDoNotAllRefuse_whenTheSecondOfThemListens"),
            Mutant.of(
                            "the handle that creates the chroot stays open",
                            "internal/store/ZooKeeperHandles",
                            "        } finally {\n            root.close();\n        }",
                            "        }")
                    .caughtBy("AccessTest#missingChrootIsDenied_andNoSessionIsLeft"),
            Mutant.of(
                            "a chroot that may not be created is another error",
                            "internal/store/ZooKeeperHandles",
                            "catch (KeeperException.NoAuthException refused)",
                            "catch (KeeperException.NotEmptyException refused)")
                    .caughtBy("AccessTest#missingChrootIsDenied_andNoSessionIsLeft"),
            Mutant.of(
                            "a request that times out at its server counts as refused",
                            "internal/store/ZooKeeperResults",
                            "case CONNECTIONLOSS, OPERATIONTIMEOUT, REQUESTTIMEOUT, SESSIONMOVED -> Status.CONNECTION_LOSS;",
                            "case CONNECTIONLOSS, SESSIONMOVED -> Status.CONNECTION_LOSS;\n"
                                    + "            case OPERATIONTIMEOUT, REQUESTTIMEOUT -> Status.OTHER;")
                    .caughtBy("io.latchkey.zk.internal.store.ZooKeeperResultsTest#codeIsTakenForWhatItMeans"),
            Mutant.of(
                            "a session that the servers do not know only loses its connection",
                            "internal/store/ZooKeeperResults",
                            "case SESSIONEXPIRED, UNKNOWNSESSION -> Status.SESSION_EXPIRED;",
                            "case SESSIONEXPIRED -> Status.SESSION_EXPIRED;\n"
                                    + "            case UNKNOWNSESSION -> Status.CONNECTION_LOSS;")
                    .caughtBy("io.latchkey.zk.internal.store.ZooKeeperResultsTest#codeIsTakenForWhatItMeans"),
            Mutant.of(
                            "a task of a caller completes the notice of a loss for all",
                            "internal/threads/Notice",
                            "        return this;",
                            "        return super.completeAsync(supplier, executor);")
                    .caughtBy("io.latchkey.zk.internal.threads.NoticeTest#noticeIsItsOwners_whateverACallerTries"),
            Mutant.of(
                            "a caller replaces the notice of a loss for all",
                            "internal/threads/Notice",
                            "    public void obtrudeValue(T value) {\n        // Completed by its owner only.",
                            "    public void obtrudeValue(T value) {\n        super.obtrudeValue(value);")
                    .caughtBy("io.latchkey.zk.internal.threads.NoticeTest#noticeIsItsOwners_whateverACallerTries"),
            Mutant.of(
                            "a caller's timeout of the notice of a loss never passes",
                            "internal/threads/Notice",
                            "return copy().orTimeout(timeout, unit);",
                            "return super.orTimeout(timeout, unit);")
                    .caughtBy("io.latchkey.zk.internal.threads.NoticeTest#noticeIsItsOwners_whateverACallerTries"),
            Mutant.of(
                            "a caller's default for the notice of a loss never comes",
                            "internal/threads/Notice",
                            "return copy().completeOnTimeout(value, timeout, unit);",
                            "return super.completeOnTimeout(value, timeout, unit);")
                    .caughtBy("io.latchkey.zk.internal.threads.NoticeTest#noticeIsItsOwners_whateverACallerTries"),
            Mutant.of(
                            "a lease that waits for a reader of the next node is given to two",
                            "internal/client/LocalHandOff",
                            "            spare = null;\n            if (!lease.isValid()) {",
                            "            if (!lease.isValid()) {")
                    .caughtBy(
                            "io.latchkey.testkit.SimulatedLocksTest#nextNodeOfReadersStays_whenReadersHoldByItAndThoseOfTheNodeBeforeHaveReleased"),
            Mutant.of(
                            "a reader joins a writer whose node has served readers",
                            "internal/client/LocalHandOff",
                            "read = next.reads();",
                            "read |= next.reads();")
                    .caughtBy(
                            "io.latchkey.testkit.SimulatedLocksTest#readerDoesNotJoinAWriter_whoseNodeServedAReaderBefore"),
            Mutant.of(
                            "a request for a permit stays when its waiter has taken a turn",
                            "internal/client/LocalHandOff",
                            "            if (taken) {\n                queue.ask();\n            } else {\n                request.takeBack(next);\n            }",
                            "            if (!taken) {\n                request.takeBack(next);\n            }")
                    .caughtBy(
                            "io.latchkey.testkit.SimulatedLocksTest#requestForAPermitIsWithdrawn_whenItsWaiterHasTakenATurn"),
            Mutant.of(
                            "a local waiter for more permits than there are waits for ever",
                            "internal/client/LocalHandOff",
                            "return Math.max(1, capacity / key.permits());",
                            "return capacity / key.permits();")
                    .caughtBy(
                            "io.latchkey.testkit.SimulatedLocksTest#localWaiterIsRefused_whenItAsksForMorePermitsThanThereAre"),
            Mutant.of(
                            "a mutex with a label takes no local turns",
                            "internal/locks/ZkMutex",
                            "withLabel(label).get(0), holds, turns());",
                            "withLabel(label).get(0), holds, Optional.empty());")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#turnsAreTaken_alsoByLocksWithALabelOrALimit"),
            Mutant.of(
                            "a mutex with a limit takes no local turns",
                            "internal/locks/ZkMutex",
                            "withLimit(limit).get(0), holds, turns());",
                            "withLimit(limit).get(0), holds, Optional.empty());")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#turnsAreTaken_alsoByLocksWithALabelOrALimit"),
            Mutant.of(
                            "a read-write lock with a label takes no local turns",
                            "internal/locks/ZkReadWriteLock",
                            "writeLock.withLabel(label).get(0), holds, turns);",
                            "writeLock.withLabel(label).get(0), holds, Optional.empty());")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#turnsAreTaken_alsoByLocksWithALabelOrALimit"),
            Mutant.of(
                            "a read-write lock with a limit takes no local turns",
                            "internal/locks/ZkReadWriteLock",
                            "writeLock.withLimit(limit).get(0), holds, turns);",
                            "writeLock.withLimit(limit).get(0), holds, Optional.empty());")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#turnsAreTaken_alsoByLocksWithALabelOrALimit"),
            Mutant.of(
                            "a semaphore with a label takes no local turns",
                            "internal/locks/ZkSemaphore",
                            "withLabel(label).get(0), declared, turns());",
                            "withLabel(label).get(0), declared, Optional.empty());")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#turnsAreTaken_alsoByLocksWithALabelOrALimit"),
            Mutant.of(
                            "a semaphore with a limit takes no local turns",
                            "internal/locks/ZkSemaphore",
                            "withLimit(limit).get(0), declared, turns());",
                            "withLimit(limit).get(0), declared, Optional.empty());")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#turnsAreTaken_alsoByLocksWithALabelOrALimit"),
            Mutant.of(
                            "several permits take no local turns",
                            "internal/locks/ZkSemaphore",
                            "asked().get(0).as(Recipe.semaphore(declared, n)), turns());",
                            "asked().get(0).as(Recipe.semaphore(declared, n)), Optional.empty());")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#turnsAreTaken_alsoByLocksWithALabelOrALimit"),
            Mutant.of(
                            "a writer with a label takes no local turns",
                            "internal/locks/ZkAcquirable",
                            "return new ZkAcquirable(engine, withLabel(label), turns);",
                            "return new ZkAcquirable(engine, withLabel(label));")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#turnsAreTaken_alsoByLocksWithALabelOrALimit"),
            Mutant.of(
                            "a writer with a limit takes no local turns",
                            "internal/locks/ZkAcquirable",
                            "return new ZkAcquirable(engine, withLimit(limit), turns);",
                            "return new ZkAcquirable(engine, withLimit(limit));")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#turnsAreTaken_alsoByLocksWithALabelOrALimit"),
            Mutant.of(
                            "a cancelled request for Curator's permits stays in the line for its second turn",
                            "internal/client/CuratorSemaphoreRequest",
                            "        mutexRequest = next;\n        request = null;\n",
                            "        mutexRequest = next;\n")
                    .caughtBy(
                            "io.latchkey.testkit.SimulatedLocksTest#requestForCuratorsSemaphoreLeavesTheQueue_whenItIsCancelledAfterItHasLostItsTurn"),
            Mutant.of(
                            "a request in the line for its turn does not show its label",
                            "internal/locks/ZkCuratorSemaphore",
                            "turn.labelled(label), withLabel(label).get(0));",
                            "turn, withLabel(label).get(0));")
                    .caughtBy(
                            "io.latchkey.testkit.SimulatedLocksTest#queueOfCuratorsSemaphoreShowsAllLabels_whileOneWaitsForAPermitAndOneForItsTurn"),
            Mutant.of(
                            "the asynchronous queue of Curator's semaphore lacks those in line for their turn",
                            "internal/locks/ZkCuratorSemaphore",
                            "return super.queueLater().thenCombine(inspector(turn).readLater(), QueueInspector::gated);",
                            "return super.queueLater();")
                    .caughtBy(
                            "io.latchkey.testkit.SimulatedLocksTest#queueOfCuratorsSemaphoreShowsAllLabels_whileOneWaitsForAPermitAndOneForItsTurn"),
            Mutant.of(
                            "an interrupt at the failure of a request is reported as another error",
                            "internal/locks/ZkAcquirable",
                            "if (!request.cancel(false) && !request.isCompletedExceptionally()) {",
                            "if (!request.cancel(false)) {")
                    .caughtBy(
                            "io.latchkey.zk.internal.locks.ZkAcquirableTest#interruptionIsThrown_whenTheRequestFailsAtTheSameTime"),
            Mutant.of(
                            "a lease whose future was cancelled before its callback stays",
                            "internal/locks/ZkAcquirable",
                            "            } else if (!promise.complete(shape.apply(lease.map(ZkLease::received)))) {\n                lease.ifPresent(ZkLease::abandon);\n            }",
                            "            } else {\n                promise.complete(shape.apply(lease.map(ZkLease::received)));\n            }")
                    .caughtBy(
                            "io.latchkey.testkit.sim.LimitAndGraceTest#leaseIsReleased_whenItsFutureIsCancelledBeforeTheCallbackThatBringsIt"),
            Mutant.of(
                            "callback threads end while holders may finish",
                            "internal/locks/EngineLockClient",
                            "engine.onceClosed(threadsEnd);",
                            "threadsEnd.run();")
                    .caughtBy(
                            "io.latchkey.testkit.sim.LimitAndGraceTest#threadsOfTheClientEnd_whenItsLastHolderHasReleasedWithinTheGrace"),
            Mutant.of(
                            "callback threads of a client that closed with a grace do not end",
                            "internal/locks/EngineLockClient",
                            "        engine.close(grace);\n        engine.onceClosed(threadsEnd);",
                            "        engine.close(grace);")
                    .caughtBy(
                            "io.latchkey.testkit.sim.LimitAndGraceTest#threadsOfTheClientEnd_whenItsLastHolderHasReleasedWithinTheGrace"),
            Mutant.of(
                            "a closing client that is closed with a grace waits for holders again",
                            "internal/client/Closing",
                            "boolean begins = requests.refusal().isEmpty() && !grace.isZero();",
                            "boolean begins = !grace.isZero();")
                    .caughtBy(
                            "io.latchkey.testkit.sim.LimitAndGraceTest#borrowingClientCloses_whenItIsClosedAgainWithAGraceBeforeItsNodeIsDeleted"),
            Mutant.of(
                            "a grace without end overflows",
                            "internal/client/Closing",
                            "(grace.compareTo(longest) < 0 ? grace : longest)",
                            "(grace.compareTo(longest) < 0 ? grace : grace)")
                    .caughtBy("MistakesTest#timesWithoutEndAreLongOnes"),
            Mutant.of(
                            "a limit without end overflows",
                            "internal/locks/ZkAcquirable",
                            "return limit.compareTo(LONGEST) < 0 ? limit : LONGEST;",
                            "return limit;")
                    .caughtBy("MistakesTest#timesWithoutEndAreLongOnes"),
            Mutant.of(
                            "the last character for private use is taken",
                            "internal/locks/LockPaths",
                            "c <= 0xf8ff)",
                            "c < 0xf8ff)")
                    .caughtBy(
                            "io.latchkey.zk.internal.locks.LockPathsTest#pathIsRefused_whenACharacterIsTheFirstOrLastOfARangeThatIsNotAllowed"),
            Mutant.of(
                            "the last of the special characters is taken",
                            "internal/locks/LockPaths",
                            "c <= 0xffff)",
                            "c < 0xffff)")
                    .caughtBy(
                            "io.latchkey.zk.internal.locks.LockPathsTest#pathIsRefused_whenACharacterIsTheFirstOrLastOfARangeThatIsNotAllowed"),
            Mutant.of(
                            "the character before the surrogates is refused",
                            "internal/locks/LockPaths",
                            "c >= 0xd800 &&",
                            "c >= 0xd7ff &&")
                    .caughtBy(
                            "io.latchkey.zk.internal.locks.LockPathsTest#pathIsTaken_whenACharacterIsBesideARangeThatIsNotAllowed"),
            Mutant.of(
                            "a thread that delivers responses waits for a listing",
                            "internal/locks/EngineLockClient",
                            "        engine.context().checkMayWait(\"list the locks of\", this);\n",
                            "")
                    .caughtBy(
                            "CallbackExecutorTest#callsThatWouldWaitForThemselvesFailOrDoNotWait_onTheEventThreadOfABorrowedHandle"),
            Mutant.of(
                            "labels of a multi-lock's members take no room",
                            "internal/locks/ZkMultiLock",
                            "                    + extra\n                    + Utf8.encodedLength(own.asked().get(0).label());",
                            "                    + extra;")
                    .caughtBy("MultiLockTest#everyAcceptedMultiLockFitsAPacket_forAnyLengthOfNodes"),
            Mutant.of(
                            "a body is interrupted again whenever a later body inside ends",
                            MutantCompiler.API + "BodyInterruption",
                            "        if (wantedInside) {\n" + "            wantedInside = inner != null;\n",
                            "        if (wantedInside) {\n")
                    .caughtBy("io.latchkey.lock.BodyInterruptionTest"
                            + "#enclosingBodyIsNotInterruptedAgain_whenAnotherBodyInsideEndsLater"),
            Mutant.of(
                            "a body inside is not forgotten when it ends",
                            MutantCompiler.API + "BodyInterruption",
                            "        if (body == inner) {\n" + "            inner = null;\n" + "        }\n",
                            "")
                    .caughtBy("io.latchkey.lock.BodyInterruptionTest"
                            + "#enclosingBodyIsNotInterruptedAgain_whenAnotherBodyInsideEndsLater"),
            Mutant.of(
                    "a lease is kept when its body throws an error",
                    MutantCompiler.API + "BodyInterruption",
                    "} catch (Throwable thrown) {",
                    "} catch (Exception thrown) {"),
            Mutant.of(
                    "a candidate whose body throws an error never ends",
                    MutantCompiler.API + "Leadership",
                    "} catch (Throwable failed) {",
                    "} catch (Exception failed) {"),
            Mutant.of(
                            "a candidate that is closed at its grant leads",
                            MutantCompiler.API + "Leadership",
                            "return !closed;",
                            "return true;")
                    .caughtBy("io.latchkey.lock.LeadershipMomentsTest"
                            + "#noBodyRunsAndTheReleaseIsNotInterrupted_whenTheCandidateIsClosedAtItsGrant"),
            Mutant.of(
                            "the interrupt of a close is left for the release",
                            MutantCompiler.API + "Leadership",
                            "                boolean unused = Thread.interrupted(); // from "
                                    + "close(): else the release would not wait for its response\n",
                            "")
                    .caughtBy("io.latchkey.lock.LeadershipMomentsTest"
                            + "#noBodyRunsAndTheReleaseIsNotInterrupted_whenTheCandidateIsClosedAtItsGrant"),
            Mutant.of(
                            "a candidate leads until its lease is released",
                            MutantCompiler.API + "Leadership",
                            "        asked = null;\n" + "        lease = null;\n",
                            "        asked = null;\n")
                    .caughtBy("io.latchkey.lock.LeadershipMomentsTest"
                            + "#candidateDoesNotLeadAndIsNotInterruptedAgain_whenItIsClosedTwiceAndReleases"),
            Mutant.of(
                            "a second close interrupts the release",
                            MutantCompiler.API + "Leadership",
                            "} else if (first && !Thread",
                            "} else if (!Thread")
                    .caughtBy("io.latchkey.lock.LeadershipMomentsTest"
                            + "#candidateDoesNotLeadAndIsNotInterruptedAgain_whenItIsClosedTwiceAndReleases"),
            Mutant.of(
                            "a candidate is interrupted before it is closed",
                            MutantCompiler.API + "Leadership",
                            "            closed = true; // before the interrupt: the candidate "
                                    + "reads it without the monitor once it is interrupted\n"
                                    + "            if (asked != null) {\n"
                                    + "                asked.interrupt();\n"
                                    + "            } else if (first && "
                                    + "!Thread.currentThread().equals(thread)) {\n"
                                    + "                thread.interrupt();\n"
                                    + "            }\n",
                            "            if (asked != null) {\n"
                                    + "                asked.interrupt();\n"
                                    + "            } else if (first && "
                                    + "!Thread.currentThread().equals(thread)) {\n"
                                    + "                thread.interrupt();\n"
                                    + "            }\n"
                                    + "            closed = true;\n")
                    .caughtBy("io.latchkey.lock.LeadershipMomentsTest"
                            + "#candidateEndsNormally_whenItsThreadIsFasterThanTheCloseThatInterruptsIt"),
            Mutant.of(
                            "a close of a candidate clears the interrupt status",
                            MutantCompiler.API + "Leadership",
                            "catch (InterruptedException interrupted) {\n"
                                    + "                Thread.currentThread().interrupt();\n",
                            "catch (InterruptedException interrupted) {\n")
                    .caughtBy("io.latchkey.lock.LeadershipMomentsTest#closeNoLongerWaits_whenItsThreadIsInterrupted"),
            Mutant.of(
                            "a candidate keeps the process alive",
                            MutantCompiler.API + "Leadership",
                            "            daemon.setDaemon(true);\n",
                            "")
                    .caughtBy("io.latchkey.lock.LeadershipMomentsTest#closeNoLongerWaits_whenItsThreadIsInterrupted"),
            Mutant.of(
                    "a candidate without a body is accepted",
                    MutantCompiler.API + "Leadership",
                    "this.body = Objects.requireNonNull(body, \"body\");",
                    "this.body = body;"),
            Mutant.of(
                    "the leader among no candidates is asked for",
                    MutantCompiler.API + "Leadership",
                    "return candidates().stream()\n"
                            + "                .filter(candidate -> candidate.state() == "
                            + "Contender.State.HOLDING)\n"
                            + "                .findFirst();",
                    "return Optional.of(candidates().get(0));"),
            Mutant.of(
                    "a call acquires before it looks at its body",
                    MutantCompiler.API + "Acquirable",
                    "        Objects.requireNonNull(body, \"body\");\n"
                            + "        try (Lease lease = acquire()) {\n"
                            + "            return body.apply(lease);",
                    "        try (Lease lease = acquire()) {\n" + "            return body.apply(lease);"),
            Mutant.of(
                    "a run acquires before it looks at its body",
                    MutantCompiler.API + "Acquirable",
                    "        Objects.requireNonNull(body, \"body\");\n"
                            + "        try (Lease lease = acquire()) {\n"
                            + "            body.accept(lease);",
                    "        try (Lease lease = acquire()) {\n" + "            body.accept(lease);"),
            Mutant.of(
                    "a call with INTERRUPT acquires before it looks at its body",
                    MutantCompiler.API + "Acquirable",
                    "        Objects.requireNonNull(body, \"body\");\n" + "        return switch (onLoss) {",
                    "        return switch (onLoss) {"),
            Mutant.of(
                    "a run with INTERRUPT acquires before it looks at its body",
                    MutantCompiler.API + "Acquirable",
                    "        Objects.requireNonNull(body, \"body\");\n" + "        Object unused = this.",
                    "        Object unused = this."),
            Mutant.of(
                            "a denied access has no reason of its own",
                            MutantCompiler.API + "AccessDeniedException",
                            "Reason.ACCESS_DENIED",
                            "Reason.OTHER")
                    .caughtBy("io.latchkey.zk.internal.store.ErrorsTest#reasonOfAnErrorWithoutCases_isThatOfItsType"),
            Mutant.of(
                            "a closed client is taken for an expired session",
                            MutantCompiler.API + "ClientClosedException",
                            "Reason.CLIENT_CLOSED",
                            "Reason.SESSION_EXPIRED")
                    .caughtBy("io.latchkey.zk.internal.store.ErrorsTest#reasonOfAnErrorWithoutCases_isThatOfItsType"),
            Mutant.of(
                            "an expired session is taken for one that is not connected yet",
                            MutantCompiler.API + "SessionExpiredException",
                            "Reason.SESSION_EXPIRED",
                            "Reason.NO_SESSION")
                    .caughtBy("io.latchkey.zk.internal.store.ErrorsTest#reasonOfAnErrorWithoutCases_isThatOfItsType"),
            Mutant.of(
                            "a lost lease has no reason of its own",
                            MutantCompiler.API + "LeaseLostException",
                            "Reason.LEASE_LOST",
                            "Reason.OTHER")
                    .caughtBy("io.latchkey.zk.internal.store.ErrorsTest#reasonOfAnErrorWithoutCases_isThatOfItsType"),
            Mutant.of(
                            "a client takes no callback executor for the default one",
                            "ZkLockClient",
                            "settings.callbacks = Objects.requireNonNull(executor, " + "\"callbackExecutor\");",
                            "settings.callbacks = executor;")
                    .caughtBy("MistakesTest#nullSettingsAreNamed"),
            Mutant.of(
                            "a builder takes null for no connect string",
                            "ZkLockClient",
                            "settings.connectString = Objects.requireNonNull(servers, " + "\"connectString\");",
                            "settings.connectString = servers;")
                    .caughtBy("MistakesTest#nullSettingsAreNamed"),
            Mutant.of(
                            "a builder takes null for no handle",
                            "ZkLockClient",
                            "settings.borrowed = Objects.requireNonNull(zooKeeper, \"zooKeeper\");",
                            "settings.borrowed = zooKeeper;")
                    .caughtBy("MistakesTest#nullSettingsAreNamed"),
            Mutant.of(
                            "a missing layout is found only when it is used",
                            "ZkLockClient",
                            "settings.layout = Objects.requireNonNull(layout, \"layout\");",
                            "settings.layout = layout;")
                    .caughtBy("MistakesTest#nullSettingsAreNamed"),
            Mutant.of(
                            "a session timeout below a millisecond becomes none",
                            "ZkLockClient",
                            "if (timeout.compareTo(Duration.ofMillis(1)) < 0\n" + "                    || timeout",
                            "if (timeout")
                    .caughtBy("MistakesTest#otherBadArgumentsAreRefusedAtOnce"),
            Mutant.of(
                            "the longest session timeout is refused",
                            "ZkLockClient",
                            "timeout.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0",
                            "timeout.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) >= 0")
                    .caughtBy("MistakesTest#otherBadArgumentsAreRefusedAtOnce"),
            Mutant.of(
                            "a negative validity margin is accepted",
                            "ZkLockClient",
                            "if (span.isNegative() || span.isZero()) {",
                            "if (span.isZero()) {")
                    .caughtBy("MistakesTest#otherBadArgumentsAreRefusedAtOnce"),
            Mutant.of(
                            "an ACL that the caller changes later changes for the client",
                            "ZkLockClient",
                            "settings.acl = List.copyOf(entries);",
                            "settings.acl = entries;")
                    .caughtBy("AccessTest#givenAclIsUsed_andNodesAreOpenWithoutALogin"),
            Mutant.of(
                            "a handle beside a connect string is ignored",
                            "ClientOpening",
                            "if (servers != null && handle == null) {",
                            "if (servers != null) {")
                    .caughtBy("MistakesTest#otherBadArgumentsAreRefusedAtOnce"),
            Mutant.of(
                            "a connect timeout does not wait for servers that start later",
                            "ClientOpening",
                            "() -> settings.connectTimeout == null && allRefuse.getAsBoolean()",
                            "allRefuse")
                    .caughtBy("MistakesTest#errorNamesTheServers_whenNoneResponds"),
            Mutant.of(
                            "an interrupted build blames the names of the hosts",
                            "ClientOpening",
                            "if (late.reason() != Reason.INTERRUPTED) {",
                            "if (late.reason() != Reason.NO_SESSION) {")
                    .caughtBy("MistakesTest#interruptedBuildSaysSo_whenNoHostIsKnown"),
            Mutant.of(
                            "a client whose login or chroot is refused is left open",
                            "ClientOpening",
                            "            started.client().close();\n",
                            "")
                    .caughtBy("HandlesTest#buildLeavesNoThread_whenTheChrootMayNotBeCreated"),
            Mutant.of(
                            "the check of the chroot is not repeated after a lost answer",
                            "FirstContact",
                            "if (code != Status.CONNECTION_LOSS) {\n"
                                    + "                return code;\n"
                                    + "            }",
                            "return code;")
                    .caughtBy("HandlesTest#missingChrootIsCreated_whenTheConnectionBreaksAtItsCheck[1]"),
            Mutant.of(
                            "the record of a period is not below the base path",
                            "OncePerPeriod",
                            ".map(LockPath::node)",
                            ".map(path -> held.path())")
                    .caughtBy("OncePerPeriodTest#recordIsBesideTheWholePath_whenTheClientHasABasePath"),
            Mutant.of(
                            "a period whose record cannot be read is taken for due",
                            "OncePerPeriod",
                            "throw Errors.of(shown, READ, data);",
                            "return Optional.empty();")
                    .caughtBy("OncePerPeriodTest#workIsNotDone_whenTheAnswerAboutTheLastPeriodIsLost"),
            Mutant.of(
                            "a record that is denied is an unknown refusal",
                            "OncePerPeriod",
                            "case NOAUTH ->",
                            "case BADARGUMENTS ->")
                    .caughtBy("OncePerPeriodTest#nothingIsRecorded_whenTheClientMayNotCreateTheRecord[1]"),
            Mutant.of(
                            "work is not due when exactly its interval has passed",
                            "OncePerPeriod",
                            "return now.isBefore(period) ?",
                            "return !now.isAfter(period) ?")
                    .caughtBy("OncePerPeriodTest#intervalCountsFromTheBeginningOfTheWork"),
            Mutant.of(
                            "a record without a time is no error of a lock",
                            "OncePerPeriod",
                            "catch (DateTimeParseException unknown) {",
                            "catch (ArithmeticException unknown) {")
                    .caughtBy("OncePerPeriodTest#badArguments_areRefusedBeforeTheWork"),
            Mutant.of(
                            "periods of a millisecond are refused",
                            "OncePerPeriod",
                            "length.compareTo(Duration.ofMillis(1)) < 0",
                            "length.compareTo(Duration.ofMillis(1)) <= 0")
                    .caughtBy("OncePerPeriodTest#badArguments_areRefusedBeforeTheWork"),
            Mutant.of(
                            "periods of a century are refused",
                            "OncePerPeriod",
                            "length.compareTo(LONGEST) > 0",
                            "length.compareTo(LONGEST) >= 0")
                    .caughtBy("OncePerPeriodTest#badArguments_areRefusedBeforeTheWork"),
            Mutant.of(
                            "the work is looked at after the lease",
                            "OncePerPeriod",
                            "        Objects.requireNonNull(work, \"work\");\n"
                                    + "        Optional<Turn> due = due(lease);\n"
                                    + "        if (due.isPresent()) {\n"
                                    + "            work.run(due.get());",
                            "        Optional<Turn> due = due(lease);\n"
                                    + "        Objects.requireNonNull(work, \"work\");\n"
                                    + "        if (due.isPresent()) {\n"
                                    + "            work.run(due.get());")
                    .caughtBy("OncePerPeriodTest#badArguments_areRefusedBeforeTheWork"),
            Mutant.of(
                            "a guarded write takes every lease for one of a ZkLockClient",
                            "ZkLocks",
                            "if (!(lease instanceof ZkLease held) || !(held.port() instanceof "
                                    + "ZooKeeperStore port)) {\n"
                                    + "            throw new IllegalArgumentException(\"not a lease of a "
                                    + "ZkLockClient: \" + lease);\n"
                                    + "        }",
                            "ZkLease held = (ZkLease) lease;\n"
                                    + "        ZooKeeperStore port = (ZooKeeperStore) held.port();")
                    .caughtBy("OncePerPeriodTest#badArguments_areRefusedBeforeTheWork"),
            Mutant.of(
                            "locks below nodes named as those of a semaphore are not listed",
                            "internal/admin/LockTree",
                            "semaphore.isEmpty()",
                            "false")
                    .caughtBy("ListingTest#locksOfCuratorAreRecognisedAndListedInOrder_byTheNamesOfTheirRequests"),
            Mutant.of(
                            "paths are listed in the order of their characters",
                            "internal/admin/LockTree",
                            "Comparator.comparing(path -> path.replace('/', '\\0'));",
                            "Comparator.naturalOrder();")
                    .caughtBy("ListingTest#locksOfCuratorAreRecognisedAndListedInOrder_byTheNamesOfTheirRequests"),
            Mutant.of(
                            "the last permit of a semaphore without waiters is shown as waiting",
                            "internal/admin/FoundLock",
                            "turns > 0 ? permits - 1 : permits",
                            "permits - 1")
                    .caughtBy("ListingTest#locksOfCuratorAreRecognisedAndListedInOrder_byTheNamesOfTheirRequests"),
            Mutant.of(
                            "a mutex mixed with a read-write lock is not listed",
                            "internal/admin/FoundLock",
                            "!(isReadWrite && readWrite.containsAll(alone))",
                            "!isReadWrite")
                    .caughtBy("ListingTest#locksOfCuratorAreRecognisedAndListedInOrder_byTheNamesOfTheirRequests"),
            Mutant.of(
                            "a request that leaves during the read makes the queue unreadable",
                            "internal/admin/QueueInspector",
                            "} else if (answer.code() != Status.NO_NODE) {",
                            "} else {")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#queueIsShown_whenItChangesDuringTheRead"),
            Mutant.of(
                            "a queue is shown by the capacity of before a resize",
                            "internal/admin/QueueInspector",
                            "} else if (listing.get().mzxid() != data.mzxid()) {\n"
                                    + "            look(session, then);\n",
                            "")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#queueIsShown_whenItChangesDuringTheRead"),
            Mutant.of(
                            "a request from after a shrink is shown as holding by the former capacity",
                            "internal/admin/QueueInspector",
                            "                    && node.czxid() < path.mzxid()\n",
                            "")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#waitersAreShownAsWaiting_afterAShrink"),
            Mutant.of(
                            "every request from before a shrink is shown as holding",
                            "internal/admin/QueueInspector",
                            "\n" + "                    && permitsSoFar <= queue.purpose().largest();",
                            ";")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest#waitersAreShownAsWaiting_afterAShrink"),
            Mutant.of(
                            "a resize fails when another client creates the path first",
                            "internal/admin/SemaphoreCapacity",
                            "case BAD_VERSION, NO_NODE, NODE_EXISTS ->",
                            "case BAD_VERSION, NO_NODE ->")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest"
                            + "#semaphoreIsResized_whenItsPathIsCreatedOrRemovedDuringIt"),
            Mutant.of(
                            "a resize fails when the path is removed before its write",
                            "internal/admin/SemaphoreCapacity",
                            "case BAD_VERSION, NO_NODE, NODE_EXISTS ->",
                            "case BAD_VERSION, NODE_EXISTS ->")
                    .caughtBy("io.latchkey.testkit.SimulatedLocksTest"
                            + "#semaphoreIsResized_whenItsPathIsCreatedOrRemovedDuringIt"),
            Mutant.of(
                            "a circle that never existed is reported",
                            "internal/admin/Diagnostics",
                            "                .filter(stuck::containsAll)\n",
                            "")
                    .caughtBy("DiagnoseTest#noDeadlockIsNamed_whenItsRequestsNeverWaitedTogether"),
            Mutant.of(
                            "a downgraded lease counts as younger than the requests after its grant",
                            "internal/admin/Diagnostics",
                            "engine.context().naming().owner(name, node.data()).token().orElse(node.czxid());",
                            "node.czxid();")
                    .caughtBy("DiagnoseTest#deadlockIsNamed_whenALeaseWasDowngradedAfterItsHolderBeganToWait"),
            Mutant.of(
                            "the requests of a diagnosis are in the order of their calls",
                            "internal/admin/Diagnostics",
                            "                .sorted(Comparator.comparing(Diagnosis.Own::since))\n",
                            "")
                    .caughtBy("DiagnoseTest#leasesAreInTheOrderOfTheirGrants_andWaitsInThatOfTheirCalls"),
            Mutant.of(
                            "a lease is held since the call in a diagnosis",
                            "internal/events/RequestEvents",
                            "long at = token == Event.Created.UNKNOWN_TOKEN ? askedAt : grantedAt;",
                            "long at = askedAt;")
                    .caughtBy("DiagnoseTest#leasesAreInTheOrderOfTheirGrants_andWaitsInThatOfTheirCalls"),
            Mutant.of(
                            "an interrupted diagnosis clears the interrupt status",
                            "internal/admin/QueueScan",
                            "                Thread.currentThread().interrupt();\n",
                            "")
                    .caughtBy("DiagnoseTest#diagnosisNamesItsGapAndTheStatusStaysSet_whenTheThreadIsInterrupted"),
            Mutant.of(
                            "losses of an earlier storm are counted again",
                            "internal/events/LossLog",
                            "        unwritten.clear();\n",
                            "")
                    .caughtBy("LossLogTest#secondStormIsCountedByItself_whenItsClientIsClosedBeforeTheCountIsDue"),
            Mutant.of(
                            "the count of the last losses is not logged when the client is closed",
                            "internal/events/ClientEvents",
                            "            losses.ifPresent(LossLog::close);\n",
                            "")
                    .caughtBy("LossLogTest#secondStormIsCountedByItself_whenItsClientIsClosedBeforeTheCountIsDue"),
            Mutant.of(
                            "every return after the first new session is logged as in a new one",
                            "internal/events/ConnectionLog",
                            "        away = false;\n" + "        newSession = false;",
                            "        away = false;")
                    .caughtBy("ConnectionLogTest#returnNamesTheNewSession_whenTheFormerIsOver"),
            Mutant.of(
                            "a loss without leases is logged as a warning",
                            "internal/events/ConnectionLog",
                            "if (leases > 0) {",
                            "if (leases >= 0) {")
                    .caughtBy("ConnectionLogTest#returnNamesTheNewSession_whenTheFormerIsOver"),
            Mutant.of(
                            "the hold of a lost lease is recorded in another unit",
                            "internal/events/JfrEvents",
                            "event.held = held.toNanos();",
                            "event.held = held.toMillis();")
                    .caughtBy("FlightRecorderTest#everyEventIsThere"),
            Mutant.of(
                            "an observer does not hear of the last events before a close",
                            "internal/events/ObserverDispatcher",
                            "thread.shutdown();",
                            "var unused = thread.shutdownNow();")
                    .caughtBy("io.latchkey.zk.internal.events.ObserverDispatcherTest"
                            + "#queuedCallsAreMade_whenTheDispatcherIsClosedBeforeThem"),
            Mutant.of(
                            "an observed lock has no limit",
                            "micrometer/ObservedLock",
                            "new ObservedLock(lock.heldAtMost(limit), name, observations)",
                            "new ObservedLock(lock, name, observations)")
                    .caughtBy("io.latchkey.zk.micrometer.ObservedLockTest"
                            + "#limitedLockIsObserved_withThePathAndTheTokenOfItsLease"),
            Mutant.of(
                            "an observation has the name of its lock in place of the path",
                            "micrometer/ObservedLock",
                            ".highCardinalityKeyValue(\"path\", lease.path())",
                            ".highCardinalityKeyValue(\"path\", observation.getContext().getName())")
                    .caughtBy("io.latchkey.zk.micrometer.ObservedLockTest"
                            + "#limitedLockIsObserved_withThePathAndTheTokenOfItsLease"),
            Mutant.of(
                            "the timers of several clients are one",
                            "micrometer/LockMeters",
                            ".tags(tags.and(\"lock\", request.lock(), \"outcome\", outcome))",
                            ".tags(\"lock\", request.lock(), \"outcome\", outcome)")
                    .caughtBy("io.latchkey.zk.micrometer.LockMetersTest#allMetersHaveTheTagsOfTheirClient"),
            Mutant.of(
                            "the connections of several clients are one gauge",
                            "micrometer/LockMeters",
                            "self -> self.connected ? 1 : 0)\n" + "                .tags(tags)\n",
                            "self -> self.connected ? 1 : 0)\n")
                    .caughtBy("io.latchkey.zk.micrometer.LockMetersTest#allMetersHaveTheTagsOfTheirClient"));
}
