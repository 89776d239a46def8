// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** What is heard of the nodes ahead, of the own node and of the path. */
final class WatchMutants {
    private static final String PLACE = "internal/request/QueueEntry";
    private static final String WATCHES = "internal/session/Watches";
    private static final String READER = "internal/path/QueueReader";

    private WatchMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of(
                    "news without a number taken for a release",
                    "internal/session/Watches",
                    "zxid > 0 && zxid == watched.changedBy",
                    "zxid == watched.changedBy"),
            Mutant.of(
                    "no second look after a wake-up",
                    PLACE,
                    "void gone(NodeName former) {\n        forgetAhead(former);\n        lookAgain();",
                    "void gone(NodeName former) {\n        released(former);"),
            Mutant.of(
                    "woken, and asleep again",
                    PLACE,
                    "void gone(NodeName former) {\n        forgetAhead(former);\n        lookAgain();",
                    "void gone(NodeName former) {\n        forgetAhead(former);"),
            Mutant.of(
                    "grant on any deletion",
                    WATCHES,
                    "boolean released = zxid > 0 && zxid == watched.changedBy;",
                    "boolean released = true;"),
            Mutant.of(
                            "mark and deletion of two transactions taken for a release",
                            WATCHES,
                            "zxid > 0 && zxid == watched.changedBy",
                            "zxid > 0 && watched.changedBy > 0")
                    .caughtBy(
                            "io.latchkey.testkit.mutants.GapsTest#aWaiterThatWasWrittenToAndGaveUpIsNoHolderThatLetGo"),
            Mutant.of(
                    "mark without deletion taken for a release",
                    WATCHES,
                    "watched.listening().forEach(Listener::changed);",
                    "watched.listening().forEach(Listener::changed);\n"
                            + "                watched.listening().forEach(Listener::released);"),
            Mutant.of(
                    "own node's loss ignored",
                    PLACE,
                    "void nodeGone(NodeName own) {\n        if (node().equals(Optional.of(own))) {",
                    "void nodeGone(NodeName own) {\n        if (node().isEmpty()) {"),
            Mutant.of("own node not watched", PLACE, "if (stopWatchingOwn == null) {", "if (ahead.size() > 1_000) {"),
            Mutant.of(
                    "watches are not taken back",
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
                    PLACE,
                    "sessionQueue().session().connection().whenConnected(this::lookAgain);",
                    "sessionQueue().session().connection().connected();"),
            Mutant.of(
                    "the path is not watched",
                    PLACE,
                    "stopWatchingPath = watches.watchData(path, pathListener);",
                    "stopWatchingPath = () -> {};"),
            Mutant.of(
                    "whoever leads the line does not look at those that go",
                    PLACE,
                    "public void childrenChanged() {\n            if (leading != null) {",
                    "public void childrenChanged() {\n            if (leading == null) {"),
            Mutant.of(
                    "what changed before the watch was set is missed",
                    PLACE,
                    "if (leading != null && !leading.isOf(children.children())) {",
                    "if (leading != null && leading.requests().isEmpty()) {"),
            Mutant.of(
                    "the queue of one moment, the capacity of another",
                    READER,
                    "data != null && data.length > 0 && dataSince == listing.mzxid()",
                    "data != null && data.length > 0"),
            Mutant.of(
                    "put off and forgotten",
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
                    "case CONNECTION_LOSS, READ_ONLY -> idle();"),
            Mutant.of(
                    "a disowned node is left where it is",
                    READER,
                    "lost.remove(name.id());\n            deletions.withdraw(name);",
                    "lost.remove(name.id());"),
            Mutant.of(
                            "a list tells of no node but that of whoever asked for it",
                            READER,
                            "if (nodes.members().size() > 1) {",
                            "if (nodes.isEmpty()) {")
                    .caughtBy("FaultTest#waiterIsNotGranted_whileALocalHolderWithADeletedNodeIsValid"),
            Mutant.of(
                            "whose node cannot be looked for is forgotten",
                            READER,
                            "if (lostUnchecked) {\n            session.heartbeat().afterBeat(",
                            "if (lost.size() > 1_000) {\n            session.heartbeat().afterBeat(")
                    .caughtBy("FaultTest#lostCreate_isSearchedUntilTheServerResponds"),
            Mutant.of(
                    "release of another's node",
                    READER,
                    ".filter(name -> lost.contains(name.id()))",
                    ".sorted(io.latchkey.zk.internal.queue.NodeName.QUEUE_ORDER).limit(1)"),
            Mutant.of(
                    "told before the watch was set is missed",
                    "internal/request/QueueEntry",
                    "if (!leadIfAheadMayHold() && data.version() > 0) {",
                    "if (!leadIfAheadMayHold() && data.version() > 1_000) {"),
            Mutant.of(
                    "an older watch's word counts for the new one",
                    WATCHES,
                    "if (of(what) == Armed.CONFIRMED) {\n                set(what, Armed.NOT);\n            }",
                    "set(what, Armed.NOT);"),
            Mutant.of(
                            "a watch that others took back is thought to be there",
                            "internal/session/Watches",
                            "if (removing.contains(path)) {",
                            "if (removing.size() >= 0) {")
                    .caughtBy(
                            "io.latchkey.testkit.mutants.GapsTest#whoseWatchesSomebodyElseTakesBackFromABorrowedHandleIsServedAllTheSame"),
            Mutant.of(
                            "a mark is taken for its turn by who cannot know of its own end",
                            "internal/request/QueueEntry",
                            "if (ownWatched && sessionQueue().session().connection().connected()) {",
                            "if (isWaiting()) {")
                    .and("internal/request/QueueEntry", "if (lost && node()", "if (!lost && node()"),
            Mutant.of(
                    "a mark counts before the watches are set again",
                    "internal/request/QueueEntry",
                    "ownWatched && sessionQueue().session().connection().connected()",
                    "ownWatched"),
            Mutant.of(
                            "long lists are read together",
                            READER,
                            "if (!together || bytes > session.connection().port().longestAnswer() / PART_OF_PACKET) {",
                            "if (!together) {")
                    .caughtBy("RecipeWireTest#aMultiLockReadsEachListByItselfWhereOneWasLong"),
            Mutant.of(
                    "a list is of the moment when its first read was",
                    "internal/store/ZooKeeperStore",
                    "same ? mzxid : -1",
                    "mzxid"));
}
