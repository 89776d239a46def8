// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import static io.latchkey.zk.explore.Explorations.LARGE;
import static io.latchkey.zk.explore.Scope.Budget.ANY;
import static io.latchkey.zk.explore.Scope.Budget.NONE;
import static io.latchkey.zk.recipe.Recipe.MUTEX;
import static io.latchkey.zk.recipe.Recipe.READ;
import static io.latchkey.zk.recipe.Recipe.WRITE;

import io.latchkey.zk.explore.Scope.Budget;
import io.latchkey.zk.explore.Scope.Delay;
import io.latchkey.zk.explore.Scope.Request;
import io.latchkey.zk.explore.Scope.Wish;
import io.latchkey.zk.recipe.Recipe;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** Mutex, read-write lock and requests of several members in every interleaving of small worlds. */
class LocksExplorationTest {
    private static final Budget LEAVE = NONE.cancels(ANY).crashes(ANY);

    private final Explorations explorations;

    LocksExplorationTest(TestReporter reporter) {
        explorations = new Explorations(reporter);
    }

    @Test
    void mutex() {
        explorations.explore(Scope.of(MUTEX, MUTEX, MUTEX, MUTEX).budget(LEAVE));
        explorations.explore(Scope.of(MUTEX, MUTEX, MUTEX).budget(LEAVE.expiries(1)));
        explorations.explore(
                Scope.of(MUTEX, MUTEX).budget(LEAVE.expiries(1).robberies(1)).delay(Delay.values()));
        explorations.covered(20_000, Reached.HANDED_OVER, Reached.SESSION_OVER, Reached.OWN_NODE_GONE);
    }

    /** Who lost its node starts again; nobody takes a mark for its turn that was another's. */
    @Test
    void mutexWhileAnOperatorDeletesNodes() {
        explorations.explore(
                Scope.of(MUTEX, MUTEX, MUTEX).budget(LEAVE.robberies(2)).delay(Delay.CONFIRMATION, Delay.RELEASE));
        explorations.covered(20_000, Reached.HANDED_OVER, Reached.OWN_NODE_GONE);
    }

    @Test
    void readersAndWriters() {
        for (List<Recipe> recipes : List.of(
                List.of(READ, READ, WRITE, WRITE),
                List.of(READ, WRITE, WRITE, WRITE),
                List.of(READ, READ, READ, WRITE))) {
            explorations.explore(Scope.of(recipes.toArray(Recipe[]::new)).budget(LEAVE));
        }
        Scope three = Scope.of(READ, WRITE, WRITE);
        explorations.explore(three.budget(LEAVE.expiries(1)));
        explorations.explore(three.budget(NONE.cancels(ANY).robberies(1)).delay(Delay.CONFIRMATION, Delay.RELEASE));
        if (LARGE) {
            explorations.explore(Scope.of(READ, READ, WRITE, WRITE, WRITE).budget(LEAVE));
        }
        explorations.covered(50_000, Reached.HANDED_OVER, Reached.OWN_NODE_GONE, Reached.SESSION_OVER);
    }

    /** Opposite orders, shared and exclusive members: all are granted in the end. */
    @Test
    void requestsOfSeveralMembersDoNotDeadlock() {
        Wish first = new Wish(0, MUTEX);
        Wish second = new Wish(1, MUTEX);
        explorations.explore(
                multi(List.of(List.of(first, second), List.of(second, first))).budget(LEAVE.expiries(1)));
        explorations.explore(multi(List.of(List.of(first, second), List.of(second, first), List.of(second)))
                .budget(LEAVE));
        Wish read = new Wish(0, READ);
        Wish write = new Wish(0, WRITE);
        Wish one = new Wish(1, Recipe.semaphore(2, 1));
        Wish two = new Wish(1, Recipe.semaphore(2, 2));
        explorations.explore(multi(List.of(List.of(read, one), List.of(two, write)))
                .capacity(2)
                .budget(LEAVE.expiries(1)));
        explorations.explore(multi(List.of(List.of(read, one), List.of(two, write), List.of(one)))
                .capacity(2)
                .budget(NONE.cancels(ANY)));
        explorations.explore(multi(List.of(List.of(first, second), List.of(second, first), List.of(first, second)))
                .budget(LARGE ? LEAVE : NONE)
                .coarse());
        explorations.covered(20_000, Reached.HANDED_OVER, Reached.SESSION_OVER);
    }

    private static Scope multi(List<List<Wish>> requests) {
        return Scope.of(
                requests.stream().map(wishes -> List.of(new Request(wishes))).toList());
    }
}
