// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Bugs of all rooms that somebody might make, thought of when those before were caught. */
final class FurtherMutants {
    private static final String MACHINE = "internal/acquire/Acquisition";
    private static final String RECIPE = "internal/recipe/Recipe";
    private static final String READER = "internal/path/QueueReader";

    private FurtherMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of(
                    "observers are told a grant twice",
                    "internal/request/Request",
                    "granted.goesTo(signals);",
                    "granted.goesTo(signals);\n        signals.granted(granted.token());"),
            Mutant.of(
                    "observers are told nothing of a withdrawn request",
                    "internal/request/AcquireFuture",
                    "if (lease.isEmpty()) {\n            signals.notGranted",
                    "if (lease.isEmpty() && !isCancelled()) {\n            signals.notGranted"),
            Mutant.of(
                    "a token is one too high for who need not wait",
                    "internal/request/Request",
                    "new Holding(entries, session(), token,",
                    "new Holding(entries, session(), token + (waited ? 0 : 1),"),
            Mutant.of(
                    "a reader waits for the oldest, whatever it is",
                    RECIPE,
                    "while (nearest >= 0 && before.get(nearest).tag() != Tag.WRITE) {",
                    "while (nearest > 0 && before.get(nearest).tag() != Tag.WRITE) {"),
            Mutant.of(
                    "a reader watches whoever is right before it",
                    RECIPE,
                    "return nearest < 0 ? new Decision.Hold() : new Decision.Blocked(List.of(before.get(nearest)));",
                    "return nearest < 0 ? new Decision.Hold() : new Decision.Blocked(List.of(before.get(before.size() - 1)));"),
            Mutant.of(
                    "the declared capacity counts",
                    "internal/recipe/SemaphoreRule",
                    "int capacity = queue.purpose().capacity();",
                    "int capacity = queue.purpose().declared();"),
            Mutant.of(
                    "grant without a confirmation",
                    "internal/session/Heartbeat",
                    "if (validity.isValid()) {\n            request.confirmed();",
                    "if (validity.isValid() || !validity.isValid()) {\n            request.confirmed();"),
            Mutant.of(
                    "another's node is taken for the own",
                    MACHINE,
                    "searched.found = event.queue().withId(id).orElse(null);",
                    "searched.found = event.queue().requests().isEmpty() ? null : event.queue().requests().get(event.queue().requests().size() - 1);"),
            Mutant.of(
                            "a mark long ago counts for a deletion now",
                            "internal/session/Watches",
                            "boolean released = zxid > 0 && zxid == watched.changedBy;",
                            "boolean released = watched.changedBy > 0;")
                    .caughtBy(
                            "io.latchkey.testkit.mutants.GapsTest#aWaiterThatWasWrittenToAndGaveUpIsNoHolderThatLetGo"),
            Mutant.of(
                    "a neighbour that goes hands over",
                    "internal/path/PresentNodes",
                    "followers.removeAll(name.text()).forEach(follower -> follower.gone(name));",
                    "followers.removeAll(name.text()).forEach(follower -> follower.released(name));"),
            Mutant.of(
                    "a multi-lock's first member counts for all",
                    MACHINE,
                    "!allReady() || token == Created.UNKNOWN_TOKEN",
                    "members.get(0).standing != Standing.READY || token == Created.UNKNOWN_TOKEN"),
            Mutant.of(
                    "a downgraded lease is released like a writer's",
                    "internal/request/Downgrade",
                    "entry.replaced(by);\n",
                    "entry.notReplaced();\n"),
            Mutant.of(
                    "a downgrade makes a node behind all others",
                    "internal/request/Downgrade",
                    "new ZnodeStore.Write.CreateNode(\n                        sessionQueue.pathOf(to.text()),",
                    "new ZnodeStore.Write.CreateRequest(\n                        sessionQueue.pathOf(io.latchkey.zk.internal.queue.NodeName.prefix(by.tag(), from.id(), 1)),"),
            Mutant.of(
                    "who gives up while confirming stays",
                    MACHINE,
                    "edge(CONFIRMING, Event.GiveUp.class, (m, e) -> m.withdraw(), ENDED)",
                    "edge(CONFIRMING, Event.GiveUp.class, (m, e) -> List.of(), CONFIRMING)"),
            Mutant.of("a resize wakes nobody", READER, "if (news) {", "if (news && dataSince < 0) {"),
            Mutant.of(
                    "only what is known of a capacity is news",
                    READER,
                    "boolean news = dataSince != seen.mzxid();",
                    "boolean news = dataSince == seen.mzxid();"),
            Mutant.of(
                    "who runs out of time is told nothing",
                    "internal/request/Request",
                    "} else {\n            settle(() -> outcome.answer(Optional.empty()));\n        }\n    }\n\n    /** Completes the caller's",
                    "} else {\n            settle(() -> {});\n        }\n    }\n\n    /** Completes the caller's"),
            Mutant.of(
                            "loss is told on the event thread",
                            "internal/request/ZkLease",
                            "context.callBack(() -> lost.deliver(cause));",
                            "lost.deliver(cause);")
                    .caughtBy("MutexTest#dependentStages_runOnTheCallbackExecutor"),
            Mutant.of(
                    "the session's end is no loss",
                    MACHINE,
                    "edge(HELD, Event.SessionOver.class, (m, e) -> m.lose(LossCause.SESSION_EXPIRED, List.of()), ENDED)",
                    "edge(HELD, Event.SessionOver.class, (m, e) -> List.of(), HELD)"),
            Mutant.of(
                    "a waiter whose node goes while it is confirmed is a bug of the machine",
                    MACHINE,
                    "            edge(CONFIRMING, Event.OwnNodeGone.class, (m, e) -> m.startAgain((Event.OwnNodeGone) e), ENQUEUEING),\n",
                    ""),
            Mutant.of(
                    "who waits in a list on its way is handed over",
                    MACHINE,
                    "if (waiting.standing == Standing.WAITING) {\n            waiting.standing",
                    "if (waiting.standing != Standing.READY) {\n            waiting.standing"),
            Mutant.of(
                    "a path that others made anew is waited for",
                    "internal/path/PathRenewal",
                    "since != 0 && path.mzxid() > since",
                    "since < 0"));
}
