// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.mutants;

import java.util.List;

/** Bugs in the rules of holding, in node names and in the data of a path. */
final class RuleMutants {
    private static final String NAMES = "internal/queue/NodeName";
    private static final String PATH_DATA = "internal/queue/PathData";
    private static final String RECIPE = "internal/recipe/Recipe";
    private static final String SEMAPHORE = "internal/recipe/SemaphoreRule";

    private RuleMutants() {}

    static final List<Mutant> ALL = List.of(
            Mutant.of(
                    "wrong predecessor watched",
                    RECIPE,
                    "List.of(before.get(before.size() - 1))",
                    "List.of(before.get(0))"),
            Mutant.of(
                    "the one before the predecessor watched",
                    RECIPE,
                    "List.of(before.get(before.size() - 1))",
                    "List.of(before.get(Math.max(0, before.size() - 2)))"),
            Mutant.of(
                    "writer ignores readers ahead",
                    RECIPE,
                    "case WRITE -> Recipe::nothingBefore;",
                    "case WRITE -> Recipe::noWriteBefore;"),
            Mutant.of(
                    "reader waits for the first writer",
                    RECIPE,
                    "List.of(before.get(nearest))",
                    "List.of(before.stream().filter(name -> name.tag() == Tag.WRITE).findFirst().orElseThrow())"),
            Mutant.of(
                    "reader ignores a writer ahead",
                    RECIPE,
                    "while (nearest >= 0 && before.get(nearest).tag() != Tag.WRITE) {\n            nearest--;",
                    "if (nearest >= 0 && before.get(nearest).tag() != Tag.WRITE) {\n            nearest = -1;"),
            Mutant.of(
                    "semaphore watches N places ahead",
                    SEMAPHORE,
                    "new Decision.Blocked(suffix.subList(0, enough))",
                    "new Decision.Blocked(List.of(before.get(before.size()"
                            + " - Math.min(before.size(), queue.purpose().capacity()))))"),
            Mutant.of(
                    "off by one permit",
                    SEMAPHORE,
                    "(long) capacity - me.permits()",
                    "(long) capacity - me.permits() + 1"),
            Mutant.of(
                    "one permit is never lent",
                    SEMAPHORE,
                    "(long) capacity - me.permits()",
                    "(long) capacity - me.permits() - 1"),
            Mutant.of("weight ignored", SEMAPHORE, "taken += before.get(i).permits()", "taken++"),
            Mutant.of("own weight ignored", SEMAPHORE, "(long) capacity - me.permits()", "(long) capacity - 1"),
            Mutant.of(
                    "weight ignored in the chain",
                    SEMAPHORE,
                    "long taken = queue.permitsBefore(me);",
                    "long taken = before.size();"),
            Mutant.of(
                    "blocking set one short",
                    SEMAPHORE,
                    "for (long watched = 0; watched <= free; enough++)",
                    "for (long watched = 0; watched < free || enough == 0; enough++)"),
            Mutant.of(
                    "blocking set of the oldest requests",
                    SEMAPHORE,
                    "for (int i = before.size() - 1; i >= 0 && taken <= free; i--)",
                    "for (int i = 0; i < before.size() && taken <= free; i++)"),
            Mutant.of(
                    "a holder notifies no waiter in the chain",
                    SEMAPHORE,
                    "new Decision.Hold(queue.behind(me))",
                    "new Decision.Hold()"),
            Mutant.of("every waiter is first in the chain", SEMAPHORE, "return lastMayHold ?", "return true ?"),
            Mutant.of(
                    "a request for too many permits blocks the others",
                    SEMAPHORE,
                    "if (free < 0)",
                    "if (capacity == 0)"),
            Mutant.of(
                    "names ordered as text",
                    NAMES,
                    "Comparator.comparingInt(NodeName::sequence).thenComparing(NodeName::text)",
                    "Comparator.comparing(NodeName::text)"),
            Mutant.of(
                    "order at the counter's overflow",
                    NAMES,
                    "return sequence < 0 || sequence == Integer.MAX_VALUE;",
                    "return false;"),
            Mutant.of(
                    "the counter's end comes as a surprise",
                    NAMES,
                    "return overflowed() || sequence >= DRAIN_FROM;",
                    "return false;"),
            Mutant.of("foreign children are part of the queue", NAMES, " || !isHex(child, idStart, idEnd)", ""),
            Mutant.of(
                    "declared permits are not compared",
                    PATH_DATA,
                    "kind == other.kind && declared == other.declared",
                    "kind == other.kind"),
            Mutant.of(
                    "kinds are not compared",
                    PATH_DATA,
                    "kind == other.kind && declared == other.declared",
                    "declared == other.declared"),
            Mutant.of(
                    "a later format is taken for a mutex",
                    PATH_DATA,
                    "if (!counts.matches()) {\n            return Optional.empty();",
                    "if (!counts.matches()) {\n            return Optional.of(MUTEX);"),
            Mutant.of("the largest capacity is forgotten", PATH_DATA, "Math.max(largest, newCapacity)", "newCapacity"),
            Mutant.of(
                    "a downgraded lease's token is not shown",
                    "internal/queue/Owner",
                    "return token == null ? owner :",
                    "return true ? owner :"),
            Mutant.of(
                    "after a shrink a holder is taken for a waiter",
                    "internal/recipe/SemaphoreRule",
                    "queue.purpose().largest()",
                    "queue.purpose().capacity()"));
}
