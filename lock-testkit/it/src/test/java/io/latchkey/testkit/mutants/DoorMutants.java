// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Bugs in the public API, the views and the access to ZooKeeper, which no simulation covers. */
final class DoorMutants {
    private static final String PORT = "internal/store/ZooKeeperStore";
    private static final String VIEW = "internal/locks/LockView";
    private static final String WAIT = "internal/request/AcquireFuture";
    private static final String ACQUIRABLE = "internal/locks/ZkAcquirable";

    private static final String HOLDS = "internal/locks/ThreadHolds";

    private DoorMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of(
                    "callback on the event thread",
                    "internal/context/ClientContext",
                    "outbox().callbacks().execute(marked);",
                    "marked.run();"),
            Mutant.of(
                            "a closing client's leases are granted to local waiters",
                            "internal/client/LiveRequests",
                            "if (request.state() == State.HELD) {\n                holders.add(request);",
                            "if (request.state() != State.HELD) {\n                holders.add(request);")
                    .caughtBy("HandlesTest#borrowedHandleStaysOpenWithoutNodes_whenTheClientCloses"),
            Mutant.of(
                            "a borrowed handle is closed",
                            PORT,
                            "if (ownership == Ownership.BORROWED) {",
                            "if (ownership != Ownership.OWN && givenBack) {")
                    .caughtBy("HandlesTest#borrowedHandleStaysOpenWithoutNodes_whenTheClientCloses"),
            Mutant.of(
                            "watches are removed with the call that removes nothing",
                            PORT,
                            "zooKeeper.removeAllWatches(path, Watcher.WatcherType.Any, true, (rc, p, ctx) -> deliver(then), null);",
                            "zooKeeper.removeWatches("
                                    + "path, watcher, Watcher.WatcherType.Any, true, (rc, p, ctx) -> then.run(), null);")
                    .caughtBy("StoreTest#waiterLeavesNoWatch_whenItIsCancelled"),
            Mutant.of(
                            "nodes outlive their session",
                            PORT,
                            "acl, CreateMode.EPHEMERAL_SEQUENTIAL, created(then)",
                            "acl, CreateMode.PERSISTENT_SEQUENTIAL, created(then)")
                    .caughtBy("StoreTest#requestNodeIsDeleted_whenItsSessionEnds"),
            Mutant.of("a path stays for ever", PORT, "CreateMode.CONTAINER", "CreateMode.PERSISTENT")
                    .caughtBy("MutexTest#newPathAndItsParents_areCreatedAsContainers"),
            Mutant.of(
                            "a deletion is heard as a change",
                            PORT,
                            "case NodeDeleted -> listener.fired(event.getPath(), Change.DELETED, zxid(event));",
                            "case NodeDeleted -> listener.fired(event.getPath(), Change.CHILDREN, event.getZxid());")
                    .caughtBy("MutexTest#waitingThread_isWokenByTheEventThread"),
            Mutant.of(
                            "the failed write is not named",
                            "internal/store/ZooKeeperResults",
                            "new Refusal(i, code,",
                            "new Refusal(0, code,")
                    .caughtBy("MultiLockTest#releaseReportsTheLossAndDeletesOtherNodes_whenOneNodeIsMissing"),
            Mutant.of(
                            "a guarded write is not guarded",
                            "ZkLocks",
                            "held.nodePaths().forEach(node -> all.add(Op.check(node, ANY_VERSION)));",
                            "held.nodePaths().forEach(node -> all.add(Op.check(\"/\", ANY_VERSION)));")
                    .caughtBy("HandlesTest#guardedWriteIsRefusedAsAWhole_whenTheLeaseIsLost"),
            Mutant.of(
                    "re-entry on a lost lease", VIEW, "if (!mine.get().lease().isValid()) {", "if (mine.isEmpty()) {"),
            Mutant.of(
                    "a view's first unlock releases",
                    VIEW,
                    "if (hold.isOver()) {\n            if (hold.lease()",
                    "if (!hold.isOver()) {\n            if (hold.lease()"),
            Mutant.of(
                    "a reader that wants to write waits for itself",
                    VIEW,
                    "if (side == Side.WRITE && !mine.get().has(side)) {\n            throw",
                    "if (side == Side.WRITE && !mine.get().has(side) && mine.get().isOver()) {\n            throw"),
            Mutant.of(
                    "any thread of the client may unlock",
                    HOLDS,
                    "return new Key(lock, Thread.currentThread().getId());",
                    "return new Key(lock, 0);"),
            Mutant.of(
                    "a write unlock releases while the thread still reads",
                    VIEW,
                    "downgrade(hold);\n        }\n    }",
                    "hold.lease().close();\n        }\n    }"),
            Mutant.of(
                    "an interrupted caller leaves its request",
                    WAIT,
                    "            if (!handedOver) {",
                    "            if (!handedOver && isDone()) {"),
            Mutant.of(
                    "a cancelled future leaves its request",
                    ACQUIRABLE,
                    "promise.whenComplete((lease, error) -> request.cancel(false));",
                    "promise.whenComplete((lease, error) -> request.isDone());"),
            Mutant.of(
                    "an unlock hides the loss that the release shows",
                    VIEW,
                    "if (hold.lease().release() == ReleaseOutcome.LOST) {",
                    "if (hold.lease().release() == ReleaseOutcome.ALREADY_RELEASED) {"),
            Mutant.of(
                            "a waiting caller has the error of another thread",
                            WAIT,
                            "throw Errors.toCaller(failed);",
                            "throw (RuntimeException) failed.getCause();")
                    .caughtBy("MistakesTest#errorHasTheCallersStack_whateverBlockingCallIsRefused"),
            Mutant.of(
                    "a holder from before a shrink is shown as waiting",
                    "internal/admin/QueueInspector",
                    "|| heldBeforeItShrank(name, node, permitsSoFar);",
                    "|| heldBeforeItShrank(name, node, Long.MAX_VALUE);"),
            Mutant.of(
                    "no time at all is a wait without end",
                    "internal/request/WaitPolicy",
                    "return timeout.isZero() ? new Never() : new AtMost(timeout);",
                    "return timeout.isZero() ? new Forever() : new AtMost(timeout);"),
            Mutant.of(
                    "stripes differ from client to client",
                    "internal/locks/ZkStripedMutex",
                    "hashString(String.valueOf(key), StandardCharsets.UTF_8)",
                    "hashInt(System.identityHashCode(this) + key.hashCode())"),
            Mutant.of(
                    "a borrowed handle is given back with nodes on it",
                    "internal/client/Closing",
                    "borrowed.filter(SessionQueues::hasPendingDeletions)",
                    "borrowed.filter(last -> last.hasPendingDeletions() && !last.session().connection().connected())"));
}
