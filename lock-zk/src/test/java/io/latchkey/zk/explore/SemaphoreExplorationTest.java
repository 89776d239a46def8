// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import static io.latchkey.zk.explore.Explorations.LARGE;
import static io.latchkey.zk.explore.Explorations.weights;
import static io.latchkey.zk.explore.Scope.Budget.ANY;
import static io.latchkey.zk.explore.Scope.Budget.NONE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.zk.explore.Scope.Budget;
import io.latchkey.zk.explore.Scope.Delay;
import io.latchkey.zk.explore.Scope.Neglect;
import io.latchkey.zk.explore.Scope.Request;
import io.latchkey.zk.explore.Scope.Wish;
import io.latchkey.zk.recipe.Recipe;
import io.latchkey.zk.recipe.Rule;
import io.latchkey.zk.recipe.SemaphoreRules;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/**
 * The three obligations of protocol section 5, in every interleaving of small worlds: {@link Laws} says what they are,
 * {@link Shell} and {@link Universe} what there is, {@link Scope.Delay} what is a step.
 */
@Tag("once")
@Tag("long")
class SemaphoreExplorationTest {
    private static final Budget LEAVE = NONE.cancels(ANY).crashes(ANY);

    private final Explorations explorations;

    SemaphoreExplorationTest(TestReporter reporter) {
        explorations = new Explorations(reporter);
    }

    @Test
    void threeRequestsOfAnyWeightsLeaveAsTheyLikeWhileTheCapacityChangesOnce() {
        for (int capacity = 1; capacity <= 3; capacity++) {
            for (Recipe[] recipes : weights(3, capacity)) {
                explorations.explore(
                        Scope.of(recipes).capacity(capacity).resizes(1, 1, 2, 3).budget(LEAVE));
            }
        }
        explorations.covered(
                500_000,
                Reached.GRANTED,
                Reached.WAITED,
                Reached.REFUSED,
                Reached.GAVE_UP,
                Reached.ABANDONED,
                Reached.HELD_BACK,
                Reached.NOT_THERE,
                Reached.NEWS,
                Reached.RESIZED);
    }

    @Test
    void theCapacityChangesTwice() {
        for (int capacity = LARGE ? 1 : 2; capacity <= (LARGE ? 3 : 2); capacity++) {
            for (Recipe[] recipes : LARGE ? weights(3, capacity) : List.<Recipe[]>of(permits(2, 1, 1, 2))) {
                explorations.explore(
                        Scope.of(recipes).capacity(capacity).resizes(2, 1, 2, 3).budget(LEAVE));
            }
        }
        explorations.covered(100_000, Reached.LISTED_AGAIN, Reached.NEWS, Reached.REFUSED);
    }

    @Test
    void fourRequests() {
        for (int capacity = 1; capacity <= 3; capacity++) {
            for (Recipe[] recipes : weights(4, capacity)) {
                Scope scope = Scope.of(recipes).capacity(capacity).budget(LEAVE);
                explorations.explore(scope);
                if (LARGE) {
                    explorations.explore(scope.resizes(1, 1, 2, 3));
                }
            }
        }
        explorations.covered(400_000, Reached.REFUSED, Reached.NOT_THERE);
    }

    /**
     * The server takes a create with its list in one step, and all watches of a certificate. What can happen in between
     * is explored with fewer requests; between a list and the watches that follow from it everything happens here, too.
     */
    @Test
    void fourRequestsInCoarseStepsWhileTheCapacityChanges() {
        for (Recipe[] recipes : LARGE ? weights(4, 2) : List.<Recipe[]>of(permits(2, 1, 1, 1, 2))) {
            Scope scope = Scope.of(recipes).capacity(2).budget(LEAVE).coarse();
            explorations.explore(scope.resizes(1, 1, 3));
            if (LARGE) {
                explorations.explore(scope.resizes(2, 1, 2, 3));
            }
        }
        explorations.covered(50_000, Reached.HELD_BACK, Reached.NEWS);
    }

    /** The whole of it: every capacity, every choice of weights, whoever leaves when, while the capacity changes twice. */
    @Test
    void fiveRequestsWhileTheCapacityChanges() {
        for (int capacity = LARGE ? 1 : 3; capacity <= 3; capacity++) {
            for (Recipe[] recipes :
                    LARGE ? weights(5, capacity) : List.<Recipe[]>of(permits(capacity, 1, 1, 1, 2, 3))) {
                Scope scope = Scope.of(recipes).capacity(capacity).budget(LEAVE);
                explorations.exploreTrees(scope.resizes(LARGE ? 2 : 1, 1, 2, 3));
            }
        }
        explorations.covered(1_000, Reached.NOT_THERE, Reached.ABANDONED, Reached.HELD_BACK, Reached.NEWS);
    }

    @Test
    void fiveRequests() {
        explorations.explore(
                Scope.of(permits(3, 1, 1, 1, 2, 3)).capacity(3).budget(LEAVE).coarse());
        explorations.covered(200_000, Reached.NOT_THERE, Reached.ABANDONED);
    }

    /** Whose session ends goes on in the next, behind its own ghost or not. */
    @Test
    void sessionsExpire() {
        explorations.explore(Scope.of(permits(2, 1, 1, 2)).capacity(2).budget(LEAVE.expiries(2)));
        if (LARGE) {
            for (Recipe[] recipes : weights(3, 2)) {
                explorations.explore(
                        Scope.of(recipes).capacity(2).resizes(1, 1, 3).budget(LEAVE.expiries(1)));
            }
        }
        explorations.covered(30_000, Reached.SESSION_OVER);
    }

    /** Nothing happens at once here: messages wait in both pipes, grants for their confirmation, holders hold on. */
    @Test
    void everythingTakesItsTime() {
        for (Recipe[] recipes : List.<Recipe[]>of(permits(2, 1, 2), permits(2, 2, 2))) {
            Scope scope = Scope.of(recipes).capacity(2).budget(LEAVE).delay(Delay.values());
            explorations.explore(scope.resizes(LARGE ? 2 : 1, 1, 2, 3).budget(LEAVE.expiries(1)));
            explorations.explore(scope.resizes(2, 1, 2, 3));
        }
        explorations.explore(
                Scope.of(permits(2, 1, 1, 2)).capacity(2).budget(LEAVE).delay(Delay.values()));
        if (LARGE) {
            for (Recipe[] recipes : weights(3, 2)) {
                explorations.explore(Scope.of(recipes)
                        .capacity(2)
                        .resizes(1, 1, 3)
                        .budget(LEAVE)
                        .delay(Delay.DELIVERY, Delay.CONFIRMATION, Delay.RELEASE));
            }
        }
        explorations.covered(100_000, Reached.GRANTED, Reached.LISTED_AGAIN, Reached.SESSION_OVER);
    }

    /** What the delays say of themselves, tried: without them the same outcomes are found. */
    @Test
    void whatHappensAtOnceLeadsToTheSameAsWhatHappensLater() {
        for (Scope scope : List.of(
                Scope.of(permits(2, 1, 1, 2)).capacity(2).budget(LEAVE),
                Scope.of(permits(2, 1, 2)).capacity(2).resizes(2, 1, 2, 3).budget(LEAVE),
                Scope.of(permits(2, 1, 1, 1)).capacity(2).resizes(1, 1, 3).budget(NONE))) {
            Set<Object> outcomes = Explorer.outcomes(scope);
            assertTrue(outcomes.size() > 50, () -> outcomes.size() + " outcomes");
            assertEquals(outcomes, Explorer.outcomes(scope.delay(Delay.DELIVERY)));
            assertEquals(outcomes, Explorer.outcomes(scope.delay(Delay.TRIFLES)));
        }
    }

    /** The rule for many permits, tried with few; and both rules in turn, as the capacity passes the border. */
    @Test
    void aLineInsteadOfCertificates() {
        for (int border = 0; border <= (LARGE ? 2 : 1); border++) {
            Rule line = SemaphoreRules.withCertificatesUpTo(border);
            for (Recipe[] recipes : weights(3, 2, line)) {
                Scope scope = Scope.of(recipes).capacity(2).budget(LEAVE);
                explorations.explore(scope.resizes(LARGE ? 2 : 1, 1, 2, 3));
            }
            for (Recipe[] recipes : LARGE ? weights(4, 2, line) : List.<Recipe[]>of()) {
                explorations.explore(Scope.of(recipes).capacity(2).budget(LEAVE).resizes(1, 1, 3));
            }
        }
        Rule line = SemaphoreRules.withCertificatesUpTo(0);
        for (Recipe[] recipes :
                LARGE ? weights(4, 3, line) : weights(4, 3, line).subList(0, 2)) {
            explorations.explore(Scope.of(recipes).capacity(3).budget(LEAVE));
        }
        explorations.covered(
                300_000,
                Reached.WORD,
                Reached.WORD_SEEN,
                Reached.LEADS_BEHIND_AN_OLDER,
                Reached.MOVED,
                Reached.CHILDREN_SEEN,
                Reached.NEWS);
    }

    @Test
    void requestsOfOneSession() {
        Scope together = together(List.of(List.of(1, 1), List.of(2))).capacity(2);
        explorations.explore(together.resizes(1, 1, 3).budget(NONE.cancels(ANY)));
        explorations.explore(
                together(List.of(List.of(1, 2), List.of(1))).capacity(2).budget(LEAVE.expiries(1)));
        explorations.explore(
                together(List.of(List.of(2, 2))).capacity(1).resizes(2, 1, 2, 3).budget(LEAVE));
        if (LARGE) {
            explorations.explore(together.resizes(2, 1, 2, 3).budget(LEAVE));
            explorations.explore(together(List.of(List.of(1, 1), List.of(1, 2)))
                    .capacity(2)
                    .resizes(1, 1, 3)
                    .budget(LEAVE));
        }
        explorations.covered(35_000, Reached.NEWS);
    }

    /** With a session for each request there is nobody else to be told. */
    @Test
    void aCapacityReadForTheOnlyRequest() {
        explorations.explore(Scope.of(permits(2, 1, 1, 2))
                .capacity(2)
                .resizes(2, 1, 2, 3)
                .budget(NONE.cancels(ANY))
                .neglect(Neglect.READ_AND_NOT_TOLD));
        explorations.covered(30_000, Reached.RESIZED);
    }

    private static Recipe[] permits(int declared, int... weights) {
        return Arrays.stream(weights)
                .mapToObj(permits -> Recipe.semaphore(declared, permits))
                .toArray(Recipe[]::new);
    }

    /** Of each session the permits that its requests ask for. */
    static Scope together(List<List<Integer>> sessions) {
        return Scope.of(sessions.stream()
                        .map(weights -> weights.stream()
                                .map(permits -> new Request(List.of(new Wish(0, Recipe.semaphore(2, permits)))))
                                .toList())
                        .toList())
                .delay(Delay.RELEASE);
    }
}
