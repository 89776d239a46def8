// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Further bugs in all rooms, added when every earlier one was caught. */
final class FurtherMutants {
    private static final String MACHINE = "internal/acquire/Acquisition";
    private static final String RECIPE = "internal/recipe/Recipe";
    private static final String READER = "internal/path/QueueReader";

    private FurtherMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of(
                    "observers are notified of a grant twice",
                    "internal/request/Request",
                    "granted.goesTo(signals);",
                    "granted.goesTo(signals);\n        signals.granted(granted.token());"),
            Mutant.of(
                    "observers are not notified of a withdrawn request",
                    "internal/request/AcquireFuture",
                    "if (lease.isEmpty()) {\n            signals.notGranted",
                    "if (lease.isEmpty() && !isCancelled()) {\n            signals.notGranted"),
            Mutant.of(
                    "the token is one too high without a wait",
                    "internal/request/Request",
                    "new Holding(entries, session(), token,",
                    "new Holding(entries, session(), token + (waited ? 0 : 1),"),
            Mutant.of(
                    "a reader waits for the oldest, whatever it is",
                    RECIPE,
                    "while (nearest >= 0 && before.get(nearest).tag() != Tag.WRITE) {",
                    "while (nearest > 0 && before.get(nearest).tag() != Tag.WRITE) {"),
            Mutant.of(
                    "a reader watches the request right before it",
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
                            "io.latchkey.testkit.mutants.GapsTest#waiterIsNotGranted_whenAWrittenRequestAheadIsCancelled"),
            Mutant.of(
                    "a neighbour that leaves the queue hands over",
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
                    "a request given up while it is confirmed stays",
                    MACHINE,
                    "edge(CONFIRMING, Event.GiveUp.class, (m, e) -> m.withdraw(), ENDED)",
                    "edge(CONFIRMING, Event.GiveUp.class, (m, e) -> List.of(), CONFIRMING)"),
            Mutant.of("a resize wakes no waiter", READER, "if (news) {", "if (news && dataSince < 0) {"),
            Mutant.of(
                    "only a capacity that is known wakes waiters",
                    READER,
                    "boolean news = dataSince != seen.mzxid();",
                    "boolean news = dataSince == seen.mzxid();"),
            Mutant.of(
                    "a request that times out gets no answer",
                    "internal/request/Request",
                    "} else {\n            settle(() -> outcome.answer(Optional.empty()));\n        }\n    }\n"
                            + "\n    /** Completes the caller's",
                    "} else {\n            settle(() -> {});\n        }\n    }\n\n    /** Completes the caller's"),
            Mutant.of(
                            "loss is reported on the event thread",
                            "internal/request/ZkLease",
                            "context.callBack(() -> lost.deliver(cause));",
                            "lost.deliver(cause);")
                    .caughtBy("MutexTest#dependentStages_runOnTheCallbackExecutor"),
            Mutant.of(
                    "the end of the session is not reported as a loss",
                    MACHINE,
                    "edge(HELD, Event.SessionOver.class, (m, e) -> m.lose(LossCause.SESSION_EXPIRED, List.of()), ENDED)",
                    "edge(HELD, Event.SessionOver.class, (m, e) -> List.of(), HELD)"),
            Mutant.of(
                    "a waiter whose node goes while it is confirmed is a bug of the machine",
                    MACHINE,
                    "            edge(CONFIRMING, Event.OwnNodeGone.class, (m, e) -> m.startAgain((Event.OwnNodeGone) e), ENQUEUEING),\n",
                    ""),
            Mutant.of(
                    "a list in flight counts as a hand-over",
                    MACHINE,
                    "if (waiting.standing == Standing.WAITING) {\n            waiting.standing",
                    "if (waiting.standing != Standing.READY) {\n            waiting.standing"),
            Mutant.of(
                    "a path that others created again is waited for",
                    "internal/path/PathRenewal",
                    "since != 0 && path.mzxid() > since",
                    "since < 0"));
}
