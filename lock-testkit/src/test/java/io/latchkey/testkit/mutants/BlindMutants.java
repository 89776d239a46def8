// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Bugs of the fourth blind round, which were written without a look at the tests. */
@SuppressWarnings("StringConcatToTextBlock") // The lines of the source, as they are indented there.
final class BlindMutants {
    private BlindMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of(
                    "blind: the interruption of a past term stays that of a candidate",
                    "lock/Leadership",
                    "        asked = null;\n        lease = null;\n",
                    "        lease = null;\n"),
            Mutant.of(
                    "blind: a candidate has an epoch after its lease is lost",
                    "lock/Leadership",
                    "return present != null && present.isValid() ? OptionalLong.of(present.token()) : OptionalLong.empty();",
                    "return present != null ? OptionalLong.of(present.token()) : OptionalLong.empty();"),
            Mutant.of(
                    "blind: the exception of a body that lost its lease is suppressed in place of being the cause",
                    "lock/BodyInterruption",
                    "            loss.initCause(thrown);\n",
                    "            if (thrown != null) {\n                loss.addSuppressed(thrown);\n            }\n"),
            Mutant.of(
                            "blind: a period that is over for others is due by a clock that is behind",
                            "OncePerPeriod",
                            "last.isPresent() && !last.get().isBefore(period)",
                            "last.isPresent() && last.get().equals(period)")
                    .caughtBy("OncePerPeriodTest#clocksThatDiffer_repeatNoPeriod"),
            Mutant.of(
                            "blind: a guarded write whose answer was lost counts as answered",
                            "ZkLocks",
                            "            if (refused.getResults() != null) {\n                held.writeAnswered();\n            }\n",
                            "            held.writeAnswered();\n")
                    .caughtBy("GuardedHandOverTest#nextHolderIsGrantedWhenTheNodeIsGone_afterAConnectionLoss"),
            Mutant.of(
                            "blind: the end of a handle that only closed the former session is announced as another end",
                            "internal/client/Engine",
                            "        if (of.connection().hasConnected()) {\n            context.signals().session(LockObserver.SessionState.EXPIRED);\n        }\n",
                            "        context.signals().session(LockObserver.SessionState.EXPIRED);\n")
                    .caughtBy("FormerSessionTest#formerSessionIsClosedBeforeTheNextOne_whenTheHandleGaveItUp"),
            Mutant.of(
                            "blind: a client whose login is refused counts as one whose session has ended",
                            "internal/client/Engine",
                            "context.signals().session(LockObserver.SessionState.CLOSED);",
                            "context.signals().session(LockObserver.SessionState.EXPIRED);")
                    .caughtBy("HandlesTest#sessionIsClosedForGood_whenTheServersRefuseALaterLogin"),
            Mutant.of(
                    "blind: a close with a grace does not wait for the end of the session behind it",
                    "internal/client/Closing",
                    "awaitClosed((grace.compareTo(longest) < 0 ? grace : longest).plus(config.sessionTimeout()));",
                    "awaitClosed(grace.compareTo(longest) < 0 ? grace : longest);"),
            Mutant.of(
                    "blind: the time that was spent in the line for Curator's permits is added",
                    "internal/client/CuratorSemaphoreRequest",
                    "minusNanos(engine.context().time().nanos() - asked)",
                    "minusNanos(asked - engine.context().time().nanos())"),
            Mutant.of(
                            "blind: a cancelled waiter for a local turn counts as failed",
                            "internal/client/LocalWaiter",
                            "isCancelled()\n                                    ? LockObserver.AcquireFailure.CANCELLED\n                                    : LockObserver.AcquireFailure.EXCEPTION",
                            "isCompletedExceptionally()\n                                    ? LockObserver.AcquireFailure.EXCEPTION\n                                    : LockObserver.AcquireFailure.CANCELLED")
                    .caughtBy("ObserverTest#localTurns_areReportedSeparately"),
            Mutant.of(
                            "blind: a cancelled search for locks goes on",
                            "internal/client/Queries",
                            "        var unused2 = promise.whenComplete((value, error) -> answer.cancel(false));\n",
                            "")
                    .caughtBy("ListingTest#nothingIsRead_afterAListingWasCancelled"),
            Mutant.of(
                    "blind: a validity margin of more than a third is taken as it is",
                    "internal/context/ClientContext",
                    "        return Duration.ofNanos(\n                Math.min(most, config.margin().map(Duration::toNanos).orElse(ours)));\n",
                    "        return config.margin().orElse(Duration.ofNanos(Math.min(most, ours)));\n"),
            Mutant.of(
                    "blind: a thread that has lost a view's lease may never lock it again",
                    "internal/locks/LockView",
                    "        hold.leave(side);\n        if (hold.isOver()) {\n            holds.end(acquirable.holdKey());\n        }\n        if (!valid) {\n            throw lost(\"unlocked\");\n        }\n",
                    "        hold.leave(side);\n        if (!valid) {\n            throw lost(\"unlocked\");\n        }\n        if (hold.isOver()) {\n            holds.end(acquirable.holdKey());\n        }\n"),
            Mutant.of(
                    "blind: the read lease of a cancelled downgrade stays",
                    "internal/locks/ZkReadWriteLock",
                    "                    } else if (!promise.complete(read)) {\n                        read.abandon();\n                    }\n",
                    "                    } else {\n                        promise.complete(read);\n                    }\n"),
            Mutant.of(
                    "blind: views of one path with different labels are different locks",
                    "internal/locks/ZkAcquirable",
                    "return only.recipe().purpose().kind() + only.path().node();",
                    "return only.recipe().purpose().kind() + only.path().node() + only.label();"),
            Mutant.of(
                            "blind: the watch for the events of a borrowed session stays",
                            "internal/store/ZooKeeperStore",
                            "            removeWatches(eventNode, then);\n",
                            "            then.run();\n")
                    .caughtBy("HandlesTest#borrowedHandleStaysOpenWithoutNodes_whenTheClientCloses"),
            Mutant.of(
                    "blind: the reason of an error without an answer is always that of a missing answer",
                    "internal/store/Errors",
                    "        } else if (original instanceof LockUnavailableException unavailable) {\n            own = new LockUnavailableException(message, unavailable.reason());\n",
                    "        } else if (original instanceof LockUnavailableException) {\n            own = new LockUnavailableException(message);\n"),
            Mutant.of(
                    "blind: a request that has notified the next one is shown with another token",
                    "internal/admin/QueueInspector",
                    "                    owner.token().orElse(node.czxid()),\n",
                    "                    owner.token().orElse(node.mzxid()),\n"),
            Mutant.of(
                            "blind: a path that an operator has made has no capacity before its first request",
                            "internal/admin/SemaphoreCapacity",
                            "PathData.parse(data.length == 0 ? asked.bytes() : data)",
                            "PathData.parse(data)")
                    .caughtBy("SemaphoreTest#resizeIsForgotten_onlyWhenThePathIsRemoved"),
            Mutant.of(
                            "blind: of the nodes that were being listed when the connection broke only one is read again",
                            "internal/admin/LockTree",
                            "why instanceof LockUnavailableException && !again",
                            "why instanceof LockUnavailableException && !again && lost.isEmpty()")
                    .caughtBy("ListingTest#listingIsComplete_whenTheConnectionBreaksInBetween"),
            Mutant.of(
                    "blind: dropped calls are reported again before each later call",
                    "internal/events/ObserverDispatcher",
                    "missed.getAndSet(0)",
                    "missed.get()"),
            Mutant.of(
                    "blind: a new path of one member makes all members of a multi-lock ready",
                    "internal/acquire/Acquisition",
                    "            members.get(i).standing = alone.contains(i) ? Standing.READY : Standing.LISTING;\n",
                    "            members.get(i).standing = alone.isEmpty() ? Standing.LISTING : Standing.READY;\n"),
            Mutant.of(
                    "blind: a request that has ended still counts among the holders of its session",
                    "internal/request/Request",
                    "            present.session().validity().removeHolder(this);\n",
                    ""),
            Mutant.of(
                    "blind: an interrupt during the release is swallowed",
                    "internal/request/ZkLease",
                    "        } catch (InterruptedException interrupted) {\n            Thread.currentThread().interrupt();\n            return outcome.getNow(ReleaseOutcome.PENDING);\n",
                    "        } catch (InterruptedException interrupted) {\n            return outcome.getNow(ReleaseOutcome.PENDING);\n"),
            Mutant.of(
                    "blind: a holder that listens to release requests does not watch its node",
                    "internal/request/Holding",
                    "        if (isHeld()) {\n            watchOwnNodes();\n            entries.forEach(entry -> entry.openRevocationNode(this));\n",
                    "        if (isHeld()) {\n            entries.forEach(entry -> entry.openRevocationNode(this));\n"),
            Mutant.of(
                    "blind: the head of the waiters in the chain does not watch the capacity",
                    "internal/request/WatchesAhead",
                    "        if (!queue.naming().isShared()) {\n            stopWatchingPath = watches.watchData(member.path().node(), pathListener);\n        }\n        if (leading != null) {\n            stopWatchingPath = watches.watchChildren(member.path().node(), pathListener);\n        }\n",
                    "        if (leading != null) {\n            stopWatchingPath = watches.watchChildren(member.path().node(), pathListener);\n        } else if (!queue.naming().isShared()) {\n            stopWatchingPath = watches.watchData(member.path().node(), pathListener);\n        }\n"),
            Mutant.of(
                    "blind: the end of the session is reported as a deletion of the node",
                    "internal/request/OwnNodeWatch",
                    "            if (member.isHeld()) {\n                session.nodeChecks().reported(member);\n            } else {\n                member.nodeGone(own);\n            }\n",
                    "            member.nodeGone(own);\n"),
            Mutant.of(
                    "blind: a revocation node whose create was answered late counts as refused",
                    "internal/request/RevocationNode",
                    "                case OK, NODE_EXISTS -> listen();\n",
                    "                case OK -> listen();\n"),
            Mutant.of(
                    "blind: a writer takes the downgrade of the only writer ahead for its release",
                    "internal/recipe/Recipe",
                    "        NodeName last = before.get(before.size() - 1);\n"
                            + "        // A writer that downgrades leaves a reader in its place.\n"
                            + "        Tag replaced = queue.purpose().kind() == Kind.MUTEX ? Tag.READ : Tag.WRITE;\n        return new Decision.Blocked(List.of(last), before.size() == 1 && last.tag() != replaced);\n",
                    "        NodeName last = before.get(before.size() - 1);\n        return new Decision.Blocked(List.of(last), before.size() == 1);\n"),
            Mutant.of(
                    "blind: a label takes the limit of the lock away",
                    "internal/recipe/LockTarget",
                    "        return new LockTarget(recipe, path, lock, text, limit);\n",
                    "        return new LockTarget(recipe, path, lock, text, Optional.empty());\n"),
            Mutant.of(
                    "blind: a label of two words hides the owner of the request",
                    "internal/queue/Owner",
                    "\")?(?: (.+))?\");\n",
                    "\")?(?: (\\\\S+))?\");\n"),
            Mutant.of(
                    "blind: requests of kazoo at a path of Latchkey's own layout are not noticed",
                    "internal/queue/OwnNaming",
                    "        return curator.parse(child).isPresent()\n                ? Optional.of(new OtherUse(child, \"a lock of Curator\", false))\n                : kazoo.parse(child).isPresent()\n                        ? Optional.of(new OtherUse(child, \"a lock of kazoo\", false))\n                        : Optional.empty();\n",
                    "        return curator.parse(child).isPresent()\n                ? Optional.of(new OtherUse(child, \"a lock of Curator\", false))\n                : Optional.empty();\n"),
            Mutant.of(
                    "blind: holders of a path that was deleted do not learn that their client has made it again",
                    "internal/path/QueueReader",
                    "        reportMissing(Set.of());\n",
                    ""),
            Mutant.of(
                            "blind: a released node counts as being deleted for ever",
                            "internal/path/PresentNodes",
                            "        released.remove(name.text());\n",
                            "")
                    .caughtBy("WireBudgetTest#waitBehindSeveralAddsThreeRequests_andTheHandOverNone"),
            Mutant.of(
                    "blind: the revocation node of an evicted holder stays",
                    "internal/path/SessionQueue",
                    "        member.takeRevocationNode().ifPresent(deletions::withdrawRevocationNode);\n",
                    ""),
            Mutant.of(
                    "blind: the holder that notifies its successor in the chain loses the label of its request",
                    "internal/path/SessionQueue",
                    "        byte[] same = session.context().ownerData(member.label());\n",
                    "        byte[] same = session.context().ownerData();\n"),
            Mutant.of(
                    "blind: a deletion that an overloaded server refuses is repeated at once",
                    "internal/path/PendingDeletions",
                    "            if (session.connection().connected()) {\n                session.heartbeat().afterBeat(this::send);\n            } else {\n                send();\n            }\n            return;\n",
                    "            send();\n            return;\n"),
            Mutant.of(
                            "blind: heartbeats follow the session timeout that was asked for",
                            "internal/session/Heartbeat",
                            "        return Duration.ofNanos(validity.timeout().toNanos() / BEATS);\n",
                            "        return Duration.ofNanos(context.sessionTimeout().toNanos() / BEATS);\n")
                    .caughtBy("ServerSettingsTest#validityIsShortened_whenTheServerShortensTheSessionAtReconnect"),
            Mutant.of(
                    "blind: each of several waiters of one client asks for the same watch",
                    "internal/session/Watches",
                    "            watched.set(what, Armed.ASKED_FOR);\n",
                    ""),
            Mutant.of(
                            "blind: a shorter session timeout at a reconnect does not shorten the leases",
                            "internal/session/SessionValidity",
                            "            present.shorten(timeout.minus(sessionTimeout));\n",
                            "")
                    .caughtBy("ServerSettingsTest#validityIsShortened_whenTheServerShortensTheSessionAtReconnect"),
            Mutant.of(
                    "blind: a pair counts from the sending of its first request",
                    "internal/validity/SessionExpiryBound",
                    "                && !answered.getFirst().answered().plus(margin).isAfter(sent)) {\n",
                    "                && !answered.getFirst().sent().plus(margin).isAfter(sent)) {\n"),
            Mutant.of(
                            "blind: only the first task that the callback executor refuses is run",
                            "internal/threads/CallbackThreads",
                            "                        refused);\n            }\n            once.run();\n",
                            "                        refused);\n                once.run();\n            }\n")
                    .caughtBy("CallbackExecutorTest#closeEndsTheSession_whenLeasesAreHeld"),
            Mutant.of(
                    "blind: a lack of threads stops the client for good",
                    "internal/threads/SerialExecutor",
                    "        } catch (Throwable noThread) {\n            LOG.debug(\"No thread can take over",
                    "        } catch (java.util.concurrent.RejectedExecutionException noThread) {\n            LOG.debug(\"No thread can take over"));
}
