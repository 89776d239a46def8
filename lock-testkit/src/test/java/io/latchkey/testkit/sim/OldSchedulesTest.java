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

import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Shrunk schedules by which a {@link Swarm} found bugs of the past, and one that it cannot reach. */
class OldSchedulesTest {
    private static final Task MUTEX =
            new Task(List.of(new LockTarget(Recipe.MUTEX, new LockPath("/mutex"))), new WaitPolicy.Forever());

    private static final WorldSpec TWO_MUTEXES = new WorldSpec(
            2,
            2,
            List.of(new WorldSpec.Plan(0, List.of(MUTEX)), new WorldSpec.Plan(1, List.of(MUTEX))),
            WorldSpec.Ends.BY_FORCE,
            2,
            1,
            WorldSpec.Start.IN_USE);

    private final List<Integer> steps = new ArrayList<>();

    /**
     * C1b's release of two nodes is refused as a whole, because an operator has deleted one of them. C1a, which has
     * held since then, releases before that is known. Its release must not tell C0 that all requests ahead are gone:
     * C1b's other node still exists.
     */
    @Test
    void releaseIsNotMarked_behindARefusedRelease() {
        then(BEGIN.of(2), BEGIN.of(1), CALM.of(0), BEGIN.of(0), DELETE.of(2), RELEASE.of(2), RELEASE.of(1));
        Task both = new Task(
                List.of(
                        new LockTarget(Recipe.READ, new LockPath("/read-write")),
                        new LockTarget(Recipe.MUTEX, new LockPath("/mutex"))),
                new WaitPolicy.Forever());
        List<WorldSpec.Plan> plans = List.of(
                new WorldSpec.Plan(0, List.of(MUTEX)),
                new WorldSpec.Plan(1, List.of(MUTEX)),
                new WorldSpec.Plan(1, List.of(both)));
        assertBreaksNothing(
                new Schedule(new WorldSpec(2, 1, plans, WorldSpec.Ends.BY_FORCE, 1, 0, WorldSpec.Start.IN_USE), steps));
    }

    /**
     * C0b steps back at the end of the counter and watches the path until it is empty. C0a, whose list is older than
     * that watch, is the first waiter of the chain and shares the watch. No event reports the changes between the list
     * and the watch.
     */
    @Test
    void firstWaiterOfTheChain_noticesDeletionsBeforeASharedWatch() {
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
        Task few = new Task(
                List.of(new LockTarget(Recipe.semaphore(9, 2), new LockPath("/worn"))), new WaitPolicy.Forever());
        Task many = new Task(
                List.of(new LockTarget(Recipe.semaphore(9, 8), new LockPath("/worn"))), new WaitPolicy.Forever());
        List<WorldSpec.Plan> plans = List.of(
                new WorldSpec.Plan(0, List.of(few)),
                new WorldSpec.Plan(0, List.of(few)),
                new WorldSpec.Plan(1, List.of(many)));
        assertBreaksNothing(new Schedule(
                new WorldSpec(2, 1, plans, WorldSpec.Ends.BY_FORCE, 2, 0, WorldSpec.Start.WORN_OUT), steps));
    }

    /**
     * C3 makes two requests while its connection is lost. The create of the first is executed late: the second request
     * finds that node before the first does, and watches it as a foreign one. When the first request is granted, it
     * must still notify the second, and so C2.
     */
    @Test
    void holderNotifiesANeighbour_thatFoundItsNodeFirst() {
        then(BEGIN.of(2), BREAK.of(3), TAKE_MESSAGE.of(3), BEGIN.of(0), BEGIN.of(3), CALM.of(0));
        then(BEGIN.of(1), CALM.of(0), RELEASE.of(0));
        List<WorldSpec.Plan> plans = List.of(
                new WorldSpec.Plan(0, List.of(permitsOf20(19))),
                new WorldSpec.Plan(2, List.of(permitsOf20(3))),
                new WorldSpec.Plan(3, List.of(permitsOf20(8))),
                new WorldSpec.Plan(3, List.of(permitsOf20(4))));
        assertBreaksNothing(
                new Schedule(new WorldSpec(4, 1, plans, WorldSpec.Ends.BY_FORCE, 3, 0, WorldSpec.Start.IN_USE), steps));
    }

    private static Task permitsOf20(int permits) {
        return new Task(
                List.of(new LockTarget(Recipe.semaphore(20, permits), new LockPath("/line"))),
                new WaitPolicy.Forever());
    }

    /**
     * C2 stands still while it has no request in flight, and sends no ping. When it runs again, its session has nearly
     * expired, and its first request arrives just in time.
     */
    @Test
    void writeProvesNoValidity_afterAStandstill() {
        then(STAND_STILL.of(2));
        passTime(6);
        then(GO_ON.of(2), BEGIN.of(0), CALM.of(0));
        passTime(2);
        assertBreaksNothing(new Schedule(
                new WorldSpec(
                        3,
                        1,
                        List.of(new WorldSpec.Plan(2, List.of(MUTEX))),
                        WorldSpec.Ends.BY_TIME,
                        1,
                        0,
                        WorldSpec.Start.IN_USE),
                steps));
    }

    /**
     * C0b's list and its watch on the path are in transit when C0a gives up. Before the server learns of that, the path
     * changes: the watch fires when C0b has just asked for another one, and C0b also gives up before that is confirmed.
     * The watch must be removed.
     */
    @Test
    void eventOfAnOlderWatch_doesNotCountForTheNewOne() {
        then(BEGIN.of(2), CALM.of(0), BEGIN.of(0), CALM.of(0));
        then(BEGIN.of(1), TAKE_REQUEST.of(0), APPLY.of(0), TAKE_REQUEST.of(0));
        then(CANCEL.of(0), RESIZE.of(0, 4), APPLY.of(0));
        then(TAKE_MESSAGE.of(0), TAKE_MESSAGE.of(0), TAKE_MESSAGE.of(0));
        then(CANCEL.of(1));
        Task one = new Task(
                List.of(new LockTarget(Recipe.semaphore(3, 1), new LockPath("/semaphore"))), new WaitPolicy.Forever());
        Task all = new Task(
                List.of(new LockTarget(Recipe.semaphore(3, 3), new LockPath("/semaphore"))), new WaitPolicy.Forever());
        List<WorldSpec.Plan> plans = List.of(
                new WorldSpec.Plan(0, List.of(one)),
                new WorldSpec.Plan(0, List.of(one)),
                new WorldSpec.Plan(1, List.of(all)));
        assertBreaksNothing(
                new Schedule(new WorldSpec(2, 1, plans, WorldSpec.Ends.BY_FORCE, 1, 2, WorldSpec.Start.IN_USE), steps));
    }

    /**
     * C0's create is stuck at a server when C0 moves to the other one. There it asks again, holds and releases, and
     * moves back: now the first create is executed. The node belongs to no request, and C1 waits behind it.
     */
    @Test
    void lateCreateBlocksNoWaiter_afterAMoveBack() {
        then(BEGIN.of(0), BREAK.of(0), TAKE_MESSAGE.of(0), CONNECT.of(0, 1), CALM.of(0));
        then(RELEASE.of(0), CALM.of(0));
        then(BREAK.of(0), TAKE_MESSAGE.of(0), CONNECT.of(0, 0), CALM.of(0));
        then(BEGIN.of(1), CALM.of(0));
        assertBreaksNothing(new Schedule(TWO_MUTEXES, steps));
    }

    /** The same, but C0 has given up before it moves back. */
    @Test
    void lateCreateOfACancelledTry_blocksNoWaiterAfterAMoveBack() {
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
