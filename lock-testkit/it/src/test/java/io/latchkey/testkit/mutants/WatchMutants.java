// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Bugs in watches on the nodes ahead, on the own node and on the path. */
final class WatchMutants {
    private static final String ENTRY = "internal/request/QueueEntry";
    private static final String AHEAD = "internal/request/WatchesAhead";
    private static final String OWN = "internal/request/OwnNodeWatch";
    private static final String WATCHES = "internal/session/Watches";
    private static final String READER = "internal/path/QueueReader";

    private WatchMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of(
                    "news without a number taken for a release",
                    "internal/session/Watches",
                    "zxid != NO_ZXID && zxid == watched.changedBy",
                    "zxid == watched.changedBy"),
            Mutant.of(
                    "no second look after a wake-up",
                    ENTRY,
                    "void gone(NodeName former) {\n        ahead().forget(former);\n        lookAgain();",
                    "void gone(NodeName former) {\n        unblocked(former);"),
            Mutant.of(
                    "woken, and asleep again",
                    ENTRY,
                    "void gone(NodeName former) {\n        ahead().forget(former);\n        lookAgain();",
                    "void gone(NodeName former) {\n        ahead().forget(former);"),
            Mutant.of(
                    "grant on any deletion",
                    WATCHES,
                    "boolean released = zxid != NO_ZXID && zxid == watched.changedBy;",
                    "boolean released = true;"),
            Mutant.of(
                    "mark and deletion of two transactions taken for a release",
                    WATCHES,
                    "zxid != NO_ZXID && zxid == watched.changedBy",
                    "zxid != NO_ZXID && watched.changedBy > 0"),
            Mutant.of(
                    "mark without deletion taken for a release",
                    WATCHES,
                    "watched.listening().forEach(Listener::changed);",
                    "watched.listening().forEach(Listener::changed);\n"
                            + "                watched.listening().forEach(Listener::released);"),
            Mutant.of(
                    "own node's loss ignored",
                    ENTRY,
                    "() -> node().equals(Optional.of(own))",
                    "() -> node().isEmpty()"),
            Mutant.of("own node not watched", OWN, "if (stop == null) {", "if (member == null) {"),
            Mutant.of(
                    "watches are not removed",
                    WATCHES,
                    "watched.isArmed()) {\n            takeBack(path);",
                    "watched.listeners.size() > 2) {\n            takeBack(path);"),
            Mutant.of("a watch on a node that is gone says nothing", WATCHES, "listener.gone();", "listeners(watched);")
                    .and(
                            WATCHES,
                            "private void stop(String path,",
                            "private static void listeners(Watched unused) {}\n\n    private void stop(String path,"),
            Mutant.of(
                    "a lost watch is not set again",
                    AHEAD,
                    "queue.session().connection().whenConnected(member::lookAgain);",
                    "queue.session().connection().connected();"),
            Mutant.of(
                    "the deletion of the one node ahead counts though the own node may be gone",
                    AHEAD,
                    "if (alone) {\n                    released();",
                    "if (alone) {\n                    member.unblocked(node);"),
            Mutant.of(
                    "the path is not watched",
                    AHEAD,
                    "stopWatchingPath = watches.watchData(member.path().node(), pathListener);",
                    "stopWatchingPath = () -> {};"),
            Mutant.of(
                    "the first waiter in the chain ignores nodes that leave",
                    AHEAD,
                    "public void childrenChanged() {\n            if (leading != null) {",
                    "public void childrenChanged() {\n            if (leading == null) {"),
            Mutant.of(
                    "what changed before the watch was set is missed",
                    AHEAD,
                    "if (leading != null && !leading.isOf(children.children())) {",
                    "if (leading != null && leading.requests().isEmpty()) {"),
            Mutant.of(
                    "the queue of one moment, the capacity of another",
                    READER,
                    "data != null && data.length > 0 && dataSince == listing.mzxid()",
                    "data != null && data.length > 0"),
            Mutant.of(
                    "a deferred request is forgotten",
                    READER,
                    "if (!deferred.isEmpty() && !othersWaitAhead(Optional.empty())) {",
                    "if (deferred.size() > 1_000) {"),
            Mutant.of(
                    "a list from before the create counts",
                    READER,
                    "listed(served, answer);",
                    "served.addAll(wants);\n            wants.clear();\n            listed(served, answer);"),
            Mutant.of(
                    "a list whose answer is lost is not read again",
                    READER,
                    "case CONNECTION_LOSS, READ_ONLY -> listAgain(served);",
                    "case CONNECTION_LOSS, READ_ONLY -> hasLostCreates();"),
            Mutant.of(
                    "a discarded node is not deleted",
                    READER,
                    "settled(name.id());\n            deletions.withdraw(name);",
                    "settled(name.id());"),
            Mutant.of(
                    "a list is used for the request that asked for it only",
                    READER,
                    "if (nodes.members().size() > 1) {",
                    "if (nodes.members().isEmpty()) {"),
            Mutant.of(
                            "a request whose node cannot be searched is forgotten",
                            READER,
                            "if (lostUnchecked) {\n            session.heartbeat().afterBeat(",
                            "if (lost.size() > 1_000) {\n            session.heartbeat().afterBeat(")
                    .caughtBy("FaultTest#lostCreate_isSearchedUntilTheServerResponds"),
            Mutant.of(
                    "release of another's node",
                    READER,
                    ".filter(name -> lost.containsKey(name.id()))",
                    ".sorted(io.latchkey.zk.internal.queue.NodeName.QUEUE_ORDER).limit(1)"),
            Mutant.of(
                    "a notification before the watch is set is missed",
                    AHEAD,
                    "if (data.version() > 0) {",
                    "if (data.version() > 1_000) {"),
            Mutant.of(
                    "an older watch's event counts for the new one",
                    WATCHES,
                    "if (of(what) == Armed.CONFIRMED) {\n                set(what, Armed.NOT);\n            }",
                    "set(what, Armed.NOT);"),
            Mutant.of(
                            "a watch that others have removed is thought to be there",
                            "internal/session/Watches",
                            "if (removing.contains(path)) {",
                            "if (removing.size() >= 0) {")
                    .caughtBy("StoreTest#waiterIsGranted_whenTheOwnerOfABorrowedHandleRemovesItsWatches"),
            Mutant.of(
                            "a mark counts as a grant though the own node may be gone",
                            AHEAD,
                            "if (own.isConfirmed() && queue.session().connection().connected()) {",
                            "if (member.isWaiting()) {")
                    .and(OWN, "why.code() == Status.CONNECTION_LOSS", "why.code() != Status.CONNECTION_LOSS"),
            Mutant.of(
                    "a mark counts before the watches are set again",
                    AHEAD,
                    "own.isConfirmed() && queue.session().connection().connected()",
                    "own.isConfirmed()"),
            Mutant.of(
                            "long lists are read together",
                            READER,
                            "return together && session.lists().isShort(bytes);",
                            "return together;")
                    .caughtBy("RecipeWireTest#multiLockReadsListsSeparately_whenOneWasLong"),
            Mutant.of(
                    "a list is dated by its first read",
                    "internal/store/ZooKeeperResults",
                    "same ? mzxid : -1",
                    "mzxid"));
}
