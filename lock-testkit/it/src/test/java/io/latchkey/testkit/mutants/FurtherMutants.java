// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Further bugs in all rooms, added when every earlier one was caught. */
final class FurtherMutants {
    private static final String MACHINE = "internal/acquire/Acquisition";
    private static final String LOOK = "internal/request/FirstLook";
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
                    "new Holding(entries(), session(), token,",
                    "new Holding(entries(), session(), token + (waited ? 0 : 1),"),
            Mutant.of(
                    "grant without a confirmation",
                    "internal/session/Heartbeat",
                    "if (validity.isValid()) {\n            request.confirmed();",
                    "if (validity.isValid() || !validity.isValid()) {\n            request.confirmed();"),
            Mutant.of(
                    "a neighbour that leaves the queue hands over",
                    "internal/path/PresentNodes",
                    "followers.removeAll(name.text()).forEach(follower -> follower.gone(name));",
                    "followers.removeAll(name.text()).forEach(follower -> follower.unblocked(name));"),
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
                    "new ZnodeStore.Write.CreateNode(\n                        entry.path().child(to),",
                    "new ZnodeStore.Write.CreateRequest(\n                        entry.path().child(io.latchkey.zk.internal.queue.NodeName.prefix(by.tag(), from.id(), 1)),"),
            Mutant.of("a resize wakes no waiter", READER, "if (news) {", "if (news && dataSince < 0) {"),
            Mutant.of(
                    "only a capacity that is known wakes waiters",
                    READER,
                    "boolean news = dataSince != seen.mzxid();",
                    "boolean news = dataSince == seen.mzxid();"),
            Mutant.of(
                    "a request that times out gets no answer",
                    "internal/request/Request",
                    "settle(outcome::timeUp);",
                    "settle(() -> {});"),
            Mutant.of(
                            "loss is reported on the event thread",
                            "internal/request/ZkLease",
                            "context.callBack(() -> {\n            lost.deliver(cause);",
                            "((java.util.concurrent.Executor) Runnable::run).execute(() -> {\n            lost.deliver(cause);")
                    .caughtBy("MutexTest#dependentStages_runOnTheCallbackExecutor"),
            Mutant.of(
                    "a path that others created again is waited for",
                    "internal/path/PathRenewal",
                    "since != 0 && path.mzxid() > since",
                    "since < 0"),
            Mutant.of(
                            "a look takes what would hold for blocked",
                            LOOK,
                            ".filter(Decision.Wait.class::isInstance)",
                            ".filter(decision -> decision != null)")
                    .caughtBy("RecipeWireTest#repeatedTryOfABusyLockWritesNothing[1]"),
            Mutant.of(
                            "a poll of a busy lock forgets that it was busy",
                            LOOK,
                            "entry.found(waits);",
                            "entry.found(false);")
                    .caughtBy("RecipeWireTest#repeatedTryOfABusyLockWritesNothing[1]"),
            Mutant.of(
                            "a look of a multi-lock counts its last member alone",
                            LOOK,
                            "blocked |= waits;",
                            "blocked = waits;")
                    .caughtBy("RecipeWireTest#repeatedTryOfABusyMultiLockWritesNothing"));
}
