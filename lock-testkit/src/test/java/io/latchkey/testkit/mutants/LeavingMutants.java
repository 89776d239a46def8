// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Releases, hand-overs within a session, downgrades, multi-locks, resizes, and paths made anew. */
final class LeavingMutants {
    private static final String DEPARTURES = "internal/path/PendingDeletions";
    private static final String LANE = "internal/path/SessionQueue";
    private static final String DOWNGRADE = "internal/request/Downgrade";
    private static final String CREATION = "internal/request/NodeCreation";

    private LeavingMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of(
                    "an ear is created without its request's node",
                    "internal/request/RevocationNode",
                    "List.of(check, new ZnodeStore.Write.CreateNode(path, EMPTY))",
                    "List.of(new ZnodeStore.Write.CreateNode(path, EMPTY))"),
            Mutant.of(
                    "an ear that was not there is not asked for again on a new connection",
                    "internal/path/PendingDeletions",
                    "nodes.addAll(absentEars);",
                    ""),
            Mutant.of(
                    "owed release forgotten",
                    DEPARTURES,
                    "departure.uncertain = true);\n            owed.addAll(0, batch);",
                    "departure.uncertain = true);"),
            Mutant.of(
                    "release without a connection forgotten",
                    DEPARTURES,
                    "owed.forEach(Departure::onNewConnection);\n                send();",
                    "owed.clear();"),
            Mutant.of(
                    "a refused transaction is not sent again",
                    DEPARTURES,
                    "} else {\n            owed.addAll(0, batch);\n            refused(",
                    "} else {\n            refused("),
            Mutant.of(
                    "who gives up leaves a mark",
                    DEPARTURES,
                    "new Leaving(node.in(), node.name(), Manner.WITHDRAWN)",
                    "new Leaving(node.in(), node.name(), Manner.HANDED_OVER)"),
            Mutant.of(
                    "a neighbour that gives up hands over",
                    DEPARTURES,
                    "departure.nodes.add(new Leaving(node.in(), node.name(), Manner.WITHDRAWN));",
                    "node.in().letGo(node.name()).forEach(heir -> heir.released(node.name()));\n            "
                            + "departure.nodes.add("
                            + "new Leaving(node.in(), node.name(), Manner.WITHDRAWN));"),
            Mutant.of(
                    "a reader hands over to its neighbours",
                    DEPARTURES,
                    "if (early && node.exclusive()) {",
                    "if (!left.isEmpty()) {"),
            Mutant.of("heirs are not looked at", DEPARTURES, "&& checkHeirs(node, leaving, checks)", "")
                    .caughtBy("FaultTest#aNeighbourWhoseNodeWasDeletedLosesBeforeTheNextClientIsGranted"),
            Mutant.of(
                            "heirs are looked at with a mark only",
                            DEPARTURES,
                            "&& session.checks()",
                            "&& session.checks() && session.marks()")
                    .caughtBy("FaultTest#aNeighbourWhoseNodeWasDeletedLosesBeforeTheNextClientIsGranted"),
            Mutant.of(
                    "where one node is gone the others are left",
                    DEPARTURES,
                    "if (departure.nodes.isEmpty()) {",
                    "if (departure.nodes.size() >= 0) {"),
            Mutant.of(
                    "a release that found nothing says released",
                    DEPARTURES,
                    "departure.robbed ? ReleaseOutcome.LOST : ReleaseOutcome.RELEASED",
                    "ReleaseOutcome.RELEASED"),
            Mutant.of(
                            "a release is not marked",
                            DEPARTURES,
                            "steps.add(new Step.Leave(departure, node, new ZnodeStore.Write.Mark(node.path())));",
                            "")
                    .caughtBy("WireBudgetTest#waitingAddsThreeRequestsAndTheHandOverNone"),
            Mutant.of(
                    "a release behind one that may be refused is marked",
                    DEPARTURES,
                    "&& wholly.contains(node.lane())",
                    ""),
            Mutant.of(
                    "a neighbour's going is not told",
                    "internal/path/PresentNodes",
                    "followers.removeAll(name.text()).forEach(follower -> follower.gone(name));",
                    "followers.removeAll(name.text());"),
            Mutant.of("who holds does not tell the neighbour", LANE, "here.told(own)", "here.path()"),
            Mutant.of(
                    "who holds does not tell other clients",
                    LANE,
                    "() -> tellByWriting(member, own)));",
                    "member::node));"),
            Mutant.of(
                    "downgrade lets go",
                    DOWNGRADE,
                    "session.wire().write(writes, answer -> {",
                    "session.wire().write(List.of(writes.get(1)), ignored -> {});\n"
                            + "        session.wire().write(List.of(writes.get(0)), answer -> {"),
            Mutant.of(
                    "downgrade is marked like a release",
                    DOWNGRADE,
                    "new ZnodeStore.Write.Delete(lane.pathOf(from.text())));",
                    "new ZnodeStore.Write.Mark(lane.pathOf(from.text())),\n"
                            + "                new ZnodeStore.Write.Delete(lane.pathOf(from.text())));"),
            Mutant.of(
                    "a downgrade whose answer is lost has failed",
                    DOWNGRADE,
                    "case OK, NODE_EXISTS -> done();",
                    "case OK -> done();"),
            Mutant.of(
                    "a downgrade whose answer is lost is not sent again",
                    DOWNGRADE,
                    "case CONNECTION_LOSS, READ_ONLY -> session.wire().whenConnected(this::send);",
                    "case CONNECTION_LOSS, READ_ONLY -> done();"),
            Mutant.of(
                    "a downgraded lease has a token of its own",
                    "internal/request/Holding",
                    "newLease(write.token());",
                    "newLease(write.token() + 1);"),
            Mutant.of(
                    "released while it is downgraded: one node stays",
                    DEPARTURES,
                    "node.replacement().ifPresent(name -> {",
                    "node.replacement().filter(name -> name.overflowed()).ifPresent(name -> {"),
            Mutant.of(
                    "multi-lock in two transactions",
                    CREATION,
                    """
                            session.wire().write(steps.stream().map(Step::write).toList(), answer -> {
                                            noLongerCreating();
                                            created(steps, answer);
                                        });""",
                    """
                            List<Step> head = steps.subList(0, steps.size() / 2);
                                        List<Step> tail = steps.subList(steps.size() / 2, steps.size());
                                        session.wire().write(head.stream().map(Step::write).toList(), first -> {
                                            if (!first.ok() || first.get().failedAt().isPresent()) {
                                                noLongerCreating();
                                                created(steps, first);
                                                return;
                                            }
                                            session.wire().write(tail.stream().map(Step::write).toList(), second -> {
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
                    "somebody else made the path: tried in vain for ever",
                    CREATION,
                    "missing.remove(place);",
                    "missing.size();"),
            Mutant.of(
                            "who makes the path gets more than there is",
                            CREATION,
                            "if (permits > capacity) {",
                            "if (permits > capacity + 1_000) {")
                    .caughtBy("OldBugsTest#pathThatIsCreatedAgain_hasTheDeclaredPermits"),
            Mutant.of(
                    "a path is made in two steps",
                    CREATION,
                    "steps.add(new Step(place, new ZnodeStore.Write.CreatePath(place.path(), lasting(place))));",
                    "session.wire().write(List.of(new ZnodeStore.Write.CreatePath(place.path())), ignored -> {});\n"
                            + "                steps.add(new Step(place, new ZnodeStore.Write.Check(\"/\")));"),
            Mutant.of(
                    "levels stay when their request is given up",
                    CREATION,
                    "levels.forEach(ParentNodes::leave);\n            shell",
                    "shell"),
            Mutant.of(
                    "a level that is there is an error",
                    "internal/path/ParentNodes",
                    "case OK, NODE_EXISTS -> {",
                    "case OK -> {"),
            Mutant.of(
                    "the counter's end is not waited for",
                    "internal/path/PathRenewal",
                    "public void childrenChanged() {\n        look();",
                    "public void childrenChanged() {\n        idle();"),
            Mutant.of(
                            "a word that was lost is not said again",
                            "internal/path/SessionQueue",
                            "case CONNECTION_LOSS, READ_ONLY -> session.wire().whenConnected(() -> tellByWriting(member, own));",
                            "case CONNECTION_LOSS, READ_ONLY -> {}")
                    .caughtBy("io.latchkey.testkit.mutants.GapsTest#aWordToWhoStandsInLineThatWasLostIsSaidAgain"),
            Mutant.of(
                            "a resize overwrites what somebody wrote meanwhile",
                            "internal/admin/SemaphoreCapacity",
                            "path, resized.bytes(), answer.get().version());",
                            "path, resized.bytes(), -1);")
                    .caughtBy(
                            "io.latchkey.testkit.mutants.GapsTest#aResizeDoesNotForgetWhatSomebodyElseHasResizedMeanwhile"));
}
