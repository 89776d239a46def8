// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import static io.latchkey.zk.explore.Scope.Budget.ANY;
import static io.latchkey.zk.explore.Scope.Budget.NONE;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.explore.Scope.Delay;
import io.latchkey.zk.explore.Scope.Neglect;
import io.latchkey.zk.queue.Decision;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.queue.PathData;
import io.latchkey.zk.queue.Queue;
import io.latchkey.zk.queue.Tag;
import io.latchkey.zk.recipe.Recipe;
import io.latchkey.zk.recipe.Recipe.Sharing;
import io.latchkey.zk.recipe.Rule;
import io.latchkey.zk.recipe.SemaphoreRules;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The exploration can fail: rules and shells that are wrong are found out, by the law that they break. */
class FaultyExplorationTest {
    @Test
    void watchingTheNodeSoManyPlacesAheadAsThereArePermits() {
        finds("lost wake-up", permits(this::soManyPlacesAhead, 1, 1, 1));
    }

    private Decision soManyPlacesAhead(Queue queue, NodeName me) {
        List<NodeName> before = queue.before(me);
        return mayHold(queue, me)
                ? new Decision.Hold()
                : new Decision.Blocked(List.of(
                        before.get(Math.max(0, before.size() - queue.purpose().capacity()))));
    }

    @Test
    void aCertificateThatDoesNotQuiteBlock() {
        finds("lost wake-up", permits((queue, me) -> certificate(queue, me, nearestFirst(queue, me), 1), 1, 1, 1));
    }

    @Test
    void theOldestPredecessorsForACertificate() {
        Rule oldest = (queue, me) -> certificate(queue, me, queue.before(me), 0);
        finds("too many wake-ups", permits(oldest, 1, 1, 2, 2));
    }

    @Test
    void onePermitTooMany() {
        Rule rule = (queue, me) -> {
            List<String> names = queue.requests().stream().map(NodeName::text).toList();
            Queue larger =
                    Queue.of(names, queue.purpose().resized(queue.purpose().capacity() + 1));
            return Recipe.ruleFor(Tag.LEASE).decide(larger, me);
        };
        finds("exclusion", permits(rule, 1, 1, 1));
    }

    @Test
    void requestsCountedInsteadOfPermits() {
        Rule rule = (queue, me) -> queue.before(me).size() < queue.purpose().capacity()
                ? new Decision.Hold()
                : new Decision.Blocked(queue.before(me));
        finds("exclusion", permits(rule, 1, 2));
    }

    /** As if whoever asks for little could go before one who asks for much. */
    @Test
    void onlyHoldersOfTheSameSizeCounted() {
        Rule rule = (queue, me) -> {
            List<NodeName> alike = queue.before(me).stream()
                    .filter(other -> other.permits() == me.permits())
                    .toList();
            return (alike.size() + 1) * me.permits() <= queue.purpose().capacity()
                    ? new Decision.Hold()
                    : new Decision.Blocked(alike);
        };
        finds("exclusion", permits(rule, 1, 2));
    }

    @Test
    void aRequestForTooMuchThatWaits() {
        Rule rule = (queue, me) -> me.permits() > queue.purpose().capacity()
                ? new Decision.Blocked(queue.before(me))
                : Recipe.ruleFor(Tag.LEASE).decide(queue, me);
        finds("no refusal", permits(rule, 1, 3));
    }

    @Test
    void watchingAnotherNodeForEver() {
        Rule rule = (queue, me) -> new Decision.Blocked(List.of(name(queue, me)));
        finds("a schedule without an end", permits(rule, 1, 1));
    }

    /** A node that never was. */
    private static NodeName name(Queue queue, NodeName me) {
        String never = NodeName.prefix(
                Tag.LEASE, "f".repeat(NodeName.ID_LENGTH), queue.purpose().capacity());
        return NodeName.parse(never + me.text().substring(me.text().length() - 10))
                .orElseThrow();
    }

    @Test
    void nobodyWatchesTheCapacity() {
        finds(
                "lost wake-up",
                permits(Recipe.ruleFor(Tag.LEASE), 1, 1, 1).resizes(1, 3).neglect(Neglect.NO_CAPACITY_WATCH));
    }

    @Test
    void aCapacityOfAnotherMoment() {
        finds(
                "exclusion",
                permits(Recipe.ruleFor(Tag.LEASE), 1, 1, 1).resizes(1, 1).neglect(Neglect.CAPACITY_OF_ANOTHER_MOMENT));
    }

    /** Then it is no news any more when the watch of the other is set. */
    @Test
    void aCapacityReadForOneRequestAndNotToldToTheOther() {
        finds(
                "lost wake-up",
                SemaphoreExplorationTest.together(List.of(List.of(1, 1), List.of(1)))
                        .capacity(1)
                        .resizes(2, 1, 2)
                        .neglect(Neglect.READ_AND_NOT_TOLD));
    }

    @Test
    void aLateMessageOfAWatchThatWasTakenBack() {
        finds(
                "left behind",
                SemaphoreExplorationTest.together(List.of(List.of(1, 1), List.of(1)))
                        .capacity(1)
                        .resizes(1, 2)
                        .neglect(Neglect.LATE_MESSAGE_COUNTS));
    }

    @Test
    void aHolderThatDoesNotTellWhoFollowsIt() {
        Rule line = SemaphoreRules.withCertificatesUpTo(0);
        finds("lost wake-up", permits(line, 1, 1, 1, 1).neglect(Neglect.NO_WORD));
    }

    /** After a shrink a holder looks like one that waits and will tell. */
    @Test
    void aLineThatKnowsThePresentCapacityOnly() {
        Rule line = SemaphoreRules.withCertificatesUpTo(0);
        Rule rule = (queue, me) -> {
            List<String> names = queue.requests().stream().map(NodeName::text).toList();
            return line.decide(
                    Queue.of(names, PathData.semaphore(queue.purpose().capacity())), me);
        };
        finds("lost wake-up", permits(rule, 1, 1, 2).capacity(3).resizes(1, 2));
    }

    @Test
    void lineAfterAShrink_thatFollowsAHolder() {
        Rule line = SemaphoreRules.withCertificatesUpTo(0);
        Scope scope = permits(line, 1, 1, 2).capacity(3).resizes(1, 2);
        finds("lost wake-up", scope.neglect(Neglect.AGE_OF_THE_ONE_AHEAD));
    }

    @Test
    void aMutexWhoseWaitersAllWatchTheHolder() {
        Rule rule = (queue, me) -> queue.before(me).isEmpty()
                ? new Decision.Hold()
                : new Decision.Blocked(List.of(queue.before(me).get(0)));
        finds("exclusion", Scope.of(mutex(rule), mutex(rule), mutex(rule)));
    }

    @Test
    void aWaiterThatDoesNotWatchItsOwnNode() {
        Scope scope = Scope.of(Recipe.MUTEX, Recipe.MUTEX, Recipe.MUTEX)
                .budget(NONE.robberies(1))
                .delay(Delay.RELEASE, Delay.CONFIRMATION);
        finds("exclusion", scope.neglect(Neglect.NO_OWN_WATCH));
    }

    @Test
    void aReaderThatJoinsReadersBeforeAWaitingWriter() {
        Rule rule = (queue, me) -> queue.before(me).stream().allMatch(other -> other.tag() == Tag.READ)
                        || queue.requests().get(0).tag() == Tag.READ
                ? new Decision.Hold()
                : new Decision.Blocked(List.of(queue.requests().get(0)));
        Recipe read = new Recipe(PathData.READ_WRITE, Tag.READ, 1, Sharing.SHARED, rule);
        finds("exclusion", Scope.of(Recipe.WRITE, read, read));
    }

    private static void finds(String law, Scope scope) {
        Scope leaving = scope.budget(scope.budget().cancels(ANY).crashes(1));
        String fault = fault(Explorer.explore(leaving, new Universe(leaving)));
        assertTrue(fault.startsWith(law), fault);
        // The reductions see it, too; as they count steps in another way, another law may be the first that is broken.
        Scope often = scope.budget(scope.budget().cancels(ANY).crashes(ANY));
        fault(Explorer.explore(often, new Histories(often)));
        fault(Trees.explore(often));
    }

    private static String fault(Explorer.Result result) {
        String fault = result.fault().orElseThrow(() -> new AssertionError("not found"));
        assertTrue(fault.contains("\n  1. "), fault);
        return fault;
    }

    private static Scope permits(Rule rule, int... weights) {
        return Scope.of(Arrays.stream(weights)
                        .mapToObj(
                                permits -> new Recipe(PathData.semaphore(2), Tag.LEASE, permits, Sharing.SHARED, rule))
                        .toArray(Recipe[]::new))
                .capacity(2);
    }

    private static Recipe mutex(Rule rule) {
        return new Recipe(PathData.MUTEX, Tag.WRITE, 1, Sharing.EXCLUSIVE, rule);
    }

    private static boolean mayHold(Queue queue, NodeName me) {
        return queue.before(me).stream().mapToInt(NodeName::permits).sum() + me.permits()
                <= queue.purpose().capacity();
    }

    private static List<NodeName> nearestFirst(Queue queue, NodeName me) {
        List<NodeName> before = new ArrayList<>(queue.before(me));
        Collections.reverse(before);
        return before;
    }

    /** Watches of {@code from} until so many permits less than it takes are watched. */
    private static Decision certificate(Queue queue, NodeName me, List<NodeName> from, int less) {
        if (mayHold(queue, me)) {
            return new Decision.Hold();
        }
        List<NodeName> on = new ArrayList<>();
        int watched = me.permits() + less;
        for (int i = 0; watched <= queue.purpose().capacity(); i++) {
            on.add(from.get(i));
            watched += from.get(i).permits();
        }
        return new Decision.Blocked(on);
    }
}
