// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Bugs in releases, local hand-overs, downgrades, multi-locks, resizes and the renewal of paths. */
final class LeavingMutants {
    private static final String DEPARTURES = "internal/path/PendingDeletions";
    private static final String LANE = "internal/path/SessionQueue";
    private static final String DOWNGRADE = "internal/request/Downgrade";
    private static final String CREATION = "internal/request/NodeCreation";

    private LeavingMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of(
                    "a revocation node is created without its request's node",
                    "internal/request/RevocationNode",
                    "List.of(check, new ZnodeStore.Write.CreateNode(path, EMPTY))",
                    "List.of(new ZnodeStore.Write.CreateNode(path, EMPTY))"),
            Mutant.of(
                    "a missing revocation node is not created again after a reconnect",
                    "internal/path/PendingDeletions",
                    "nodes.addAll(absentRevocationNodes);",
                    ""),
            Mutant.of(
                    "a pending release is forgotten",
                    DEPARTURES,
                    "pending.addAll(0, batch);\n            batch.forEach(",
                    "batch.forEach("),
            Mutant.of(
                    "a release without a connection is forgotten",
                    DEPARTURES,
                    "pending.forEach(Deletion::onNewConnection);\n                send();",
                    "pending.clear();"),
            Mutant.of(
                            "the missing one of a downgrade's two nodes is taken for a loss",
                            DEPARTURES,
                            "deletion.nodeMissing |= !deletion.maybeDowngraded && remove.node().wasHeld();",
                            "deletion.nodeMissing |= remove.node().wasHeld();")
                    .caughtBy("DowngradeTest#releaseSucceeds_whileTheDowngradeHasNoAnswer"),
            Mutant.of(
                    "a refused transaction is not sent again",
                    DEPARTURES,
                    "} else {\n            pending.addAll(0, batch);\n            refused(",
                    "} else {\n            refused("),
            Mutant.of(
                    "a request that is given up leaves a mark",
                    DEPARTURES,
                    "new NodeDeletion(node.present(), node.name(), Kind.WITHDRAWN)",
                    "new NodeDeletion(node.present(), node.name(), Kind.HANDED_OVER)"),
            Mutant.of(
                    "a neighbour that gives up hands over",
                    DEPARTURES,
                    "deletion.nodes.add(new NodeDeletion(node.present(), node.name(), Kind.WITHDRAWN));",
                    "node.present().release(node.name()).forEach(successor -> successor.unblocked(node.name()));\n            "
                            + "deletion.nodes.add("
                            + "new NodeDeletion(node.present(), node.name(), Kind.WITHDRAWN));"),
            Mutant.of(
                    "a reader hands over to its neighbours",
                    DEPARTURES,
                    "if (early && node.exclusive()) {",
                    "if (!removed.isEmpty()) {"),
            Mutant.of("local successors are not checked", DEPARTURES, "&& checkSuccessors(node, deleted, checks)", "")
                    .caughtBy("FaultTest#localHolderLosesBeforeTheNextGrant_whenItsNodeWasDeleted"),
            Mutant.of(
                            "local successors are checked with a mark only",
                            DEPARTURES,
                            "&& session.checks()",
                            "&& session.checks() && session.marks()")
                    .caughtBy("FaultTest#localHolderLosesBeforeTheNextGrant_whenItsNodeWasDeleted"),
            Mutant.of(
                    "if one node is gone, the others stay",
                    DEPARTURES,
                    "if (deletion.nodes.isEmpty()) {",
                    "if (deletion.nodes.size() >= 0) {"),
            Mutant.of(
                    "a release that finds no node reports RELEASED",
                    DEPARTURES,
                    "deletion.nodeMissing ? ReleaseOutcome.LOST : ReleaseOutcome.RELEASED",
                    "ReleaseOutcome.RELEASED"),
            Mutant.of(
                            "a release is not marked",
                            DEPARTURES,
                            "steps.add(new Step.Remove(deletion, node, new ZnodeStore.Write.Mark(node.path())));",
                            "")
                    .caughtBy("WireBudgetTest#waitBehindSeveralAddsThreeRequests_andTheHandOverNone"),
            Mutant.of(
                    "a release behind one that may be refused is marked",
                    DEPARTURES,
                    "&& markable.contains(node.present())",
                    ""),
            Mutant.of(
                    "a neighbour's departure is not announced",
                    "internal/path/PresentNodes",
                    "followers.removeAll(name.text()).forEach(follower -> follower.gone(name));",
                    "followers.removeAll(name.text());"),
            Mutant.of("a holder does not notify its neighbour", LANE, "here.announced(own)", "here.path()"),
            Mutant.of(
                    "a holder does not notify other clients",
                    LANE,
                    "() -> announceByWriting(member, own)));",
                    "member::node));"),
            Mutant.of(
                    "a downgrade releases",
                    DOWNGRADE,
                    "session.connection().write(writes, answer -> {",
                    "session.connection().write(List.of(writes.get(1)), ignored -> {});\n"
                            + "        session.connection().write(List.of(writes.get(0)), answer -> {"),
            Mutant.of(
                    "downgrade is marked like a release",
                    DOWNGRADE,
                    "new ZnodeStore.Write.Delete(entry.path().child(from)));",
                    "new ZnodeStore.Write.Mark(entry.path().child(from)),\n"
                            + "                new ZnodeStore.Write.Delete(entry.path().child(from)));"),
            Mutant.of(
                    "a downgrade whose answer is lost has failed",
                    DOWNGRADE,
                    "case OK, NODE_EXISTS -> done();",
                    "case OK -> done();"),
            Mutant.of(
                    "a downgrade whose answer is lost is not sent again",
                    DOWNGRADE,
                    "case CONNECTION_LOSS, READ_ONLY -> session.connection().whenConnected(this::send);",
                    "case CONNECTION_LOSS, READ_ONLY -> done();"),
            Mutant.of(
                    "a downgraded lease has a token of its own",
                    "internal/request/Holding",
                    "newLease(write.token(), ",
                    "newLease(write.token() + 1, "),
            Mutant.of(
                    "a release during a downgrade leaves one node",
                    DEPARTURES,
                    "node.replacement().ifPresent(name -> {",
                    "node.replacement().filter(name -> name.overflowed()).ifPresent(name -> {"),
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
                                                    List<ZnodeStore.Created> both =
                                                            new ArrayList<>(first.get().created());
                                                    both.addAll(second.get().created());
                                                    created(steps, Response.of(
                                                            new ZnodeStore.Written(both, java.util.Optional.empty())));
                                                } else {
                                                    created(steps, second);
                                                }
                                            });
                                        });"""),
            Mutant.of(
                    "creating the path is retried for ever if another client has created it",
                    "internal/request/MissingPaths",
                    "case PATH_EXISTS -> missing.remove(of);",
                    "case PATH_EXISTS -> missing.size();"),
            Mutant.of(
                            "the creator of the path gets more permits than there are",
                            CREATION,
                            "if (permits > capacity) {",
                            "if (permits > capacity + 1_000) {")
                    .caughtBy("OldBugsTest#pathThatIsCreatedAgain_hasTheDeclaredPermits"),
            Mutant.of(
                    "a path is made in two steps",
                    CREATION,
                    "steps.add(new Step(\n                        entry, new ZnodeStore.Write.CreatePath(entry.path().node(), lasting(entry))));",
                    "session.connection().write("
                            + "List.of(new ZnodeStore.Write.CreatePath(entry.path().node())), ignored -> {});\n"
                            + "                steps.add(new Step(entry, new ZnodeStore.Write.Check(\"/\")));"),
            Mutant.of(
                    "levels stay when their request is given up",
                    CREATION,
                    "missing.leave();\n            owner",
                    "owner"),
            Mutant.of(
                    "a level that is there is an error",
                    "internal/path/ParentNodes",
                    "case OK, NODE_EXISTS -> {",
                    "case OK -> {"),
            Mutant.of(
                    "the end of the counter is not awaited",
                    "internal/path/PathRenewal",
                    "public void childrenChanged() {\n        look();",
                    "public void childrenChanged() {\n        removeEnded();"),
            Mutant.of(
                    "a lost notification is not sent again",
                    LANE,
                    "case CONNECTION_LOSS, READ_ONLY ->\n                            session.connection().whenConnected(() -> announceByWriting(member, own));",
                    "case CONNECTION_LOSS, READ_ONLY -> {}"),
            Mutant.of(
                    "a resize overwrites a concurrent write",
                    "internal/admin/SemaphoreCapacity",
                    "path.node(), resized.bytes(), answer.get().version());",
                    "path.node(), resized.bytes(), -1);"));
}
