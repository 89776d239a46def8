// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.acquire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.acquire.Command.Shell;
import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.queue.Tag;
import io.latchkey.zk.internal.recipe.Recipe;
import java.lang.reflect.Proxy;
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
        assertEquals(calls(Shell::confirm), calls(machine.on(listed(mine))));
        assertEquals(calls(Shell::stopWatching, shell -> shell.grant(TOKEN)), calls(machine.on(new Event.Confirmed())));
        assertEquals(
                calls(shell -> shell.leaveAsHolder(nodes(mine), told)), calls(machine.on(new Event.Release(told))));
        assertEquals(State.ENDED, machine.state());
    }

    @Test
    void newPathNeedsNoList() {
        machine.on(new Event.Begin());
        assertEquals(
                calls(shell -> shell.arrived(nodes(mine(0))), Shell::confirm),
                calls(machine.on(new Event.Created(List.of(mine(0)), Set.of(0), TOKEN))));
    }

    @Test
    void releaseAheadHandsOver_withoutAList() {
        waiting();
        assertEquals(calls(Shell::confirm), calls(machine.on(new Event.Unblocked(0))));
    }

    @Test
    void otherDeletionAheadIsNoHandOver() {
        waiting();
        assertEquals(calls(shell -> shell.listQueue(0)), calls(machine.on(new Event.LookAgain(0))));
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
        assertTrue(calls(machine.on(new Event.OwnNodeGone(0))).containsAll(calls(Shell::enqueue)));
        assertNotEquals(former, machine.id());
    }

    @Test
    void requestIsNotGranted_whenTheListLacksItsNode() {
        NodeName mine = enqueued(5);
        String former = machine.id();
        List<String> commands = calls(machine.on(listed()));
        assertNotEquals(former, machine.id());
        assertEquals(calls(Shell::stopWatching, shell -> shell.leave(nodes(mine)), Shell::enqueue), commands);
    }

    @Test
    void requestBelongsToOneSession() {
        for (Stage stage : Stage.values()) {
            AcquisitionTest fresh = new AcquisitionTest();
            stage.reach(fresh);
            String former = fresh.machine.id();
            List<String> commands = calls(fresh.machine.on(new Event.SessionOver()));
            assertEquals(calls(Shell::enqueue), commands, stage.toString());
            assertNotEquals(former, fresh.machine.id(), stage.toString());
            assertEquals(State.ENQUEUEING, fresh.machine.state(), stage.toString());
        }
    }

    @Test
    void cancelledRequestLeavesNothing_atAnyStage() {
        for (Stage stage : Stage.values()) {
            AcquisitionTest fresh = new AcquisitionTest();
            stage.reach(fresh);
            List<String> commands = calls(fresh.machine.on(new Event.GiveUp()));
            switch (stage) {
                case ENQUEUEING -> {
                    assertEquals(List.of(), commands);
                    NodeName late = fresh.mine(9);
                    assertEquals(calls(shell -> shell.leave(nodes(late))), calls(fresh.machine.on(created(late))));
                }
                case RECOVERING -> assertEquals(calls(shell -> shell.discard(fresh.machine.id())), commands);
                case LISTING, WAITING, CONFIRMING ->
                    assertEquals(calls(Shell::stopWatching, shell -> shell.leave(nodes(fresh.mine(5)))), commands);
            }
            assertEquals(State.ENDED, fresh.machine.state(), stage.toString());
        }
    }

    @Test
    void nodeIsFound_whenTheResponseIsLost() {
        machine.on(new Event.Begin());
        assertEquals(calls(Shell::recover), calls(machine.on(new Event.CreateLost())));
        NodeName mine = mine(5);
        assertEquals(
                calls(
                        shell -> shell.arrived(nodes(mine)),
                        shell -> shell.lookUp(new MemberNode(0, mine)),
                        shell -> shell.listQueue(0)),
                calls(machine.on(listed(OTHER, mine))));
        assertEquals(
                calls(shell -> shell.watch(0, new Decision.Blocked(List.of(OTHER), true), 1)),
                calls(machine.on(listed(OTHER, mine))));
        assertEquals(List.of(), machine.on(new Event.Found(TOKEN)));
        assertEquals(calls(Shell::confirm), calls(machine.on(new Event.Unblocked(0))));
    }

    @Test
    void requestIsNotGranted_withoutAToken() {
        machine.on(new Event.Begin());
        NodeName mine = mine(5);
        assertEquals(
                calls(shell -> shell.arrived(nodes(mine)), shell -> shell.lookUp(new MemberNode(0, mine))),
                calls(machine.on(new Event.Created(List.of(mine), Set.of(), Event.Created.UNKNOWN_TOKEN))));
        assertEquals(List.of(), machine.on(listed(mine)));
        assertEquals(calls(Shell::confirm), calls(machine.on(new Event.Found(TOKEN))));
    }

    @Test
    void creationThatWasNotApplied_isRepeatedWithANewId() {
        machine.on(new Event.Begin());
        machine.on(new Event.CreateLost());
        String former = machine.id();
        List<String> commands = calls(machine.on(listed(OTHER)));
        assertEquals(calls(shell -> shell.remember(former), Shell::enqueue), commands);
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
                calls(
                        shell -> shell.leave(List.of(new MemberNode(1, found))),
                        shell -> shell.discard(former),
                        Shell::enqueue),
                calls(two.on(new Event.Listed(1, Queue.of(List.of(found.text()))))));
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
        List<String> commands = calls(machine.on(new Event.OwnNodeGone(0)));
        assertEquals(calls(Shell::stopWatching, Shell::enqueue, shell -> shell.gone(nodes(mine))), commands);
    }

    @Test
    void nodeOfADowngradedHolderIsReplaced() {
        NodeName mine = held();
        NodeName shared = NodeName.parse("read-ffffffffffffffff-0000000009").orElseThrow();
        assertEquals(
                calls(shell -> shell.arrived(nodes(shared)), shell -> shell.gone(nodes(mine))),
                calls(machine.on(new Event.Downgraded(shared))));
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
            List<String> commands = calls(fresh.machine.on(loss));
            assertEquals(calls(shell -> shell.lose(cause)), commands.subList(0, 1));
            assertEquals(
                    loss instanceof Event.Lapsed,
                    commands.containsAll(calls(shell -> shell.leave(nodes(mine)))),
                    "a lapsed holder's node may live on and must go, without a mark");
            assertEquals(
                    loss instanceof Event.OwnNodeGone,
                    commands.containsAll(calls(shell -> shell.gone(nodes(mine)))),
                    "a node that another client deleted is gone; those of a session that is over are not asked for");
            assertThrows(IllegalStateException.class, () -> fresh.machine.on(new Event.Release(told)));
        });
    }

    @Test
    void requestWithdrawsAndWaitsForANewPath_nearTheEndOfTheCounter() {
        machine.on(new Event.Begin());
        NodeName late = mine(Integer.MAX_VALUE);
        assertEquals(
                calls(shell -> shell.leave(nodes(late)), shell -> shell.renew(0, TOKEN)),
                calls(machine.on(created(late))));
        List<String> commands = calls(machine.on(new Event.Renewed()));
        assertEquals(calls(Shell::enqueue), commands);
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

    /** What the commands ask for: methods and arguments. */
    private static List<String> calls(Command... commands) {
        return calls(List.of(commands));
    }

    private static List<String> calls(List<Command> commands) {
        List<String> calls = new ArrayList<>();
        Shell shell = (Shell) Proxy.newProxyInstance(
                Shell.class.getClassLoader(), new Class<?>[] {Shell.class}, (proxy, method, arguments) -> {
                    calls.add(method.getName() + Arrays.toString(arguments));
                    return null;
                });
        commands.forEach(command -> command.carryOut(shell));
        return calls;
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
        assertEquals(calls(shell -> shell.arrived(nodes(mine))), calls(machine.on(created(mine))));
        return mine;
    }

    private void waiting() {
        NodeName mine = enqueued(5);
        assertEquals(
                calls(shell -> shell.watch(0, new Decision.Blocked(List.of(OTHER), true), 1)),
                calls(machine.on(listed(OTHER, mine))));
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

    private static List<MemberNode> nodes(NodeName name) {
        return List.of(new MemberNode(0, name));
    }
}
