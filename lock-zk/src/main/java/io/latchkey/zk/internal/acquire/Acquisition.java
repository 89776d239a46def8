// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.acquire;

import static io.latchkey.zk.internal.acquire.State.ABANDONING;
import static io.latchkey.zk.internal.acquire.State.CONFIRMING;
import static io.latchkey.zk.internal.acquire.State.ENDED;
import static io.latchkey.zk.internal.acquire.State.ENQUEUEING;
import static io.latchkey.zk.internal.acquire.State.HELD;
import static io.latchkey.zk.internal.acquire.State.NEW;
import static io.latchkey.zk.internal.acquire.State.QUEUED;
import static io.latchkey.zk.internal.acquire.State.RECOVERING;
import static io.latchkey.zk.internal.acquire.State.RENEWING;

import io.latchkey.lock.LossCause;
import io.latchkey.zk.internal.acquire.Command.Shell;
import io.latchkey.zk.internal.acquire.Event.Created;
import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.recipe.Rule;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of one request, from the call to its end, without I/O: {@link Event}s in, {@link Command}s out.
 * {@link #EDGES} is the complete table; an event without an edge from the current state is a bug in the shell and
 * throws. A request has one or more members, each in a queue of its own. One transaction creates all its nodes, and one
 * deletes them.
 *
 * <p>Why a grant is safe (docs/protocol.md, "Holding rule"). A member becomes ready in one of four ways. Each proves
 * that no node before its own keeps it from holding:
 *
 * <ul>
 *   <li>the rule's decision on a queue that contains the node, read after the node was created in this session;
 *   <li>the release of the exclusive holder that is the last to exclude it: within this client, or as the pair of
 *       events that only a release makes;
 *   <li>the deletion, for whatever reason, of the only node that such a queue shows in its way, unless another node may
 *       have taken its place;
 *   <li>a path that was created in the same transaction.
 * </ul>
 *
 * <p>The second and the third are the event {@code Unblocked}. An event of the server is one only while a watch shows
 * that the member's own node is there.
 *
 * <p>Later requests are behind, and only a downgrade puts a node into an earlier place: that of its own writer. So the
 * proof stays true as long as the node exists; shrinking a semaphore takes nothing from a request that may hold already.
 * The node ends with its session, or another client deletes it: hence the confirmation before the grant, of the
 * session's validity and, where needed, of nodes ({@link Shell#confirm}). As nodes end with their session, every id
 * belongs to one session, and {@code SessionOver} starts again with a new one.
 *
 * <p>Why several members cannot deadlock (docs/protocol.md, "Multi-lock"). All nodes of a request have one zxid. So of
 * two requests the same one is behind in every queue that both are in: each waits for older ones only.
 *
 * <p>The class is long because the table and all its steps are on one page.
 */
public final class Acquisition {
    /**
     * A row of the table: in {@code from}, {@code event} leads to one of {@code to}.
     *
     * @param step changes the state, and returns the commands for the shell
     */
    public record Edge(
            State from,
            Class<? extends Event> event,
            Set<State> to,
            BiFunction<Acquisition, Event, List<Command>> step) {}

    /** All edges. */
    public static final List<Edge> EDGES = List.of(
            edge(NEW, Event.Begin.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(NEW, Event.GiveUp.class, (m, e) -> m.end(), ENDED),
            edge(ENQUEUEING, Created.class, (m, e) -> m.place(e), QUEUED, CONFIRMING, RENEWING),
            edge(ENQUEUEING, Event.CreateLost.class, (m, e) -> m.go(RECOVERING, Shell::recover), RECOVERING),
            edge(ENQUEUEING, Event.CreateRefused.class, (m, e) -> m.end(), ENDED),
            edge(ENQUEUEING, Event.GiveUp.class, (m, e) -> m.go(ABANDONING), ABANDONING),
            edge(ENQUEUEING, Event.SessionOver.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(ABANDONING, Created.class, (m, e) -> m.end(leave(nodes(e.names()))), ENDED),
            edge(ABANDONING, Event.CreateLost.class, (m, e) -> m.discard(), ENDED),
            edge(ABANDONING, Event.CreateRefused.class, (m, e) -> m.end(), ENDED),
            edge(ABANDONING, Event.GiveUp.class, (m, e) -> List.of(), ABANDONING),
            edge(ABANDONING, Event.SessionOver.class, (m, e) -> m.end(), ENDED),
            edge(RECOVERING, Event.Listed.class, (m, e) -> m.recover(e), RECOVERING, QUEUED, RENEWING, ENQUEUEING),
            edge(RECOVERING, Event.GiveUp.class, (m, e) -> m.discard(), ENDED),
            edge(RECOVERING, Event.SessionOver.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(QUEUED, Event.Listed.class, (m, e) -> m.decide(e), QUEUED, CONFIRMING, ENQUEUEING),
            edge(QUEUED, Event.Found.class, (m, e) -> m.found(e.token()), QUEUED, CONFIRMING),
            edge(QUEUED, Event.Unblocked.class, (m, e) -> m.unblocked(e.member()), QUEUED, CONFIRMING),
            edge(QUEUED, Event.LookAgain.class, (m, e) -> m.lookAgain(e.member()), QUEUED),
            edge(QUEUED, Event.OwnNodeGone.class, (m, e) -> m.startAgain(e), ENQUEUEING),
            edge(QUEUED, Event.GiveUp.class, (m, e) -> m.withdraw(), ENDED),
            edge(QUEUED, Event.SessionOver.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(CONFIRMING, Event.Confirmed.class, (m, e) -> m.grant(), HELD),
            edge(CONFIRMING, Event.LookAgain.class, (m, e) -> List.of(), CONFIRMING),
            edge(CONFIRMING, Event.Unblocked.class, (m, e) -> List.of(), CONFIRMING),
            edge(CONFIRMING, Event.OwnNodeGone.class, (m, e) -> m.startAgain(e), ENQUEUEING),
            edge(CONFIRMING, Event.GiveUp.class, (m, e) -> m.withdraw(), ENDED),
            edge(CONFIRMING, Event.SessionOver.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(RENEWING, Event.Renewed.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(RENEWING, Event.GiveUp.class, (m, e) -> m.end(), ENDED),
            edge(RENEWING, Event.SessionOver.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(HELD, Event.Release.class, (m, e) -> m.release(e), ENDED),
            edge(HELD, Event.Downgraded.class, (m, e) -> m.replace(e.by()), HELD),
            edge(HELD, Event.Lapsed.class, (m, e) -> m.lose(LossCause.DEADLINE_PASSED, m.nodes()), ENDED),
            edge(HELD, Event.OwnNodeGone.class, (m, e) -> m.loseNode(e), ENDED),
            edge(HELD, Event.SessionOver.class, (m, e) -> m.lose(LossCause.SESSION_EXPIRED, List.of()), ENDED));

    private static final Map<State, Map<Class<? extends Event>, Edge>> TABLE = EDGES.stream()
            .collect(Collectors.groupingBy(
                    Edge::from,
                    () -> new EnumMap<>(State.class),
                    Collectors.toUnmodifiableMap(Edge::event, edge -> edge)));

    /** The progress of one member of a queued request. */
    private enum MemberState {
        /** Its queue is being read. */
        LISTING,
        /** A request before it keeps it from holding, and is watched. */
        WAITING,
        /** No request before it keeps it from holding, now or later. */
        READY
    }

    private static final class Member {
        final Rule rule;
        MemberState standing = MemberState.LISTING;

        @Nullable
        NodeName name;
        /** In state RECOVERING: whether the member's queue was read; {@code found} is the node that was found in it. */
        boolean searched;

        @Nullable
        NodeName found;

        Member(Rule rule) {
            this.rule = rule;
        }

        void reset() {
            standing = MemberState.LISTING;
            name = null;
            searched = false;
            found = null;
        }
    }

    private final List<Member> members;
    private final Supplier<String> ids;

    private State state = NEW;
    private String id = "";
    private long token;

    /**
     * @param rules the rule of each member
     * @param ids returns a new unique id at every call; each attempt takes one
     */
    public Acquisition(List<Rule> rules, Supplier<String> ids) {
        this.members = rules.stream().map(Member::new).toList();
        this.ids = ids;
    }

    public State state() {
        return state;
    }

    /** Returns the id of the current attempt. */
    public String id() {
        return id;
    }

    /** Returns the member's node while it is known to exist. */
    public Optional<NodeName> name(int member) {
        return Optional.ofNullable(members.get(member).name);
    }

    /** Returns whether no request before the member keeps it from holding any more. */
    public boolean isReady(int member) {
        return members.get(member).standing == MemberState.READY;
    }

    /** Returns whether the member's queue has to be read. */
    public boolean wantsList(int member) {
        Member asked = members.get(member);
        return state == RECOVERING ? !asked.searched : state == QUEUED && asked.standing == MemberState.LISTING;
    }

    /**
     * Changes the state as {@code event} requires, and returns the commands that follow from it.
     *
     * @throws IllegalStateException if the current state has no such edge
     */
    public List<Command> on(Event event) {
        State from = state;
        Edge edge = TABLE.getOrDefault(from, Map.of()).get(event.getClass());
        if (edge == null) {
            throw new IllegalStateException("no edge for " + event + " in " + from + " of request " + id);
        }
        List<Command> commands = edge.step().apply(this, event);
        if (!edge.to().contains(state)) {
            throw new IllegalStateException(event + " led from " + from + " to " + state + ", allowed is " + edge.to());
        }
        return commands;
    }

    private static <E extends Event> Edge edge(
            State from, Class<E> event, BiFunction<Acquisition, E, List<Command>> step, State... to) {
        return new Edge(from, event, Set.of(to), (machine, given) -> step.apply(machine, event.cast(given)));
    }

    private List<Command> go(State next, Command... commands) {
        state = next;
        return List.of(commands);
    }

    private List<Command> end(Command... commands) {
        members.forEach(Member::reset);
        return go(ENDED, commands);
    }

    private List<Command> enqueue(Command... before) {
        id = ids.get();
        token = Created.UNKNOWN_TOKEN;
        members.forEach(Member::reset);
        state = ENQUEUEING;
        return then(List.of(before), Shell::enqueue);
    }

    /** Queues the members at their nodes, or renews the path if its counter is near its end. */
    private List<Command> place(Created created) {
        List<NodeName> names = created.names();
        for (int i = 0; i < names.size(); i++) {
            if (names.get(i).needsNewPath()) {
                members.forEach(Member::reset);
                int member = i;
                return go(RENEWING, leave(nodes(names)), shell -> shell.renew(member, created.token()));
            }
        }
        for (int i = 0; i < names.size(); i++) {
            members.get(i).name = names.get(i);
            members.get(i).standing = created.alone().contains(i) ? MemberState.READY : MemberState.LISTING;
        }
        token = created.token();
        state = QUEUED;
        List<Command> arrived = List.of(arrived(nodes()));
        MemberNode first = nodes().get(0);
        return confirmIfReady(token == Created.UNKNOWN_TOKEN ? then(arrived, shell -> shell.lookUp(first)) : arrived);
    }

    /**
     * Goes on with the nodes of a create whose response was lost, or with a new create. A lost create that is not in
     * the queue after the barrier was not applied, and will not be on this connection. It may be on a later connection
     * to the server that received it, so its id is remembered while the request goes on with another. The create was
     * one transaction: it made all nodes or none. If only some are found, the others were deleted, or their queues were
     * read on a connection before the create was applied. So the create's nodes are looked for again.
     */
    private List<Command> recover(Event.Listed event) {
        Member searched = members.get(event.member());
        searched.searched = true;
        searched.found = event.queue().withId(id).orElse(null);
        if (!members.stream().allMatch(member -> member.searched)) {
            return List.of();
        }
        List<MemberNode> found = nodes(member -> member.found);
        if (found.size() < members.size()) {
            String lost = id;
            return found.isEmpty()
                    ? enqueue(shell -> shell.remember(lost))
                    : enqueue(leave(found), shell -> shell.discard(lost));
        }
        List<NodeName> names = found.stream().map(MemberNode::name).toList();
        List<Command> commands = new ArrayList<>(place(new Created(names, Set.of(), Created.UNKNOWN_TOKEN)));
        if (state == QUEUED) {
            all().forEach(i -> commands.add(shell -> shell.listQueue(i)));
        }
        return commands;
    }

    private List<Command> decide(Event.Listed event) {
        Member member = members.get(event.member());
        if (member.standing != MemberState.LISTING) {
            throw new IllegalStateException(event + " of request " + id + ", which does not wait for a list");
        }
        NodeName mine = Objects.requireNonNull(member.name);
        if (!event.queue().contains(mine)) {
            // The node is gone as far as this queue shows. If it exists after all, it must not stay without an owner.
            return enqueue(Shell::stopWatching, leave(nodes()));
        }
        Decision decision = member.rule.decide(event.queue(), mine);
        if (decision instanceof Decision.Wait wait) {
            member.standing = MemberState.WAITING;
            int ahead = event.queue().before(mine).size();
            return List.of(shell -> shell.watch(event.member(), wait, ahead));
        }
        if (decision instanceof Decision.TooMany tooMany) {
            return List.of(shell -> shell.refuse(event.member(), tooMany.capacity()));
        }
        member.standing = MemberState.READY;
        return confirmIfReady(((Decision.Hold) decision)
                .next()
                .<List<Command>>map(next -> List.of(shell -> shell.announce(event.member(), next)))
                .orElse(List.of()));
    }

    private List<Command> found(long czxid) {
        token = czxid;
        return confirmIfReady(List.of());
    }

    private List<Command> unblocked(int member) {
        Member waiting = members.get(member);
        if (waiting.standing == MemberState.WAITING) {
            waiting.standing = MemberState.READY;
        }
        return confirmIfReady(List.of());
    }

    private List<Command> lookAgain(int member) {
        Member waiting = members.get(member);
        if (waiting.standing != MemberState.WAITING) {
            return List.of();
        }
        waiting.standing = MemberState.LISTING;
        return List.of(shell -> shell.listQueue(member));
    }

    private List<Command> confirmIfReady(List<Command> before) {
        if (!allReady() || token == Created.UNKNOWN_TOKEN) {
            return before;
        }
        state = CONFIRMING;
        return then(before, Shell::confirm);
    }

    private boolean allReady() {
        for (Member member : members) {
            if (member.standing != MemberState.READY) {
                return false;
            }
        }
        return true;
    }

    /** Starts again after the loss of one node, since the other nodes are of no use without it. */
    private List<Command> startAgain(Event.OwnNodeGone event) {
        List<MemberNode> others = nodesBut(event);
        Command gone = gone(nodeOf(event));
        return then(
                others.isEmpty() ? enqueue(Shell::stopWatching) : enqueue(Shell::stopWatching, leave(others)), gone);
    }

    private List<Command> grant() {
        long granted = token;
        return go(HELD, Shell::stopWatching, shell -> shell.grant(granted));
    }

    private List<Command> release(Event.Release event) {
        List<MemberNode> nodes = nodes();
        return end(shell -> shell.leaveAsHolder(nodes, event.then()));
    }

    /** Replaces the node after a downgrade, which only requests of one member have. */
    private List<Command> replace(NodeName by) {
        Command gone = gone(nodes());
        members.get(0).name = by;
        return List.of(arrived(nodes()), gone);
    }

    private List<Command> lose(LossCause cause, List<MemberNode> left) {
        Command lose = shell -> shell.lose(cause);
        return left.isEmpty() ? end(lose) : end(lose, leave(left));
    }

    private List<Command> loseNode(Event.OwnNodeGone event) {
        Command gone = gone(nodeOf(event));
        return then(lose(LossCause.NODE_DELETED, nodesBut(event)), gone);
    }

    private List<Command> withdraw() {
        return end(Shell::stopWatching, leave(nodes()));
    }

    private List<Command> discard() {
        String lost = id;
        return end(shell -> shell.discard(lost));
    }

    // ---- nodes

    private static Command arrived(List<MemberNode> nodes) {
        return shell -> shell.arrived(nodes);
    }

    private static Command gone(List<MemberNode> nodes) {
        return shell -> shell.gone(nodes);
    }

    private static Command leave(List<MemberNode> nodes) {
        return shell -> shell.leave(nodes);
    }

    private IntStream all() {
        return IntStream.range(0, members.size());
    }

    private List<MemberNode> nodes() {
        return nodes(member -> member.name);
    }

    private List<MemberNode> nodeOf(Event.OwnNodeGone gone) {
        return nodes().stream().filter(node -> node.member() == gone.member()).toList();
    }

    private List<MemberNode> nodesBut(Event.OwnNodeGone gone) {
        return nodes().stream().filter(node -> node.member() != gone.member()).toList();
    }

    private List<MemberNode> nodes(Function<Member, @Nullable NodeName> name) {
        List<MemberNode> placed = new ArrayList<>(members.size());
        for (int i = 0; i < members.size(); i++) {
            NodeName there = name.apply(members.get(i));
            if (there != null) {
                placed.add(new MemberNode(i, there));
            }
        }
        return placed;
    }

    private static List<MemberNode> nodes(List<NodeName> names) {
        return IntStream.range(0, names.size())
                .mapToObj(i -> new MemberNode(i, names.get(i)))
                .toList();
    }

    private static List<Command> then(List<Command> before, Command last) {
        List<Command> all = new ArrayList<>(before);
        all.add(last);
        return all;
    }
}
