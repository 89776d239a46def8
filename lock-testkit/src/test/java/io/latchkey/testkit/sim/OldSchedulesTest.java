// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static io.latchkey.testkit.sim.Move.APPLY;
import static io.latchkey.testkit.sim.Move.BEGIN;
import static io.latchkey.testkit.sim.Move.BREAK;
import static io.latchkey.testkit.sim.Move.CALM;
import static io.latchkey.testkit.sim.Move.CANCEL;
import static io.latchkey.testkit.sim.Move.CONNECT;
import static io.latchkey.testkit.sim.Move.DELETE;
import static io.latchkey.testkit.sim.Move.GO_ON;
import static io.latchkey.testkit.sim.Move.PASS_TIME;
import static io.latchkey.testkit.sim.Move.RELEASE;
import static io.latchkey.testkit.sim.Move.RESIZE;
import static io.latchkey.testkit.sim.Move.STAND_STILL;
import static io.latchkey.testkit.sim.Move.TAKE_MESSAGE;
import static io.latchkey.testkit.sim.Move.TAKE_REQUEST;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * Schedules by which a {@link Swarm} finds a bug of the past, as they were shrunk, and one that it does not come to.
 */
class OldSchedulesTest {
    private static final Task MUTEX =
            new Task(List.of(new LockTarget(Recipe.MUTEX, "/mutex")), new WaitPolicy.Forever());

    private static final Scenario TWO_MUTEXES = new Scenario(
            2,
            2,
            List.of(new Scenario.Plan(0, List.of(MUTEX)), new Scenario.Plan(1, List.of(MUTEX))),
            Scenario.Ends.BY_FORCE,
            2,
            1,
            Scenario.Start.IN_USE);

    private final List<Integer> steps = new ArrayList<>();

    /**
     * C1b's release of two nodes is refused as a whole, since an operator has deleted one of them. C1a, which holds
     * since then, releases before that is known. Its release must not say to C0 that everything before it is gone:
     * C1b's other node is there.
     */
    @Test
    void aReleaseBehindOneThatIsRefusedIsNotMarked() {
        then(BEGIN.of(2), BEGIN.of(1), CALM.of(0), BEGIN.of(0), DELETE.of(2), RELEASE.of(2), RELEASE.of(1));
        Task both = new Task(
                List.of(new LockTarget(Recipe.READ, "/read-write"), new LockTarget(Recipe.MUTEX, "/mutex")),
                new WaitPolicy.Forever());
        List<Scenario.Plan> plans = List.of(
                new Scenario.Plan(0, List.of(MUTEX)),
                new Scenario.Plan(1, List.of(MUTEX)),
                new Scenario.Plan(1, List.of(both)));
        assertBreaksNothing(
                new Schedule(new Scenario(2, 1, plans, Scenario.Ends.BY_FORCE, 1, 0, Scenario.Start.IN_USE), steps));
    }

    /**
     * C0b steps back at the counter's end and watches the path until it is empty. C0a, whose list is older than that
     * watch, leads the line and joins it. What went between the list and the watch no event tells.
     */
    @Test
    void whoLeadsTheLineUnderSomebodyElsesWatchSeesWhatWentBeforeIt() {
        then(BEGIN.of(2), BREAK.of(0), BEGIN.of(0), BEGIN.of(1), TAKE_MESSAGE.of(0), CONNECT.of(0));
        then(TAKE_REQUEST.of(0), APPLY.of(0), TAKE_MESSAGE.of(0), TAKE_REQUEST.of(0), TAKE_REQUEST.of(1), APPLY.of(0));
        then(
                TAKE_MESSAGE.of(0),
                TAKE_REQUEST.of(0),
                TAKE_MESSAGE.of(0),
                APPLY.of(0),
                TAKE_MESSAGE.of(0),
                TAKE_REQUEST.of(0));
        then(
                TAKE_MESSAGE.of(0),
                TAKE_REQUEST.of(0),
                TAKE_REQUEST.of(0),
                TAKE_MESSAGE.of(1),
                TAKE_REQUEST.of(1),
                TAKE_MESSAGE.of(0));
        then(
                TAKE_MESSAGE.of(1),
                TAKE_REQUEST.of(0),
                TAKE_MESSAGE.of(0),
                TAKE_REQUEST.of(1),
                TAKE_MESSAGE.of(1),
                TAKE_REQUEST.of(0));
        then(RELEASE.of(2), TAKE_REQUEST.of(1), TAKE_REQUEST.of(0), TAKE_REQUEST.of(1));
        Task few = new Task(List.of(new LockTarget(Recipe.semaphore(9, 2), "/worn")), new WaitPolicy.Forever());
        Task many = new Task(List.of(new LockTarget(Recipe.semaphore(9, 8), "/worn")), new WaitPolicy.Forever());
        List<Scenario.Plan> plans = List.of(
                new Scenario.Plan(0, List.of(few)),
                new Scenario.Plan(0, List.of(few)),
                new Scenario.Plan(1, List.of(many)));
        assertBreaksNothing(
                new Schedule(new Scenario(2, 1, plans, Scenario.Ends.BY_FORCE, 2, 0, Scenario.Start.WORN_OUT), steps));
    }

    /**
     * The server makes C1's session, and its answer is on its way for two thirds of a time-out; C1's first requests
     * after that for as long again. So the leader has heard of C1 only when it made the session, and ends it right
     * after they have come.
     */
    @Test
    void aWriteBehindSlowAnswersDoesNotProveThatTheSessionLives() {
        then(BREAK.of(2), BEGIN.of(1));
        passTime(1);
        then(TAKE_MESSAGE.of(2));
        passTime(7);
        then(CONNECT.of(2));
        passTime(5);
        then(CONNECT.of(1));
        passTime(3);
        then(CONNECT.of(2));
        passTime(1);
        then(CONNECT.of(1), TAKE_MESSAGE.of(2));
        passTime(5);
        then(TAKE_MESSAGE.of(1));
        passTime(5);
        then(CALM.of(0));
        passTime(1);
        assertBreaksNothing(new Schedule(
                new Scenario(
                        3,
                        1,
                        List.of(new Scenario.Plan(0, List.of()), new Scenario.Plan(1, List.of(MUTEX))),
                        Scenario.Ends.BY_TIME,
                        1,
                        0,
                        Scenario.Start.IN_USE),
                steps));
    }

    /**
     * The same after a reconnect: the barrier that waited for the connection tells how slow it is, though it proves
     * nothing itself.
     */
    @Test
    void aWriteBehindASlowReconnectDoesNotProveThatTheSessionLives() {
        passTime(2);
        then(CALM.of(0));
        passTime(2);
        then(TAKE_REQUEST.of(0));
        passTime(6);
        then(CONNECT.of(2));
        passTime(1);
        then(CONNECT.of(0), CONNECT.of(1), BEGIN.of(0));
        passTime(5);
        then(TAKE_MESSAGE.of(0));
        passTime(7);
        then(CALM.of(0));
        passTime(2);
        assertBreaksNothing(new Schedule(
                new Scenario(
                        3,
                        1,
                        List.of(new Scenario.Plan(0, List.of(MUTEX))),
                        Scenario.Ends.BY_TIME,
                        1,
                        0,
                        Scenario.Start.IN_USE),
                steps));
    }

    /**
     * Two of C3 ask while its connection is lost. The first one's create is carried out late: the second finds its node
     * before the first does, and watches it as one of others. When the first holds it has to tell the second all the
     * same, and so C2.
     */
    @Test
    void whoHoldsTellsTheNeighbourThatFoundItBeforeItWasKnown() {
        then(BEGIN.of(2), BREAK.of(3), TAKE_MESSAGE.of(3), BEGIN.of(0), BEGIN.of(3), CALM.of(0));
        then(BEGIN.of(1), CALM.of(0), RELEASE.of(0));
        List<Scenario.Plan> plans = List.of(
                new Scenario.Plan(0, List.of(permitsOf20(19))),
                new Scenario.Plan(2, List.of(permitsOf20(3))),
                new Scenario.Plan(3, List.of(permitsOf20(8))),
                new Scenario.Plan(3, List.of(permitsOf20(4))));
        assertBreaksNothing(
                new Schedule(new Scenario(4, 1, plans, Scenario.Ends.BY_FORCE, 3, 0, Scenario.Start.IN_USE), steps));
    }

    private static Task permitsOf20(int permits) {
        return new Task(List.of(new LockTarget(Recipe.semaphore(20, permits), "/line")), new WaitPolicy.Forever());
    }

    /**
     * C2 stands still while it has nothing under way, and so pings nobody. When it goes on its session has nearly
     * ended, and its first request comes just in time.
     */
    @Test
    void aWriteAfterAStandstillDoesNotProveThatTheSessionLives() {
        then(STAND_STILL.of(2));
        passTime(6);
        then(GO_ON.of(2), BEGIN.of(0), CALM.of(0));
        passTime(2);
        assertBreaksNothing(new Schedule(
                new Scenario(
                        3,
                        1,
                        List.of(new Scenario.Plan(2, List.of(MUTEX))),
                        Scenario.Ends.BY_TIME,
                        1,
                        0,
                        Scenario.Start.IN_USE),
                steps));
    }

    /**
     * C0b's list is on its way back when C0a gives up, and the watch on the path with it. Before the server hears of
     * that the path changes: the watch fires when C0b has just asked for another one, and C0b gives up as well before
     * that is confirmed. It must be taken back.
     */
    @Test
    void theWordOfAnOlderWatchIsNotTakenForThatOfTheNewOne() {
        then(BEGIN.of(2), CALM.of(0), BEGIN.of(0), CALM.of(0));
        then(BEGIN.of(1), TAKE_REQUEST.of(0), APPLY.of(0), TAKE_REQUEST.of(0));
        then(CANCEL.of(0), RESIZE.of(0, 4), APPLY.of(0));
        then(TAKE_MESSAGE.of(0), TAKE_MESSAGE.of(0), TAKE_MESSAGE.of(0));
        then(CANCEL.of(1));
        Task one = new Task(List.of(new LockTarget(Recipe.semaphore(3, 1), "/semaphore")), new WaitPolicy.Forever());
        Task all = new Task(List.of(new LockTarget(Recipe.semaphore(3, 3), "/semaphore")), new WaitPolicy.Forever());
        List<Scenario.Plan> plans = List.of(
                new Scenario.Plan(0, List.of(one)),
                new Scenario.Plan(0, List.of(one)),
                new Scenario.Plan(1, List.of(all)));
        assertBreaksNothing(
                new Schedule(new Scenario(2, 1, plans, Scenario.Ends.BY_FORCE, 1, 2, Scenario.Start.IN_USE), steps));
    }

    /**
     * C0's create is stuck at a server when C0 moves to the other one. There it asks again, holds and releases, and
     * moves back: now the first create is carried out. The node belongs to no request, and C1 stands behind it.
     */
    @Test
    void aCreateThatIsCarriedOutAfterAMoveBackBlocksNobody() {
        then(BEGIN.of(0), BREAK.of(0), TAKE_MESSAGE.of(0), CONNECT.of(0, 1), CALM.of(0));
        then(RELEASE.of(0), CALM.of(0));
        then(BREAK.of(0), TAKE_MESSAGE.of(0), CONNECT.of(0, 0), CALM.of(0));
        then(BEGIN.of(1), CALM.of(0));
        assertBreaksNothing(new Schedule(TWO_MUTEXES, steps));
    }

    /** The same where C0 has given up before it moves back. */
    @Test
    void aCreateOfATryThatWasGivenUpBlocksNobodyAfterAMoveBack() {
        then(BEGIN.of(0), BREAK.of(0), TAKE_MESSAGE.of(0), CANCEL.of(0), CONNECT.of(0, 1), CALM.of(0));
        then(BREAK.of(0), TAKE_MESSAGE.of(0), CONNECT.of(0, 0), CALM.of(0));
        then(BEGIN.of(1), CALM.of(0));
        assertBreaksNothing(new Schedule(TWO_MUTEXES, steps));
    }

    private void passTime(int times) {
        for (int i = 0; i < times; i++) {
            then(PASS_TIME.of(0));
        }
    }

    private void then(Integer... more) {
        steps.addAll(List.of(more));
    }

    private static void assertBreaksNothing(Schedule schedule) {
        assertEquals(
                Optional.empty(),
                schedule.play(new Reached()).map(Broken::getMessage),
                () -> String.join("\n", schedule.tell()));
    }
}
