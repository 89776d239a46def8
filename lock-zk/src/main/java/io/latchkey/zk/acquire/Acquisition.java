package io.latchkey.zk.acquire;

import static io.latchkey.zk.acquire.State.ABANDONING;
import static io.latchkey.zk.acquire.State.CONFIRMING;
import static io.latchkey.zk.acquire.State.DRAINING;
import static io.latchkey.zk.acquire.State.ENDED;
import static io.latchkey.zk.acquire.State.ENQUEUEING;
import static io.latchkey.zk.acquire.State.HELD;
import static io.latchkey.zk.acquire.State.LISTING;
import static io.latchkey.zk.acquire.State.LOOKING_UP;
import static io.latchkey.zk.acquire.State.NEW;
import static io.latchkey.zk.acquire.State.RECOVERING;
import static io.latchkey.zk.acquire.State.WAITING;

import io.latchkey.zk.queue.Decision;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.queue.Queue;
import io.latchkey.zk.recipe.Rule;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One request from the call to its end, without I/O: {@link Event}s in, {@link Command}s out. {@link #EDGES} is the
 * whole of it; an event that has no edge from the present state is a bug in the shell and throws.
 *
 * <p>Why a grant is safe. There are three ways into {@code CONFIRMING}, and each proves that nothing is before the own
 * node: a queue that contains the own node, read after it was created in this session; the hand-over of an exclusive
 * holder that was immediately before it; a path created in the same transaction. Nodes are appended only, so what is
 * proved once stays true as long as the own node is there. It is, as long as the session is: hence the confirmation,
 * and hence every id belongs to one session and {@code SessionOver} starts again with a new one.
 */
public final class Acquisition {
    /** One row of the table: in {@code from}, {@code event} leads to one of {@code to}. */
    public record Edge(State from, Class<? extends Event> event, Set<State> to, Step step) {}

    /** What an edge does: moves the machine on, and says what the shell has to do. */
    @FunctionalInterface
    public interface Step extends BiFunction<Acquisition, Event, List<Command>> {}

    /** Every edge there is. */
    public static final List<Edge> EDGES = List.of(
            edge(NEW, Event.Begin.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(NEW, Event.GiveUp.class, (m, e) -> m.end(), ENDED),
            edge(ENQUEUEING, Event.Created.class, (m, e) -> m.created((Event.Created) e), LISTING, DRAINING),
            edge(ENQUEUEING, Event.CreatedAlone.class, (m, e) -> m.alone((Event.CreatedAlone) e), CONFIRMING),
            edge(ENQUEUEING, Event.CreateLost.class, (m, e) -> m.go(RECOVERING, new Command.Recover()), RECOVERING),
            edge(ENQUEUEING, Event.CreateRefused.class, (m, e) -> m.end(), ENDED),
            edge(ENQUEUEING, Event.GiveUp.class, (m, e) -> m.go(ABANDONING), ABANDONING),
            edge(ENQUEUEING, Event.SessionOver.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(ABANDONING, Event.Created.class, (m, e) -> m.leave(((Event.Created) e).name()), ENDED),
            edge(ABANDONING, Event.CreatedAlone.class, (m, e) -> m.leave(((Event.CreatedAlone) e).name()), ENDED),
            edge(ABANDONING, Event.CreateLost.class, (m, e) -> m.disown(), ENDED),
            edge(ABANDONING, Event.CreateRefused.class, (m, e) -> m.end(), ENDED),
            edge(ABANDONING, Event.GiveUp.class, (m, e) -> List.of(), ABANDONING),
            edge(ABANDONING, Event.SessionOver.class, (m, e) -> m.end(), ENDED),
            edge(
                    RECOVERING,
                    Event.Listed.class,
                    (m, e) -> m.recover(((Event.Listed) e).queue()),
                    LOOKING_UP,
                    ENQUEUEING),
            edge(RECOVERING, Event.GiveUp.class, (m, e) -> m.disown(), ENDED),
            edge(RECOVERING, Event.SessionOver.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(LOOKING_UP, Event.Found.class, (m, e) -> m.found(((Event.Found) e).token()), LISTING, DRAINING),
            edge(LOOKING_UP, Event.OwnNodeGone.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(
                    LISTING,
                    Event.Listed.class,
                    (m, e) -> m.decide(((Event.Listed) e).queue()),
                    CONFIRMING,
                    WAITING,
                    ENQUEUEING),
            edge(LISTING, Event.HandedOver.class, (m, e) -> List.of(), LISTING),
            edge(LISTING, Event.LookAgain.class, (m, e) -> List.of(), LISTING),
            edge(LISTING, Event.OwnNodeGone.class, (m, e) -> m.enqueueAnew(), ENQUEUEING),
            edge(WAITING, Event.HandedOver.class, (m, e) -> m.go(CONFIRMING, new Command.Confirm()), CONFIRMING),
            edge(WAITING, Event.LookAgain.class, (m, e) -> m.go(LISTING, new Command.ListQueue()), LISTING),
            edge(WAITING, Event.OwnNodeGone.class, (m, e) -> m.enqueueAnew(), ENQUEUEING),
            edge(CONFIRMING, Event.Confirmed.class, (m, e) -> m.grant(), HELD),
            edge(CONFIRMING, Event.LookAgain.class, (m, e) -> List.of(), CONFIRMING),
            edge(CONFIRMING, Event.HandedOver.class, (m, e) -> List.of(), CONFIRMING),
            edge(CONFIRMING, Event.OwnNodeGone.class, (m, e) -> m.enqueueAnew(), ENQUEUEING),
            edge(DRAINING, Event.Drained.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(DRAINING, Event.GiveUp.class, (m, e) -> m.end(), ENDED),
            edge(DRAINING, Event.SessionOver.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(LOOKING_UP, Event.GiveUp.class, (m, e) -> m.withdraw(), ENDED),
            edge(LISTING, Event.GiveUp.class, (m, e) -> m.withdraw(), ENDED),
            edge(WAITING, Event.GiveUp.class, (m, e) -> m.withdraw(), ENDED),
            edge(CONFIRMING, Event.GiveUp.class, (m, e) -> m.withdraw(), ENDED),
            edge(LOOKING_UP, Event.SessionOver.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(LISTING, Event.SessionOver.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(WAITING, Event.SessionOver.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(CONFIRMING, Event.SessionOver.class, (m, e) -> m.enqueue(), ENQUEUEING),
            edge(HELD, Event.Release.class, (m, e) -> m.end(new Command.LeaveAsHolder(m.node())), ENDED),
            edge(HELD, Event.Lapsed.class, (m, e) -> m.end(new Command.Lose(), new Command.Leave(m.node())), ENDED),
            edge(HELD, Event.OwnNodeGone.class, (m, e) -> m.end(new Command.Lose()), ENDED),
            edge(HELD, Event.SessionOver.class, (m, e) -> m.end(new Command.Lose()), ENDED));

    private record Key(State from, Class<? extends Event> event) {}

    private static final Map<Key, Edge> TABLE =
            EDGES.stream().collect(Collectors.toUnmodifiableMap(e -> new Key(e.from(), e.event()), e -> e));

    private final Rule rule;
    private final Supplier<String> ids;

    private State state = NEW;
    private String id = "";
    private @Nullable NodeName name;
    private long token;

    /**
     * @param rule who holds
     * @param ids a new unique id at every call; each attempt takes one
     */
    public Acquisition(Rule rule, Supplier<String> ids) {
        this.rule = rule;
        this.ids = ids;
    }

    public State state() {
        return state;
    }

    /** The id of the present attempt. */
    public String id() {
        return id;
    }

    /** The own node while one is known to be there. */
    public Optional<NodeName> name() {
        return Optional.ofNullable(name);
    }

    /**
     * What follows from {@code event}.
     *
     * @throws IllegalStateException if the present state has no such edge
     */
    public List<Command> on(Event event) {
        State from = state;
        Edge edge = TABLE.get(new Key(from, event.getClass()));
        if (edge == null) {
            throw new IllegalStateException("no edge for " + event + " in " + from + " of request " + id);
        }
        List<Command> commands = edge.step().apply(this, event);
        if (!edge.to().contains(state)) {
            throw new IllegalStateException(event + " led from " + from + " to " + state + ", allowed is " + edge.to());
        }
        return commands;
    }

    private static Edge edge(State from, Class<? extends Event> event, Step step, State... to) {
        return new Edge(from, event, Set.of(to), step);
    }

    private List<Command> go(State next, Command... commands) {
        state = next;
        return List.of(commands);
    }

    private List<Command> end(Command... commands) {
        name = null;
        return go(ENDED, commands);
    }

    private List<Command> enqueue() {
        id = ids.get();
        name = null;
        return go(ENQUEUEING, new Command.Enqueue(id));
    }

    private List<Command> enqueueAnew() {
        id = ids.get();
        name = null;
        return go(ENQUEUEING, new Command.StopWatching(), new Command.Enqueue(id));
    }

    private List<Command> created(Event.Created event) {
        if (event.name().needsNewPath()) {
            return go(DRAINING, new Command.Leave(event.name()), new Command.Drain());
        }
        name = event.name();
        token = event.token();
        return go(LISTING);
    }

    private List<Command> alone(Event.CreatedAlone event) {
        name = event.name();
        token = event.token();
        return go(CONFIRMING, new Command.Confirm());
    }

    /** After the barrier a create of this session that is not in the queue was never made and never will be. */
    private List<Command> recover(Queue queue) {
        Optional<NodeName> mine = queue.withId(id);
        if (mine.isEmpty()) {
            return enqueue();
        }
        name = mine.get();
        return go(LOOKING_UP, new Command.LookUp(name));
    }

    private List<Command> found(long czxid) {
        token = czxid;
        NodeName mine = node();
        if (mine.needsNewPath()) {
            name = null;
            return go(DRAINING, new Command.Leave(mine), new Command.Drain());
        }
        return go(LISTING, new Command.ListQueue());
    }

    private List<Command> decide(Queue queue) {
        NodeName mine = node();
        if (!queue.contains(mine)) {
            return enqueueAnew();
        }
        Decision decision = rule.decide(queue, mine);
        if (decision instanceof Decision.Wait wait) {
            return go(WAITING, new Command.Watch(wait.on()));
        }
        return go(CONFIRMING, new Command.Confirm());
    }

    private List<Command> grant() {
        return go(HELD, new Command.StopWatching(), new Command.Grant(node(), token));
    }

    private List<Command> withdraw() {
        return end(new Command.StopWatching(), new Command.Leave(node()));
    }

    private List<Command> leave(NodeName created) {
        return end(new Command.Leave(created));
    }

    private List<Command> disown() {
        return end(new Command.Disown(id));
    }

    private NodeName node() {
        return Objects.requireNonNull(name, "name");
    }
}
