// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import static io.latchkey.testkit.sim.Move.APPLY;
import static io.latchkey.testkit.sim.Move.BEGIN;
import static io.latchkey.testkit.sim.Move.BREAK;
import static io.latchkey.testkit.sim.Move.CALM;
import static io.latchkey.testkit.sim.Move.CANCEL;
import static io.latchkey.testkit.sim.Move.CLOSE;
import static io.latchkey.testkit.sim.Move.CONNECT;
import static io.latchkey.testkit.sim.Move.DELETE;
import static io.latchkey.testkit.sim.Move.GO_ON;
import static io.latchkey.testkit.sim.Move.PASS_TIME;
import static io.latchkey.testkit.sim.Move.RELEASE;
import static io.latchkey.testkit.sim.Move.RESIZE;
import static io.latchkey.testkit.sim.Move.STAND_STILL;
import static io.latchkey.testkit.sim.Move.TAKE_MESSAGE;
import static io.latchkey.testkit.sim.Move.TAKE_REQUEST;
import static io.latchkey.testkit.sim.WorldSpec.Ends.BY_FORCE;
import static io.latchkey.testkit.sim.WorldSpec.Start.IN_USE;
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
    private static final LockTarget MUTEX = new LockTarget(Recipe.MUTEX, new LockPath("/mutex"));
    private static final LockTarget READ = new LockTarget(Recipe.READ, new LockPath("/read-write"));

    private final List<Integer> steps = new ArrayList<>();

    private static LockTarget permits(String path, int capacity, int number) {
        return new LockTarget(Recipe.semaphore(capacity, number), new LockPath(path));
    }

    private static WorldSpec.Plan plan(int client, LockTarget... members) {
        return new WorldSpec.Plan(client, List.of(new Task(List.of(members), new WaitPolicy.Forever())));
    }

    /**
     * C1b's release of two nodes is refused as a whole, because an operator has deleted one of them. C1a, which has
     * held since then, releases before that is known. Its release must not tell C0 that all requests ahead are gone:
     * C1b's other node still exists.
     */
    @Test
    void releaseIsNotMarked_behindARefusedRelease() {
        then(BEGIN.of(2), BEGIN.of(1), CALM.of(0), BEGIN.of(0), DELETE.of(2), RELEASE.of(2), RELEASE.of(1));
        List<WorldSpec.Plan> plans = List.of(plan(0, MUTEX), plan(1, MUTEX), plan(1, READ, MUTEX));
        assertBreaksNothing(new WorldSpec(2, 1, plans, BY_FORCE, 1, 0, IN_USE));
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
        List<WorldSpec.Plan> plans = List.of(
                plan(0, permits("/worn", 9, 2)), plan(0, permits("/worn", 9, 2)), plan(1, permits("/worn", 9, 8)));
        assertBreaksNothing(new WorldSpec(2, 1, plans, BY_FORCE, 2, 0, WorldSpec.Start.WORN_OUT));
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
                plan(0, permits("/line", 20, 19)),
                plan(2, permits("/line", 20, 3)),
                plan(3, permits("/line", 20, 8)),
                plan(3, permits("/line", 20, 4)));
        assertBreaksNothing(new WorldSpec(4, 1, plans, BY_FORCE, 3, 0, IN_USE));
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
        assertBreaksNothing(new WorldSpec(3, 1, List.of(plan(2, MUTEX)), WorldSpec.Ends.BY_TIME, 1, 0, IN_USE));
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
        LockTarget one = permits("/semaphore", 3, 1);
        List<WorldSpec.Plan> plans = List.of(plan(0, one), plan(0, one), plan(1, permits("/semaphore", 3, 3)));
        assertBreaksNothing(new WorldSpec(2, 1, plans, BY_FORCE, 1, 2, IN_USE));
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
        assertBreaksNothing(new WorldSpec(2, 2, List.of(plan(0, MUTEX), plan(1, MUTEX)), BY_FORCE, 2, 1, IN_USE));
    }

    /** The same, but C0 has given up before it moves back. */
    @Test
    void lateCreateOfACancelledTry_blocksNoWaiterAfterAMoveBack() {
        then(BEGIN.of(0), BREAK.of(0), TAKE_MESSAGE.of(0), CANCEL.of(0), CONNECT.of(0, 1), CALM.of(0));
        then(BREAK.of(0), TAKE_MESSAGE.of(0), CONNECT.of(0, 0), CALM.of(0));
        then(BEGIN.of(1), CALM.of(0));
        assertBreaksNothing(new WorldSpec(2, 2, List.of(plan(0, MUTEX), plan(1, MUTEX)), BY_FORCE, 2, 1, IN_USE));
    }

    /**
     * C0c waits for a turn of C0b's permits, without a request at the server, since turns come quickly. C0's holders
     * are asked to release as it closes, so no turn comes, and C0c is refused at once.
     */
    @Test
    void waiterForATurnIsRefused_whenItsClientBeginsToClose() {
        then(BEGIN.of(0), BEGIN.of(1), CALM.of(0), RELEASE.of(0), BEGIN.of(2), CLOSE.of(0, 1));
        List<WorldSpec.Plan> plans =
                List.of(plan(0, permits("/few", 2, 1)), plan(0, permits("/few", 2, 1)), plan(0, permits("/few", 2, 1)));
        assertBreaksNothing(new WorldSpec(1, 1, plans, WorldSpec.Ends.BY_TIME_AND_DECREE, 0, 0, IN_USE)
                .withTurns(8)
                .withCloses(1));
    }

    private void passTime(int times) {
        for (int i = 0; i < times; i++) {
            then(PASS_TIME.of(0));
        }
    }

    private void then(Integer... more) {
        steps.addAll(List.of(more));
    }

    private void assertBreaksNothing(WorldSpec spec) {
        Schedule schedule = new Schedule(spec, steps);
        assertEquals(
                Optional.empty(),
                schedule.play(new Coverage()).map(BrokenRuleError::getMessage),
                () -> String.join("\n", schedule.tell()));
    }
}
