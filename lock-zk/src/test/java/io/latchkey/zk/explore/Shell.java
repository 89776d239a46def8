// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import io.latchkey.zk.acquire.Command;
import io.latchkey.zk.acquire.Event;
import io.latchkey.zk.acquire.Placed;
import io.latchkey.zk.acquire.State;
import io.latchkey.zk.explore.Ask.Data;
import io.latchkey.zk.explore.Ask.HeldBack;
import io.latchkey.zk.explore.Ask.Kind;
import io.latchkey.zk.explore.Ask.Manner;
import io.latchkey.zk.explore.Ask.Want;
import io.latchkey.zk.explore.Client.Armed;
import io.latchkey.zk.explore.Client.At;
import io.latchkey.zk.explore.Client.Lane;
import io.latchkey.zk.explore.Client.Place;
import io.latchkey.zk.explore.Client.Watched;
import io.latchkey.zk.explore.Scope.Delay;
import io.latchkey.zk.explore.Scope.Neglect;
import io.latchkey.zk.queue.Decision;
import io.latchkey.zk.queue.NodeName;
import io.latchkey.zk.queue.PathData;
import io.latchkey.zk.queue.Queue;
import io.latchkey.zk.queue.Tag;
import io.latchkey.zk.recipe.Recipe;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a session does with one message or one wish of its user: the real machines, and around them the shell's handling
 * of lists, watches and departures, told again without I/O ({@code Request, Place, Lane, QueueReader, Watches} of the
 * room {@code session}; the names are theirs). Not told again: reconnects and lost answers, the drain, paths that are
 * missing, and hand-over between requests of one session.
 */
final class Shell {
    private static final long SOME_TOKEN = 1;
    /** Queues have no equality of their own, and machines remember what they did with one. */
    private final Map<List<Object>, Queue> queues;

    private final Set<Reached> reached;
    private final Scope scope;
    private final int session;
    private final List<Machine> machines;
    private final Set<Integer> granted;
    private final List<Lane> lanes;
    private final Map<At, Place> places;
    private final Map<Target, Watched> watched;
    private final List<Ask> out;
    private final List<Tell> in;
    private final Set<Armed> armed;

    Shell(Scope scope, Map<List<Object>, Queue> queues, Set<Reached> reached, Client from) {
        this.scope = scope;
        this.reached = reached;
        this.queues = queues;
        this.session = from.session();
        this.machines = new ArrayList<>(from.machines());
        this.granted = new TreeSet<>(from.granted());
        this.lanes = new ArrayList<>(from.lanes());
        this.places = new HashMap<>(from.places());
        this.watched = new HashMap<>(from.watched());
        this.out = new ArrayList<>(from.out());
        this.in = new ArrayList<>(from.in());
        this.armed = new HashSet<>(from.armed());
    }

    /**
     * The session as it is now. What a session remembers whose requests are all over makes no difference to anybody; nor
     * does what it still reads, or is told. Its deletions do, and the watches that it does not take back.
     */
    Client packed() {
        if (machines.stream().allMatch(machine -> machine.state() == State.ENDED)) {
            if (!scope.delays().contains(Delay.TRIFLES)) {
                takeBack();
            }
            out.removeIf(ask -> ask instanceof Ask.Read || ask instanceof Ask.ListQueue);
            in.removeIf(tell -> !(tell instanceof Tell.Deleted));
            lanes.replaceAll(lane -> Lane.NEW);
            places.clear();
            watched.clear();
        }
        places.values().removeIf(Place.NEW::equals);
        return new Client(
                session,
                List.copyOf(machines),
                Set.copyOf(granted),
                List.copyOf(lanes),
                Map.copyOf(places),
                Map.copyOf(watched),
                List.copyOf(out),
                List.copyOf(in),
                Set.copyOf(armed));
    }

    /** Watches that will be taken back: until they are, they tell things to nobody. */
    private void takeBack() {
        for (int i = 0; i < out.size(); i++) {
            if (out.get(i) instanceof Ask.Unwatch unwatch) {
                disarm(unwatch.target());
                List<Ask> before = out.subList(0, i + 1);
                int taken = before.size();
                before.removeIf(ask -> ask.equals(unwatch)
                        || (ask instanceof Ask.Watch watch && watch.target().equals(unwatch.target())));
                i -= taken - before.size();
            }
        }
    }

    // ---- what the user does, and what becomes of the session

    void begin(int request) {
        on(request, new Event.Begin());
    }

    void giveUp(int request) {
        reached.add(machines.get(request).state() == State.ENQUEUEING ? Reached.ABANDONED : Reached.GAVE_UP);
        on(request, new Event.GiveUp());
    }

    void release(int request) {
        on(request, new Event.Release());
    }

    void confirm(int request) {
        on(request, new Event.Confirmed());
    }

    /** The process is gone, or the session is: in both cases nothing of it counts any more. */
    private void forget() {
        out.clear();
        in.clear();
        armed.clear();
        watched.clear();
        granted.clear();
        lanes.replaceAll(lane -> Lane.NEW);
        places.replaceAll((at, place) -> Place.NEW);
    }

    void crash() {
        forget();
        for (int r = 0; r < machines.size(); r++) {
            Machine machine = machines.get(r);
            while (machine.state() != State.ENDED) {
                Event end = machine.state() == State.HELD ? new Event.SessionOver() : new Event.GiveUp();
                machine = machine.on(machine.state() == State.ABANDONING ? new Event.CreateRefused() : end)
                        .next();
            }
            machines.set(r, machine);
        }
    }

    /** Requests that wait go on in the next session. */
    void expire() {
        forget();
        for (int r = 0; r < machines.size(); r++) {
            if (machines.get(r).state() != State.ENDED) {
                reached.add(Reached.SESSION_OVER);
                on(r, new Event.SessionOver());
            }
        }
    }

    // ---- the pipes

    /** The server takes what was asked first. */
    Ask taken() {
        return out.remove(0);
    }

    boolean asks() {
        return !out.isEmpty();
    }

    void arm(Target target, Kind kind) {
        armed.add(new Armed(target, kind));
    }

    void disarm(Target target) {
        armed.removeIf(watch -> watch.target().equals(target));
    }

    /** What a watch at the server says of a change. */
    void fire(Change change) {
        if (change instanceof Change.Resized resized) {
            if (armed.remove(new Armed(Target.of(resized.path()), Kind.DATA))) {
                tell(new Tell.Resized(resized.path()));
            }
        } else if (change instanceof Change.Moved moved) {
            if (armed.remove(new Armed(Target.of(moved.path()), Kind.CHILDREN))) {
                tell(new Tell.Moved(moved.path()));
            }
        } else if (change instanceof Change.Word word) {
            if (armed.remove(new Armed(word.node(), Kind.DATA))) {
                tell(new Tell.Word(word.node()));
            }
        } else if (change instanceof Change.Gone gone) {
            boolean data = armed.remove(new Armed(gone.node(), Kind.DATA));
            boolean children = armed.remove(new Armed(gone.node(), Kind.CHILDREN));
            if (gone.manner() == Manner.PLAIN && (data || children)) {
                tell(new Tell.Gone(gone.node()));
            } else if (children) {
                // The data watch, used up by the mark, and the child watch make the pair; the former alone decides
                // nothing.
                tell(data ? new Tell.Released(gone.node()) : new Tell.Gone(gone.node()));
            }
        }
    }

    void tell(Tell tell) {
        in.add(tell);
        if (!scope.delays().contains(Delay.DELIVERY)) {
            takeNext();
        }
    }

    void takeNext() {
        Tell next = in.remove(0);
        if (next instanceof Tell.Created created) {
            on(created.request(), new Event.Created(created.names(), Set.of(), SOME_TOKEN));
        } else if (next instanceof Tell.DataRead read) {
            read(read);
        } else if (next instanceof Tell.Listing listing) {
            listed(listing);
        } else if (next instanceof Tell.Watched seen) {
            seen(seen);
        } else if (next instanceof Tell.NotThere missing) {
            Watched asked = watched.get(missing.node());
            if (asked != null && asked.generation() == missing.generation()) {
                reached.add(Reached.NOT_THERE);
                gone(missing.node());
            }
        } else if (next instanceof Tell.Deleted deleted) {
            deleted.nodes().forEach(node -> nodeGone(node.path(), node.node().orElseThrow()));
            granted.removeIf(request -> deleted.nodes().stream().anyMatch(node -> node.node()
                    .orElseThrow()
                    .id()
                    .equals(machines.get(request).id())));
        } else if (next instanceof Tell.Resized resized) {
            changed(Target.of(resized.path()), Kind.DATA);
        } else if (next instanceof Tell.Moved moved) {
            changed(Target.of(moved.path()), Kind.CHILDREN);
        } else if (next instanceof Tell.Word word) {
            changed(word.node(), Kind.DATA);
        } else if (next instanceof Tell.Seen seen) {
            answering(seen.node(), seen.generation()).forEach(at -> seen(at, seen));
        } else if (next instanceof Tell.Children children) {
            answering(Target.of(children.path()), children.generation()).stream()
                    .filter(at -> place(at)
                            .leading()
                            .filter(seen -> !seen.equals(children.nodes()))
                            .isPresent())
                    .forEach(at -> {
                        reached.add(Reached.CHILDREN_SEEN);
                        lookAgain(at);
                    });
        } else if (next instanceof Tell.Gone fired) {
            gone(fired.node());
        } else if (next instanceof Tell.Released fired) {
            released(fired.node());
        }
    }

    // ---- Request

    private void on(int request, Event event) {
        Machine before = machines.get(request);
        Machine.Reaction reaction = before.on(event);
        Machine after = reaction.next();
        machines.set(request, after);
        List<At> members = members(request);
        for (At at : members) {
            after.name(at.member())
                    .filter(name -> !before.name(at.member()).equals(Optional.of(name)))
                    .ifPresent(name -> {
                        Map<NodeName, At> more = new LinkedHashMap<>(lane(at).present());
                        more.put(name, at);
                        lane(at, lane(at).present(more));
                    });
        }
        Set<Placed> left = new HashSet<>();
        for (Command command : reaction.commands()) {
            if (command instanceof Command.Leave leave) {
                left.addAll(leave.nodes());
            } else if (command instanceof Command.LeaveAsHolder leave) {
                left.addAll(leave.nodes());
            }
            carryOut(request, command);
        }
        for (At at : members) {
            before.name(at.member())
                    .filter(name -> !after.name(at.member()).equals(Optional.of(name)))
                    .ifPresent(name -> {
                        forgetOwn(at, name);
                        if (!left.contains(new Placed(at.member(), name))) {
                            nodeGone(path(at), name);
                        }
                    });
        }
    }

    private void carryOut(int request, Command command) {
        if (command instanceof Command.Enqueue enqueue) {
            out.add(new Ask.Create(request, enqueue.id()));
            members(request).forEach(at -> readBehindCreateOf(at, enqueue.id()));
        } else if (command instanceof Command.ListQueue list) {
            At at = new At(request, list.member());
            want(
                    path(at),
                    new Want(request, list.member(), machines.get(request).id()));
        } else if (command instanceof Command.Watch watch) {
            reached.add(Reached.WAITED);
            watch(new At(request, watch.member()), watch.how());
        } else if (command instanceof Command.Tell tell) {
            word(new At(request, tell.member()), tell.next());
        } else if (command instanceof Command.StopWatching) {
            members(request).forEach(this::stopWatching);
        } else if (command instanceof Command.Confirm) {
            if (!scope.delays().contains(Delay.CONFIRMATION)) {
                on(request, new Event.Confirmed());
            }
        } else if (command instanceof Command.Grant) {
            reached.add(Reached.GRANTED);
            granted.add(request);
            if (!scope.delays().contains(Delay.RELEASE)) {
                on(request, new Event.Release());
            }
        } else if (command instanceof Command.LeaveAsHolder leave) {
            boolean exclusive =
                    members(request).stream().allMatch(at -> wish(at).recipe().sharing() == Recipe.Sharing.EXCLUSIVE);
            leave(request, leave.nodes(), exclusive ? Manner.MARKED : Manner.PLAIN);
        } else if (command instanceof Command.Leave leave) {
            leave(request, leave.nodes(), Manner.PLAIN);
        } else if (command instanceof Command.Refuse) {
            reached.add(Reached.REFUSED);
            on(request, new Event.GiveUp());
        } else if (!(command instanceof Command.Lose)) {
            throw new AssertionError(command + " does not happen here");
        }
    }

    private void leave(int request, List<Placed> nodes, Manner manner) {
        List<Target> targets = new ArrayList<>();
        for (Placed node : nodes) {
            At at = new At(request, node.member());
            forgetOwn(at, node.name());
            targets.add(Target.of(path(at), node.name()));
        }
        out.add(new Ask.Delete(List.copyOf(targets), manner));
    }

    // ---- QueueReader

    private void readBehindCreateOf(At at, String id) {
        if (lane(at).data().isEmpty()) {
            out.add(new Ask.Read(path(at), Optional.empty()));
        }
        want(path(at), new Want(at.request(), at.member(), id));
    }

    private void want(int path, Want want) {
        Lane lane = lanes.get(path);
        lanes.set(path, lane.wants(plus(lane.wants(), want)));
        if (!lane.listing()) {
            sendList(path);
        }
    }

    private void sendList(int path) {
        List<Want> served =
                lanes.get(path).wants().stream().filter(this::mayCome).toList();
        lanes.set(path, lanes.get(path).wants(List.of()).listing(true));
        out.add(new Ask.ListQueue(path, served));
    }

    private void listed(Tell.Listing listing) {
        int path = listing.path();
        lanes.set(path, lanes.get(path).listing(false));
        List<Want> served = listing.served().stream().filter(this::stands).toList();
        HeldBack list = new HeldBack(listing.version(), listing.nodes(), served);
        if (!served.isEmpty()) {
            Optional<Data> data = lanes.get(path).data();
            if (isOfItsMoment(data, list) || scope.neglects().contains(Neglect.CAPACITY_OF_ANOTHER_MOMENT)) {
                deliver(list, data.orElseThrow());
            } else {
                reached.add(Reached.HELD_BACK);
                lanes.set(path, lanes.get(path).data(Optional.empty()));
                out.add(new Ask.Read(path, Optional.of(list)));
            }
        }
        Lane lane = lanes.get(path);
        lanes.set(path, lane.wants(lane.wants().stream().filter(this::mayCome).toList()));
        if (!lanes.get(path).wants().isEmpty() && !lanes.get(path).listing()) {
            sendList(path);
        }
    }

    private void read(Tell.DataRead read) {
        int path = read.path();
        if (scope.neglects().contains(Neglect.READ_AND_NOT_TOLD)) {
            know(path, read.data());
        } else {
            learn(path, read.data());
        }
        read.heldBack().ifPresent(list -> {
            if (isOfItsMoment(Optional.of(read.data()), list)) {
                deliver(list, read.data());
            } else {
                reached.add(Reached.LISTED_AGAIN);
                list.served().stream().filter(this::stands).forEach(want -> want(path, want));
            }
        });
    }

    private static boolean isOfItsMoment(Optional<Data> data, HeldBack list) {
        return data.filter(known -> known.version() == list.version()).isPresent();
    }

    private void deliver(HeldBack list, Data data) {
        Queue queue = queues.computeIfAbsent(List.of(list.nodes(), data.capacity(), data.largest()), key -> {
            PathData purpose = new PathData(io.latchkey.zk.queue.Kind.SEMAPHORE, 1, data.capacity(), data.largest());
            return Queue.of(list.nodes().stream().map(NodeName::text).toList(), purpose);
        });
        for (Want want : list.served()) {
            if (stands(want)) {
                on(want.request(), new Event.Listed(want.member(), queue));
            }
        }
    }

    private boolean stands(Want want) {
        Machine machine = machines.get(want.request());
        return machine.id().equals(want.id()) && machine.state() == State.QUEUED && machine.wantsList(want.member());
    }

    private boolean mayCome(Want want) {
        Machine machine = machines.get(want.request());
        return stands(want) || (machine.id().equals(want.id()) && machine.state() == State.ENQUEUEING);
    }

    // ---- Place and Lane

    private void watch(At at, Decision.Wait how) {
        List<NodeName> on = how instanceof Decision.Blocked blocked
                ? blocked.on()
                : how instanceof Decision.Follow follow ? List.of(follow.ahead()) : List.of();
        Map<NodeName, Integer> stillAhead = new HashMap<>(place(at).created());
        stillAhead.keySet().retainAll(on);
        place(at, place(at).created(Map.copyOf(stillAhead)).orLead(Optional.empty()));
        for (NodeName former : place(at).ahead()) {
            if (!on.contains(former)) {
                stopWatching(at, former);
            }
        }
        if (wish(at).recipe().tag() == Tag.LEASE) {
            watchPath(
                    at,
                    how instanceof Decision.Lead lead ? Optional.of(lead.seen().requests()) : Optional.empty());
        }
        for (NodeName next : on) {
            if (!place(at).ahead().contains(next)) {
                watchAhead(at, next);
            }
        }
        if (how instanceof Decision.Follow follow) {
            place(at, place(at).orLead(follow.orLead().map(lead -> lead.seen().requests())));
            boolean unused = leadIfAheadMayHold(at);
        }
    }

    private void watchPath(At at, Optional<List<NodeName>> leading) {
        place(at, place(at).leading(leading));
        if (!scope.neglects().contains(Neglect.NO_CAPACITY_WATCH)) {
            place(at, place(at).capacity(true));
            watch(Target.of(path(at)), at, Set.of(Kind.DATA));
        }
        if (leading.isPresent()) {
            place(at, place(at).capacity(true));
            watch(Target.of(path(at)), at, Set.of(Kind.CHILDREN));
        }
    }

    private void seen(At at, Tell.Seen seen) {
        NodeName node = seen.node().node().orElseThrow();
        if (node.tag() != Tag.LEASE) {
            return;
        }
        created(at, node, seen.since());
        if (!leadIfAheadMayHold(at) && seen.word()) {
            reached.add(Reached.WORD_SEEN);
            lookAgain(at);
        }
    }

    private void created(At at, NodeName ahead, int since) {
        Map<NodeName, Integer> more = new HashMap<>(place(at).created());
        more.put(ahead, since);
        place(at, place(at).created(Map.copyOf(more)));
    }

    /** Says whether it leads now. */
    private boolean leadIfAheadMayHold(At at) {
        Optional<List<NodeName>> leads = place(at).orLead();
        if (leads.isEmpty() || scope.neglects().contains(Neglect.AGE_OF_THE_ONE_AHEAD)) {
            return false;
        }
        NodeName last = place(at).ahead().get(0);
        At here = lane(at).present().get(last);
        boolean mayHold = here != null
                ? machines.get(here.request()).isReady(here.member())
                : place(at).created().getOrDefault(last, Integer.MAX_VALUE) < lane(at).since();
        if (mayHold) {
            reached.add(Reached.LEADS_BEHIND_AN_OLDER);
            place(at, place(at).orLead(Optional.empty()).created(Map.of()));
            stopWatching(at, last);
            watchPath(at, leads);
        }
        return mayHold;
    }

    private void word(At at, NodeName next) {
        NodeName own = own(at).node().orElseThrow();
        if (lane(at).present().containsKey(next)) {
            Map<NodeName, List<At>> fewer = new HashMap<>(lane(at).followers());
            List<At> told = Objects.requireNonNullElse(fewer.remove(own), List.of());
            lane(at, lane(at).followers(Map.copyOf(fewer)));
            told.forEach(follower -> told(follower, own));
        } else if (!scope.neglects().contains(Neglect.NO_WORD)) {
            out.add(new Ask.Word(at.request(), own(at)));
        }
    }

    private void told(At at, NodeName former) {
        reached.add(Reached.WORD);
        stopWatching(at, former);
        lookAgain(at);
    }

    private void watchAhead(At at, NodeName ahead) {
        Target target = Target.of(path(at), ahead);
        place(at, place(at).ahead(plus(place(at).ahead(), ahead)));
        Lane lane = lane(at);
        if (lane.present().containsKey(ahead)) {
            Map<NodeName, List<At>> more = new HashMap<>(lane.followers());
            more.merge(ahead, List.of(at), (old, one) -> old.contains(at) ? old : plus(old, at));
            lane(at, lane.followers(Map.copyOf(more)));
        } else if (ahead.tag() == Tag.WRITE) {
            if (!place(at).own() && !scope.neglects().contains(Neglect.NO_OWN_WATCH)) {
                place(at, place(at).own(true));
                watch(own(at), at, Set.of(Kind.CHILDREN));
            }
            watch(target, at, Set.of(Kind.DATA, Kind.CHILDREN));
        } else {
            seenByAnother(target, ahead).ifPresent(since -> created(at, ahead, since));
            watch(target, at, Set.of(ahead.tag() == Tag.LEASE ? Kind.DATA : Kind.CHILDREN));
        }
    }

    private Optional<Integer> seenByAnother(Target target, NodeName ahead) {
        Watched joined = watched.get(target);
        return joined == null
                ? Optional.empty()
                : joined.listeners().stream()
                        .flatMap(other ->
                                Optional.ofNullable(place(other).created().get(ahead)).stream())
                        .findFirst();
    }

    private void stopWatching(At at) {
        List.copyOf(place(at).ahead()).forEach(former -> stopWatching(at, former));
        place(at, place(at).leading(Optional.empty()).orLead(Optional.empty()).created(Map.of()));
        if (place(at).capacity()) {
            place(at, place(at).capacity(false));
            stop(Target.of(path(at)), at);
        }
    }

    private void stopWatching(At at, NodeName former) {
        place(at, place(at).ahead(minus(place(at).ahead(), former)));
        Lane lane = lane(at);
        if (lane.followers().containsKey(former)) {
            Map<NodeName, List<At>> fewer = new HashMap<>(lane.followers());
            fewer.computeIfPresent(former, (name, all) -> all.size() == 1 ? null : minus(all, at));
            lane(at, lane.followers(Map.copyOf(fewer)));
        } else {
            stop(Target.of(path(at), former), at);
        }
    }

    private void lookAgain(At at) {
        if (machines.get(at.request()).isWaiting()) {
            on(at.request(), new Event.LookAgain(at.member()));
        }
    }

    /** The own watch stays at the server until the node goes. */
    private void forgetOwn(At at, NodeName name) {
        if (place(at).own()) {
            place(at, place(at).own(false));
            removeListener(Target.of(path(at), name), at);
        }
    }

    private void nodeGone(int path, NodeName name) {
        Lane lane = lanes.get(path);
        Map<NodeName, At> there = new LinkedHashMap<>(lane.present());
        there.remove(name);
        Map<NodeName, List<At>> followers = new HashMap<>(lane.followers());
        List<At> waited = Objects.requireNonNullElse(followers.remove(name), List.of());
        lanes.set(path, lane.present(there).followers(Map.copyOf(followers)));
        waited.forEach(at -> goneAhead(at, name));
    }

    private void goneAhead(At at, NodeName name) {
        place(at, place(at).ahead(minus(place(at).ahead(), name)));
        lookAgain(at);
    }

    // ---- Watches

    private void watch(Target target, At listener, Set<Kind> kinds) {
        Watched now = watched.getOrDefault(target, new Watched(List.of(), Set.of(), nextGeneration(target)));
        List<At> listeners = now.listeners().contains(listener) ? now.listeners() : plus(now.listeners(), listener);
        Set<Kind> all = new TreeSet<>(now.armed());
        for (Kind kind : new TreeSet<>(kinds)) {
            if (all.add(kind)) {
                out.add(new Ask.Watch(target, kind, now.generation()));
            }
        }
        watched.put(target, new Watched(listeners, Set.copyOf(all), now.generation()));
    }

    /** Answers belong to the watching that asked for them, and not to a later one of the same target. */
    private int nextGeneration(Target target) {
        int next = 0;
        for (Ask ask : out) {
            if (ask instanceof Ask.Watch watch && watch.target().equals(target)) {
                next = Math.max(next, watch.generation() + 1);
            }
        }
        for (Tell tell : in) {
            if (isAnswerOf(target, tell)) {
                next = Math.max(next, generation(tell) + 1);
            }
        }
        return next;
    }

    private static boolean isAnswerOf(Target target, Tell tell) {
        return (tell instanceof Tell.Watched seen && Target.of(seen.path()).equals(target))
                || (tell instanceof Tell.Children children
                        && Target.of(children.path()).equals(target))
                || (tell instanceof Tell.Seen node && node.node().equals(target))
                || (tell instanceof Tell.NotThere missing && missing.node().equals(target));
    }

    private static int generation(Tell answer) {
        if (answer instanceof Tell.Watched seen) {
            return seen.generation();
        } else if (answer instanceof Tell.Children children) {
            return children.generation();
        } else if (answer instanceof Tell.Seen node) {
            return node.generation();
        }
        return ((Tell.NotThere) answer).generation();
    }

    /** Who listens for the answer. */
    private List<At> answering(Target target, int generation) {
        Watched asked = watched.get(target);
        return asked != null && asked.generation() == generation ? asked.listeners() : List.of();
    }

    /** Whether the answer to the last asking is there; what comes before it is of a watch that was taken back. */
    private boolean isSet(Target target, Kind kind) {
        return out.stream()
                        .noneMatch(ask ->
                                ask instanceof Ask.Watch watch && watch.target().equals(target) && watch.kind() == kind)
                && in.stream().noneMatch(tell -> isAnswerOf(target, tell));
    }

    private void stop(Target target, At listener) {
        Watched now = watched.get(target);
        if (removeListener(target, listener) && !now.armed().isEmpty()) {
            out.add(new Ask.Unwatch(target));
        }
    }

    /** Says whether it was the last. */
    private boolean removeListener(Target target, At listener) {
        Watched now = watched.get(target);
        if (now == null) {
            return false;
        }
        List<At> fewer = minus(now.listeners(), listener);
        if (fewer.isEmpty()) {
            watched.remove(target);
        } else {
            watched.put(target, new Watched(fewer, now.armed(), now.generation()));
        }
        return fewer.isEmpty();
    }

    private void seen(Tell.Watched answer) {
        if (!answering(Target.of(answer.path()), answer.generation()).isEmpty()) {
            boolean known = lanes.get(answer.path()).data().isPresent();
            if (known || !scope.neglects().contains(Neglect.READ_AND_NOT_TOLD)) {
                learn(answer.path(), answer.data());
            } else {
                know(answer.path(), answer.data());
            }
        }
    }

    /** A new version is news to all that are there, whoever read it and why. */
    private void learn(int path, Data data) {
        boolean news = lanes.get(path).since() != data.version();
        know(path, data);
        if (news) {
            reached.add(Reached.NEWS);
            List.copyOf(lanes.get(path).present().values()).forEach(this::lookAgain);
        }
    }

    private void know(int path, Data data) {
        lanes.set(path, lanes.get(path).data(Optional.of(data)));
    }

    private void changed(Target target, Kind kind) {
        Watched told = watched.get(target);
        if (told == null) {
            return;
        }
        if (isSet(target, kind) || scope.neglects().contains(Neglect.LATE_MESSAGE_COUNTS)) {
            Set<Kind> still = new TreeSet<>(told.armed());
            still.remove(kind);
            watched.put(target, new Watched(told.listeners(), Set.copyOf(still), told.generation()));
        }
        if (target.node().isPresent()) {
            told.listeners().forEach(at -> told(at, target.node().get()));
        } else if (kind == Kind.DATA) {
            reached.add(Reached.RESIZED);
            told.listeners().forEach(this::lookAgain);
        } else {
            told.listeners().stream()
                    .filter(at -> place(at).leading().isPresent())
                    .forEach(at -> {
                        reached.add(Reached.MOVED);
                        lookAgain(at);
                    });
        }
    }

    private void gone(Target node) {
        Watched told = watched.remove(node);
        if (told != null) {
            told.listeners().forEach(at -> {
                if (place(at).own() && own(at).equals(node)) {
                    reached.add(Reached.OWN_NODE_GONE);
                    on(at.request(), new Event.OwnNodeGone(at.member()));
                } else {
                    goneAhead(at, node.node().orElseThrow());
                }
            });
        }
    }

    private void released(Target node) {
        Watched told = watched.remove(node);
        if (told != null) {
            told.listeners().forEach(at -> {
                place(at, place(at).ahead(minus(place(at).ahead(), node.node().orElseThrow())));
                if (machines.get(at.request()).isWaiting()) {
                    reached.add(Reached.HANDED_OVER);
                    on(at.request(), new Event.HandedOver(at.member()));
                }
            });
        }
    }

    // ---- where things are

    private List<At> members(int request) {
        List<At> all = new ArrayList<>();
        for (int i = 0; i < scope.request(session, request).wishes().size(); i++) {
            all.add(new At(request, i));
        }
        return all;
    }

    private Scope.Wish wish(At at) {
        return scope.request(session, at.request()).wishes().get(at.member());
    }

    private int path(At at) {
        return wish(at).path();
    }

    private Target own(At at) {
        return machines.get(at.request())
                .name(at.member())
                .map(name -> Target.of(path(at), name))
                .orElseThrow();
    }

    private Lane lane(At at) {
        return lanes.get(path(at));
    }

    private void lane(At at, Lane other) {
        lanes.set(path(at), other);
    }

    private Place place(At at) {
        return places.getOrDefault(at, Place.NEW);
    }

    private void place(At at, Place other) {
        places.put(at, other);
    }

    private static <T> List<T> plus(List<T> all, T one) {
        List<T> more = new ArrayList<>(all);
        more.add(one);
        return List.copyOf(more);
    }

    private static <T> List<T> minus(List<T> all, T one) {
        return all.stream().filter(other -> !other.equals(one)).toList();
    }
}
