// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.acquire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.queue.Tag;
import io.latchkey.zk.internal.recipe.Recipe;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class AcquisitionTest {
    private static final NodeName OTHER =
            NodeName.parse("write-ffffffffffffffff-0000000003").orElseThrow();
    private static final long TOKEN = 77;

    private final List<ReleaseOutcome> outcomes = new ArrayList<>();
    private final Consumer<ReleaseOutcome> told = outcomes::add;

    private final AtomicInteger ids = new AtomicInteger();
    private final Acquisition machine =
            new Acquisition(List.of(Recipe.MUTEX.rule()), () -> String.format("%016x", ids.incrementAndGet()));

    @Test
    void freeLockIsGranted_afterOneList() {
        NodeName mine = enqueued(5);
        assertEquals(List.of(new Command.Confirm()), machine.on(listed(mine)));
        assertEquals(List.of(new Command.StopWatching(), new Command.Grant(TOKEN)), machine.on(new Event.Confirmed()));
        assertEquals(List.of(new Command.LeaveAsHolder(placed(mine), told)), machine.on(new Event.Release(told)));
        assertEquals(State.ENDED, machine.state());
    }

    @Test
    void newPathNeedsNoList() {
        machine.on(new Event.Begin());
        assertEquals(
                List.of(new Command.Arrived(placed(mine(0))), new Command.Confirm()),
                machine.on(new Event.Created(List.of(mine(0)), Set.of(0), TOKEN)));
    }

    @Test
    void releaseAheadHandsOver_withoutAList() {
        waiting();
        assertEquals(List.of(new Command.Confirm()), machine.on(new Event.Unblocked(0)));
    }

    @Test
    void otherDeletionAheadIsNoHandOver() {
        waiting();
        assertEquals(List.of(new Command.ListQueue(0)), machine.on(new Event.LookAgain(0)));
        assertTrue(machine.wantsList(0));
    }

    /** Its position is unknown until the list is read: other requests may be ahead of it now. */
    @Test
    void requestThatReadsTheQueueAgain_isNotUnblocked() {
        waiting();
        machine.on(new Event.LookAgain(0));
        assertEquals(List.of(), machine.on(new Event.Unblocked(0)));
        assertEquals(State.QUEUED, machine.state());
    }

    @Test
    void requestIsMadeAgain_whenItsNodeIsDeletedDuringConfirmation() {
        Stage.CONFIRMING.reach(this);
        String former = machine.id();
        assertTrue(machine.on(new Event.OwnNodeGone(0)).contains(new Command.Enqueue(machine.id())));
        assertNotEquals(former, machine.id());
    }

    @Test
    void requestIsNotGranted_whenTheListLacksItsNode() {
        NodeName mine = enqueued(5);
        String former = machine.id();
        List<Command> commands = machine.on(listed());
        assertNotEquals(former, machine.id());
        assertEquals(
                List.of(new Command.StopWatching(), new Command.Leave(placed(mine)), new Command.Enqueue(machine.id())),
                commands);
    }

    @Test
    void requestBelongsToOneSession() {
        for (Stage stage : Stage.values()) {
            AcquisitionTest fresh = new AcquisitionTest();
            stage.reach(fresh);
            String former = fresh.machine.id();
            List<Command> commands = fresh.machine.on(new Event.SessionOver());
            assertEquals(List.of(new Command.Enqueue(fresh.machine.id())), commands, stage.toString());
            assertNotEquals(former, fresh.machine.id(), stage.toString());
            assertEquals(State.ENQUEUEING, fresh.machine.state(), stage.toString());
        }
    }

    @Test
    void cancelledRequestLeavesNothing_atAnyStage() {
        for (Stage stage : Stage.values()) {
            AcquisitionTest fresh = new AcquisitionTest();
            stage.reach(fresh);
            List<Command> commands = fresh.machine.on(new Event.GiveUp());
            switch (stage) {
                case ENQUEUEING -> {
                    assertEquals(List.of(), commands);
                    NodeName late = fresh.mine(9);
                    assertEquals(List.of(new Command.Leave(placed(late))), fresh.machine.on(created(late)));
                }
                case RECOVERING -> assertEquals(List.of(new Command.Discard(fresh.machine.id())), commands);
                case LISTING, WAITING, CONFIRMING ->
                    assertEquals(
                            List.of(new Command.StopWatching(), new Command.Leave(placed(fresh.mine(5)))), commands);
            }
            assertEquals(State.ENDED, fresh.machine.state(), stage.toString());
        }
    }

    @Test
    void nodeIsFound_whenTheResponseIsLost() {
        machine.on(new Event.Begin());
        assertEquals(List.of(new Command.Recover()), machine.on(new Event.CreateLost()));
        NodeName mine = mine(5);
        assertEquals(
                List.of(
                        new Command.Arrived(placed(mine)),
                        new Command.LookUp(new Placed(0, mine)),
                        new Command.ListQueue(0)),
                machine.on(listed(OTHER, mine)));
        assertEquals(
                List.of(new Command.Watch(0, new Decision.Blocked(List.of(OTHER), true), 1)),
                machine.on(listed(OTHER, mine)));
        assertEquals(List.of(), machine.on(new Event.Found(TOKEN)));
        assertEquals(List.of(new Command.Confirm()), machine.on(new Event.Unblocked(0)));
    }

    @Test
    void requestIsNotGranted_withoutAToken() {
        machine.on(new Event.Begin());
        NodeName mine = mine(5);
        assertEquals(
                List.of(new Command.Arrived(placed(mine)), new Command.LookUp(new Placed(0, mine))),
                machine.on(new Event.Created(List.of(mine), Set.of(), Event.Created.UNKNOWN_TOKEN)));
        assertEquals(List.of(), machine.on(listed(mine)));
        assertEquals(List.of(new Command.Confirm()), machine.on(new Event.Found(TOKEN)));
    }

    @Test
    void creationThatWasNotApplied_isRepeatedWithANewId() {
        machine.on(new Event.Begin());
        machine.on(new Event.CreateLost());
        String former = machine.id();
        List<Command> commands = machine.on(listed(OTHER));
        assertEquals(List.of(new Command.Remember(former), new Command.Enqueue(machine.id())), commands);
        assertNotEquals(former, machine.id());
        machine.on(new Event.CreateLost());
        assertTrue(machine.wantsList(0), "the second create is looked for as well");
    }

    @Test
    void eachQueueIsReadOnce_whenARequestOfTwoMembersRecovers() {
        Acquisition two = new Acquisition(List.of(Recipe.MUTEX.rule(), Recipe.MUTEX.rule()), () -> "0000000000000007");
        two.on(new Event.Begin());
        two.on(new Event.CreateLost());
        assertTrue(two.wantsList(0) && two.wantsList(1));
        assertEquals(List.of(), two.on(listed(OTHER)));
        assertFalse(two.wantsList(0));
        assertTrue(two.wantsList(1));
    }

    /** The queue without it may have been read on a connection before the create was applied. */
    @Test
    void lostCreateIsStillLookedFor_whenOnlyOneOfItsTwoNodesIsFound() {
        Acquisition two = new Acquisition(
                List.of(Recipe.MUTEX.rule(), Recipe.MUTEX.rule()), () -> String.format("%016x", ids.incrementAndGet()));
        two.on(new Event.Begin());
        two.on(new Event.CreateLost());
        String former = two.id();
        NodeName found = NodeName.parse(NodeName.prefix(Tag.WRITE, former, 1) + "0000000005")
                .orElseThrow();
        assertEquals(List.of(), two.on(listed(OTHER)));
        assertEquals(
                List.of(
                        new Command.Leave(List.of(new Placed(1, found))),
                        new Command.Discard(former),
                        new Command.Enqueue("0000000000000002")),
                two.on(new Event.Listed(1, Queue.of(List.of(found.text())))));
    }

    @Test
    void memberIsReady_whenNothingBeforeItKeepsItFromHolding() {
        waiting();
        assertFalse(machine.isReady(0));
        machine.on(new Event.Unblocked(0));
        assertTrue(machine.isReady(0));
    }

    @Test
    void nodeIsKnown_whileItIsThere() {
        assertEquals(Optional.empty(), machine.name(0));
        NodeName mine = held();
        assertEquals(Optional.of(mine), machine.name(0));
        machine.on(new Event.Release(told));
        assertEquals(Optional.empty(), machine.name(0));
    }

    @Test
    void waiterStartsAgain_whenItsNodeIsDeleted() {
        waiting();
        NodeName mine = mine(5);
        List<Command> commands = machine.on(new Event.OwnNodeGone(0));
        assertEquals(
                List.of(new Command.StopWatching(), new Command.Enqueue(machine.id()), new Command.Gone(placed(mine))),
                commands);
    }

    @Test
    void nodeOfADowngradedHolderIsReplaced() {
        NodeName mine = held();
        NodeName shared = NodeName.parse("read-ffffffffffffffff-0000000009").orElseThrow();
        assertEquals(
                List.of(new Command.Arrived(placed(shared)), new Command.Gone(placed(mine))),
                machine.on(new Event.Downgraded(shared)));
        assertEquals(Optional.of(shared), machine.name(0));
    }

    @Test
    void holderLosesOnlyOnce() {
        Map<Event, LossCause> losses = Map.of(
                new Event.Lapsed(), LossCause.DEADLINE_PASSED,
                new Event.OwnNodeGone(0), LossCause.NODE_DELETED,
                new Event.SessionOver(), LossCause.SESSION_EXPIRED);
        losses.forEach((loss, cause) -> {
            AcquisitionTest fresh = new AcquisitionTest();
            NodeName mine = fresh.held();
            List<Command> commands = fresh.machine.on(loss);
            assertEquals(new Command.Lose(cause), commands.get(0));
            assertEquals(
                    loss instanceof Event.Lapsed,
                    commands.contains(new Command.Leave(placed(mine))),
                    "a lapsed holder's node may live on and must go, without a mark");
            assertEquals(
                    loss instanceof Event.OwnNodeGone,
                    commands.contains(new Command.Gone(placed(mine))),
                    "a node that another client deleted is gone; those of a session that is over are not asked for");
            assertThrows(IllegalStateException.class, () -> fresh.machine.on(new Event.Release(told)));
        });
    }

    @Test
    void requestWithdrawsAndWaitsForANewPath_nearTheEndOfTheCounter() {
        machine.on(new Event.Begin());
        NodeName late = mine(Integer.MAX_VALUE);
        assertEquals(List.of(new Command.Leave(placed(late)), new Command.Drain(0, TOKEN)), machine.on(created(late)));
        List<Command> commands = machine.on(new Event.Drained());
        assertEquals(List.of(new Command.Enqueue(machine.id())), commands);
    }

    @Test
    void eventWithoutAnEdge_throws() {
        IllegalStateException refused =
                assertThrows(IllegalStateException.class, () -> machine.on(new Event.Confirmed()));
        assertTrue(refused.getMessage().contains("NEW"), refused.getMessage());
    }

    /** Events that can occur at any time have an edge from every state in which they can occur. */
    @Test
    void everyStateHasAnEdge_whenTheCallerOrTheSessionEnds() {
        for (State state : State.values()) {
            boolean over = state == State.ENDED;
            boolean unsent = state == State.NEW;
            boolean givesUp = state != State.HELD && !over;
            assertEquals(givesUp, hasEdge(state, Event.GiveUp.class), state + " GiveUp");
            assertEquals(!over && !unsent, hasEdge(state, Event.SessionOver.class), state + " SessionOver");
        }
        assertFalse(Acquisition.EDGES.isEmpty());
    }

    private static boolean hasEdge(State from, Class<? extends Event> event) {
        return Acquisition.EDGES.stream().anyMatch(e -> e.from() == from && e.event() == event);
    }

    /** The stages of a request before it holds. */
    private enum Stage {
        ENQUEUEING,
        RECOVERING,
        LISTING,
        WAITING,
        CONFIRMING;

        void reach(AcquisitionTest test) {
            switch (this) {
                case ENQUEUEING -> test.machine.on(new Event.Begin());
                case RECOVERING -> {
                    ENQUEUEING.reach(test);
                    test.machine.on(new Event.CreateLost());
                }
                case LISTING -> test.enqueued(5);
                case WAITING -> test.waiting();
                case CONFIRMING -> {
                    WAITING.reach(test);
                    test.machine.on(new Event.Unblocked(0));
                }
            }
            State reached =
                    switch (this) {
                        case LISTING, WAITING -> State.QUEUED;
                        case ENQUEUEING, RECOVERING, CONFIRMING -> State.valueOf(name());
                    };
            assertEquals(reached, test.machine.state());
            assertEquals(this == LISTING || this == RECOVERING, test.machine.wantsList(0));
        }
    }

    private NodeName enqueued(int sequence) {
        machine.on(new Event.Begin());
        NodeName mine = mine(sequence);
        assertEquals(List.of(new Command.Arrived(placed(mine))), machine.on(created(mine)));
        return mine;
    }

    private void waiting() {
        NodeName mine = enqueued(5);
        assertEquals(
                List.of(new Command.Watch(0, new Decision.Blocked(List.of(OTHER), true), 1)),
                machine.on(listed(OTHER, mine)));
    }

    private NodeName held() {
        NodeName mine = enqueued(5);
        machine.on(listed(mine));
        machine.on(new Event.Confirmed());
        return mine;
    }

    private NodeName mine(int sequence) {
        return NodeName.parse(NodeName.prefix(Tag.WRITE, machine.id(), 1) + String.format("%010d", sequence))
                .orElseThrow();
    }

    private static Event listed(NodeName... names) {
        return new Event.Listed(
                0, Queue.of(Arrays.stream(names).map(NodeName::text).toList()));
    }

    private static Event created(NodeName name) {
        return new Event.Created(List.of(name), Set.of(), TOKEN);
    }

    private static List<Placed> placed(NodeName name) {
        return List.of(new Placed(0, name));
    }
}
