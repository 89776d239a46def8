// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/**
 * Seeded bugs in the protocol: in an order of steps, or in what a barrier, a watch, a list or a deletion proves. A bug
 * that random schedules do not find names the test that does. All other bugs are left to PIT (docs/mutation.md).
 */
@SuppressWarnings("StringConcatToTextBlock") // The lines of the source, as they are indented there.
final class SeededBugs {
    private static final String RECIPE = "internal/recipe/Recipe";
    private static final String READER = "internal/path/QueueReader";
    private static final String LOST_CREATES = "internal/path/LostCreateSearch";
    private static final String CONTENT = "internal/path/PathContent";
    private static final String AHEAD = "internal/request/WatchesAhead";
    private static final String WATCHES = "internal/session/Watches";
    private static final String DELETIONS = "internal/path/PendingDeletions";
    private static final String BATCH = "internal/path/DeletionBatch";
    private static final String CREATION = "internal/request/NodeCreation";
    private static final String HOLDING = "internal/request/Holding";
    private static final String LEASE = "internal/request/ZkLease";
    private static final String LEASE_END = "internal/request/LeaseEnd";
    private static final String CHECKS = "internal/session/NodeChecks";

    static final List<Mutant> ALL = List.of(
            // Holding rule
            Mutant.of("wrong predecessor watched", RECIPE, "before.get(before.size() - 1);", "before.get(0);"),
            Mutant.of(
                    "writer ignores readers ahead",
                    RECIPE,
                    "case WRITE -> Recipe::nothingBefore;",
                    "case WRITE -> Recipe::noWriteBefore;"),
            Mutant.of(
                    "reader ignores a writer ahead",
                    RECIPE,
                    "while (nearest >= 0 && before.get(nearest).tag() != Tag.WRITE) {\n            nearest--;",
                    "if (nearest >= 0 && before.get(nearest).tag() != Tag.WRITE) {\n            nearest = -1;"),
            Mutant.of(
                    "off by one permit",
                    "internal/recipe/SemaphoreRule",
                    "(long) capacity - me.permits()",
                    "(long) capacity - me.permits() + 1"),
            // Enqueueing: one transaction, a lost create, and the barrier behind it
            Mutant.of(
                    "multi-lock in two transactions",
                    CREATION,
                    """
                            session.connection().writeOnce(steps.stream().map(Step::write).toList(), answer -> {
                                            noLongerCreating();
                                            created(steps, answer);
                                        });""",
                    """
                            List<Step> head = steps.subList(0, steps.size() / 2);
                                        List<Step> tail = steps.subList(steps.size() / 2, steps.size());
                                        session.connection().writeOnce(head.stream().map(Step::write).toList(), first -> {
                                            if (!first.ok() || first.get().failedAt().isPresent()) {
                                                noLongerCreating();
                                                created(steps, first);
                                                return;
                                            }
                                            session.connection().writeOnce(tail.stream().map(Step::write).toList(), second -> {
                                                noLongerCreating();
                                                if (second.ok() && second.get().failedAt().isEmpty()) {
                                                    List<ZnodeStore.CreatedNode> both =
                                                            new ArrayList<>(first.get().created());
                                                    both.addAll(second.get().created());
                                                    created(steps, Response.of(
                                                            new ZnodeStore.TransactionResult(both, java.util.Optional.empty())));
                                                } else {
                                                    created(steps, second);
                                                }
                                            });
                                        });"""),
            Mutant.of(
                    "a path is made in two steps",
                    CREATION,
                    "steps.add(new Step(\n                        entry, new ZnodeStore.Write.CreatePath(entry.path().node(), lifetime(entry))));",
                    "session.connection().write("
                            + "List.of(new ZnodeStore.Write.CreatePath(entry.path().node())), ignored -> {});\n"
                            + "                steps.add(new Step(entry, new ZnodeStore.Write.Check(\"/\")));"),
            Mutant.of(
                            "a lost create is searched without a barrier",
                            READER,
                            "if (!session.connection().connected()) {\n            if (!waitsForConnection) {",
                            "if (session.connection().isOver()) {\n            if (!waitsForConnection) {")
                    .foundBy("io.latchkey.testkit.sim.AcquireMomentsTest#lostCreateIsFound_whenTheServerLagsBehind"),
            Mutant.of(
                    "a lost create is settled by the barrier of any server",
                    LOST_CREATES,
                    "&& server.isPresent()\n                && server.equals(session.connection().server());",
                    "&& server.isPresent();"),
            Mutant.of(
                    "release of another's node",
                    LOST_CREATES,
                    ".filter(name -> lost.containsKey(name.id()))",
                    ".sorted(io.latchkey.zk.internal.queue.NodeName.QUEUE_ORDER).limit(1)"),
            Mutant.of(
                    "a list from before the create counts",
                    READER,
                    "listed(served, answer);",
                    "served.addAll(needed);\n            needed.clear();\n            listed(served, answer);"),
            Mutant.of(
                    "the queue of one moment, the capacity of another",
                    CONTENT,
                    "bytes != null && bytes.length > 0 && writtenAt == listing.mzxid()",
                    "bytes != null && bytes.length > 0"),
            Mutant.of(
                    "a deferred request is forgotten",
                    "internal/path/DeferredLists",
                    "if (deferred.isEmpty() || othersWaitAhead(Optional.empty())) {",
                    "if (deferred.size() < 1_000) {"),
            // Watches: set before the list is trusted, and one event each
            Mutant.of(
                    "a notification before the watch is set is missed",
                    AHEAD,
                    "if (data.version() > 0 && leading == null) {",
                    "if (data.version() > 1_000) {"),
            Mutant.of(
                            "a holder that announced its grant is listed again and again",
                            AHEAD,
                            "if (data.version() > 0 && leading == null) {",
                            "if (data.version() > 0) {")
                    .foundBy(
                            "io.latchkey.zk.RecipeWireTest#waiterListsOnce_afterAShrinkBelowAHolderThatAnnouncedItself"),
            Mutant.of(
                    "what changed before the watch was set is missed",
                    AHEAD,
                    "if (leading != null && !leading.isOf(children.children())) {",
                    "if (leading != null && leading.requests().isEmpty()) {"),
            Mutant.of(
                            "an older watch's event counts for the new one",
                            WATCHES,
                            "if (of(what) == WatchState.CONFIRMED) {\n                set(what, WatchState.NOT);\n            }",
                            "set(what, WatchState.NOT);")
                    .foundBy("io.latchkey.testkit.sim.OldSchedulesTest#eventOfAnOlderWatch_doesNotCountForTheNewOne"),
            Mutant.of("a watch on a node that is gone says nothing", WATCHES, "listener.gone();", "listeners(watched);")
                    .and(
                            WATCHES,
                            "private void stop(String path,",
                            "private static void listeners(WatchedNode unused) {}\n\n    private void stop(String path,"),
            Mutant.of(
                    "no second look after a wake-up",
                    "internal/request/QueueEntry",
                    "void gone(NodeName former) {\n        ahead().forget(former);\n        lookAgain();",
                    "void gone(NodeName former) {\n        unblocked(former);"),
            Mutant.of(
                            "mark and deletion of two transactions taken for a release",
                            WATCHES,
                            "zxid != NO_ZXID && zxid == watched.changedBy",
                            "zxid != NO_ZXID && watched.changedBy > 0")
                    .foundBy(
                            "io.latchkey.testkit.sim.AcquireMomentsTest#markIsNoGrant_whenTheDeletionMayBeOfAnotherTransaction"),
            Mutant.of(
                            "a mark counts before the watches are set again",
                            AHEAD,
                            "own.isConfirmed() && queue.session().connection().connected()",
                            "own.isConfirmed()")
                    .foundBy(
                            "io.latchkey.testkit.sim.AcquireMomentsTest#releaseAheadIsNoGrant_beforeTheBarrierOfANewConnection"),
            Mutant.of(
                            "a mark counts as a grant though the own node may be gone",
                            AHEAD,
                            "if (own.isConfirmed() && queue.session().connection().connected()) {",
                            "if (member.isWaiting()) {")
                    .and(
                            "internal/request/OwnNodeWatch",
                            "why.code() == Status.CONNECTION_LOSS",
                            "why.code() != Status.CONNECTION_LOSS")
                    .foundBy("io.latchkey.testkit.sim.HeartbeatTest#leaseIsLost_whenItsNodeIsDeletedAfterItsWatch"),
            Mutant.of(
                            "the deletion of the one node ahead counts though the own node may be gone",
                            AHEAD,
                            "if (alone) {\n                    released();",
                            "if (alone) {\n                    member.unblocked(node);")
                    .foundBy(
                            "io.latchkey.testkit.sim.AcquireMomentsTest#releaseIsNoGrant_whenTheWaiterHasNoNodeAndNoWatchOfIt"),
            Mutant.of("a resize wakes no waiter", CONTENT, "if (news) {", "if (news && writtenAt < 0) {"),
            Mutant.of(
                            "ready members are not looked at again",
                            "internal/request/Request",
                            "if (waited ? members.size() > 1 : !hasJustSeenItsNodes())",
                            "if (!waited && !hasJustSeenItsNodes())")
                    .foundBy(
                            "io.latchkey.testkit.sim.AcquireMomentsTest#multiLockIsAskedForAgain_whenTheNodeOfItsReadyMemberIsGone"),
            // Release and hand-over
            Mutant.of(
                    "a pending release is forgotten",
                    DELETIONS,
                    "pending.addAll(0, batch.deletions());\n            batch.deletions().forEach(",
                    "batch.deletions().forEach("),
            Mutant.of(
                    "a refused transaction is not sent again",
                    DELETIONS,
                    "} else {\n            pending.addAll(0, batch.deletions());\n            refused(",
                    "} else {\n            refused("),
            Mutant.of(
                            "a release behind one that may be refused is marked",
                            BATCH,
                            "&& markable.contains(node.present())",
                            "")
                    .foundBy("io.latchkey.testkit.sim.OldSchedulesTest#releaseIsNotMarked_behindARefusedRelease"),
            Mutant.of(
                    "a request that is given up leaves a mark",
                    DELETIONS,
                    "new NodeDeletion(node.present(), node.name(), Kind.WITHDRAWN)",
                    "new NodeDeletion(node.present(), node.name(), Kind.HANDED_OVER)"),
            Mutant.of(
                    "a neighbour that gives up hands over",
                    DELETIONS,
                    "deletion.nodes.add(new NodeDeletion(node.present(), node.name(), Kind.WITHDRAWN));",
                    "node.present().release(node.name()).forEach(successor -> successor.unblocked(node.name()));\n            "
                            + "deletion.nodes.add("
                            + "new NodeDeletion(node.present(), node.name(), Kind.WITHDRAWN));"),
            Mutant.of("local successors are not checked", BATCH, "&& checkSuccessors(node, deleted, checks)", "")
                    .foundBy("io.latchkey.zk.FaultTest#localHolderLosesBeforeTheNextGrant_whenItsNodeWasDeleted"),
            Mutant.of(
                            "a holder without a node stays valid beside the next one of its client",
                            "internal/path/PresentNodes",
                            "if (!other.equals(member) && other.isHeld()) {",
                            "if (!other.equals(member) && other.isWaiting()) {")
                    .foundBy(
                            "io.latchkey.testkit.sim.AcquireMomentsTest#holderWithoutANodeLoses_beforeTheNextOfItsClientIsGranted"),
            Mutant.of(
                            "the node of a lost lease is deleted before the notice",
                            LEASE_END,
                            "return !(outcome.get() instanceof Outcome.Lost) || notified.isDone();",
                            "return outcome.get() != null || notified.isDone();")
                    .foundBy(
                            "io.latchkey.testkit.sim.LimitAndGraceTest#nodeIsKeptUntilTheNotice_whenTheLimitPassesDuringADowngrade"),
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
            // Downgrade, capacity, guarded writes
            Mutant.of(
                    "a downgrade releases",
                    "internal/request/Downgrade",
                    "session.connection().persist(entry::isHeld, writes, answer -> {",
                    "session.connection().write(List.of(writes.get(1)), ignored -> {});\n"
                            + "        session.connection().persist(entry::isHeld, List.of(writes.get(0)), answer -> {"),
            Mutant.of(
                            "the next of a client is granted before its holder knows whether it is downgraded",
                            "internal/request/Request",
                            "if (replaced.isPresent()) {",
                            "if (replaced.isPresent() && members.isEmpty()) {")
                    .foundBy(
                            "io.latchkey.zk.DowngradeTest#nextOfThisClientIsGranted_onlyAfterTheAnswer_whenTheNodeWasDeleted"),
            Mutant.of(
                    "a release during a downgrade leaves one node",
                    "internal/path/Deletion",
                    "node.replacement().ifPresent(name -> {",
                    "node.replacement().filter(name -> name.overflowed()).ifPresent(name -> {"),
            Mutant.of(
                            "a resize overwrites a concurrent write",
                            "internal/admin/SemaphoreCapacity",
                            "path.node(), resized.bytes(), answer.get().version());",
                            "path.node(), resized.bytes(), -1);")
                    .foundBy("io.latchkey.testkit.SimulatedLocksTest#resizeKeepsAConcurrentResize"),
            Mutant.of(
                            "a guarded write is not guarded",
                            "ZkLocks",
                            "held.nodePaths().forEach(node -> all.add(Op.check(node, ZnodeStore.ANY_VERSION)));",
                            "held.nodePaths().forEach(node -> all.add(Op.check(\"/\", ZnodeStore.ANY_VERSION)));")
                    .foundBy("io.latchkey.zk.HandlesTest#guardedWriteIsRefusedAsAWhole_whenTheLeaseIsLost"),
            // Session, heartbeat, validity
            Mutant.of(
                    "request kept across sessions",
                    "internal/client/LiveRequests",
                    "List.copyOf(live).forEach(Request::sessionOver);",
                    "live.stream().filter(r -> r.state() == State.HELD).toList().forEach(Request::sessionOver);"),
            Mutant.of(
                    "a reconnect without a barrier",
                    "internal/session/Session",
                    "if (first) {\n            onReconnected();",
                    "if (!first || first) {\n            onReconnected();"),
            Mutant.of(
                            "a barrier confirms requests whose nodes it has not checked",
                            "internal/session/Heartbeat",
                            "if (connection.connected()) {\n            checkedByBeat.addAll(confirming);",
                            "if (!connection.isOver()) {\n            checkedByBeat.addAll(confirming);")
                    .foundBy(
                            "io.latchkey.testkit.sim.AcquireMomentsTest#requestsAreNotGrantedWithoutNodes_whenTheyWaitForAProof"),
            Mutant.of(
                            "a heartbeat that names one deleted node confirms requests before it has asked for the others",
                            CHECKS,
                            "connection.exist(paths, answer -> {",
                            "then.accept(failed);\n        connection.exist(paths, answer -> {")
                    .and(CHECKS, "then.accept(Response.failed(answer.code(), answer.detail()));", "")
                    .and(
                            CHECKS,
                            "then.accept(gone.isEmpty() ? failed : Response.of(new ZnodeStore.TransactionResult(List.of(), gone)));",
                            "")
                    .foundBy(
                            "io.latchkey.testkit.sim.AcquireMomentsTest#requestIsNotGrantedWithoutANode_whenTheAnswerThatNamesItIsLost"),
            Mutant.of(
                            "validity counted from the answer",
                            "internal/session/Connection",
                            "proof.take(sent, context.now(), answer);",
                            "proof.take(context.now(), context.now(), answer);")
                    .foundBy("io.latchkey.testkit.sim.HeartbeatTest#leaseIsNoLongerValid_whenResponsesAreLate"),
            Mutant.of(
                            "a session that comes back counts from the report of its connection",
                            "internal/session/SessionValidity",
                            "asked.flatMap(known -> attempted.or(() -> connecting))",
                            "asked.map(known -> context.now().plus(margin()))")
                    .foundBy(
                            "io.latchkey.testkit.sim.HeartbeatTest#leaseIsNoLongerValid_whenTheReportOfTheConnectionIsLate"),
            // Local turns
            Mutant.of(
                    "a reader's node serves a writer",
                    "internal/turns/TurnQueue",
                    "(place.isExclusive() || !waiter.excludes())",
                    "(turns > 0 || !waiter.excludes())"),
            Mutant.of(
                            "a permit is passed on after a shrink",
                            HOLDING,
                            "content().writtenAt() <= token",
                            "content().writtenAt() < Long.MAX_VALUE")
                    .foundBy("io.latchkey.zk.LocalTurnsTest#permitIsNotPassedOn_afterAShrink"),
            Mutant.of(
                            "a reader joins although a guarded write of a former holder is open",
                            HOLDING,
                            "&& openWriters.stream().noneMatch(ZkLease::hasOpenWrites)",
                            "&& openWriters.size() < Integer.MAX_VALUE")
                    .foundBy(
                            "io.latchkey.zk.LocalTurnsTest#readerDoesNotJoin_whileAGuardedWriteOfAFormerHolderIsOpen"));

    private SeededBugs() {}

    static Mutant named(String name) {
        return ALL.stream().filter(bug -> bug.name().equals(name)).findFirst().orElseThrow();
    }
}
