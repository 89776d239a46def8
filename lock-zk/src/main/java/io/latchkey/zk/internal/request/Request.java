// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.Diagnosis;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.acquire.Acquisition;
import io.latchkey.zk.internal.acquire.Command;
import io.latchkey.zk.internal.acquire.Event;
import io.latchkey.zk.internal.acquire.Placed;
import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.path.PendingDeletions;
import io.latchkey.zk.internal.path.SessionQueues;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.Namings;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.OtherUse;
import io.latchkey.zk.internal.queue.Owner;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.SessionNode;
import io.latchkey.zk.internal.session.SessionRequest;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.threads.SerialExecutor;
import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The shell of one request: feeds its state machine with what the session brings, carries out the machine's commands,
 * and answers the caller. Confined to the engine's serial executor, but for {@link #outcome()}.
 */
public final class Request
        implements SessionRequest, ZkLease.Holder, QueueEntry.Shell, NodeCreation.Shell, Downgrade.Shell {
    private final ClientContext context;
    private final Client client;
    private final WaitPolicy patience;
    private final RequestEvents signals;
    private final List<QueueEntry> places;
    private final Acquisition machine;
    private final AcquireFuture outcome;
    private final Clock.@Nullable Timer timer;

    /** The lock whose path has to be free of requests of Latchkey's own layout; null if it is not shared in that way. */
    private @Nullable LockTarget neighbour;
    /** The attempt behind whose node that path was seen to be free. */
    private String lookedFor = "";
    /** A look at that path is on its way. */
    private boolean looking;

    private @Nullable Session session;
    private @Nullable ZkLease lease;
    private @Nullable Downgrade downgrade;
    private boolean over;
    /** Whether any member had to wait in the present attempt. */
    private boolean waited;

    /** What the caller is to be told once the nodes' deletion is answered. */
    private @Nullable Runnable onceLeft;

    /** The holder wants to know when somebody deletes a node. */
    private boolean watchesOwn;
    /** Who was the first to ask the holder to let go. */
    private Optional<Owner> wish = Optional.empty();

    private Consumer<ReleaseOutcome> onceReleased = ignored -> {};
    private Runnable onceEnded = () -> {};

    private ZkLease.Successor successor = released -> false;

    /** The client of a request. */
    public interface Client {
        /** The request is over. On the serial executor. */
        void forget(Request request);

        /** The lease that the thread waiting for {@code waiting} holds itself, so that it waits forever, if there is one. */
        Optional<Diagnosis.Own> heldByCallerOf(RequestEvents waiting);
    }

    /**
     * @param signals where news of it goes
     */
    public Request(
            ClientContext context,
            Client client,
            List<LockTarget> members,
            WaitPolicy patience,
            RequestEvents signals) {
        this.context = context;
        this.client = client;
        this.patience = patience;
        this.machine = new Acquisition(
                members.stream().map(member -> member.recipe().rule()).toList(), context::newId);
        List<QueueEntry> all = new ArrayList<>(members.size());
        for (LockTarget member : members) {
            all.add(new QueueEntry(machine, this, all.size(), member));
        }
        this.places = List.copyOf(all);
        this.signals = signals;
        this.outcome = new AcquireFuture(context, client::heldByCallerOf, signals, this::abandon);
        Optional<Duration> limit = patience.limit(context.sessionTimeout());
        this.timer = limit.map(span -> context.time().after(span, () -> context.serially(this::timeUp)))
                .orElse(null);
    }

    public OwnRequest atThisMoment() {
        return new OwnRequest(ownersSignals(), state() == State.HELD, id(), paths());
    }

    public AcquireFuture outcome() {
        return outcome;
    }

    /** News of its owner: of the present lease's while it is held. */
    RequestEvents ownersSignals() {
        return lease != null && machine.state() == State.HELD ? lease.signals() : signals;
    }

    /** Is granted only if no request of Latchkey's own layout stands at the path of this lock, as Curator's semaphore needs it. */
    public void looksFor(LockTarget lock) {
        neighbour = lock;
    }

    @Override
    public void suspect() {
        Objects.requireNonNull(lease).signals().suspect();
    }

    public RequestEvents signals() {
        return signals;
    }

    private String shown(String path) {
        return context.shown(path);
    }

    @Override
    public String shownPath() {
        return shown(places.get(0).lock());
    }

    /** Whether it had to wait in its present or last attempt. */
    public boolean hasWaited() {
        return waited;
    }

    /** Whether {@code path} is the node of one of its locks. */
    public boolean isFor(String path) {
        return places.stream().anyMatch(place -> place.lock().equals(path));
    }

    /** The paths of its members, as the ZooKeeper handle sees them. */
    List<String> paths() {
        return places.stream().map(QueueEntry::path).toList();
    }

    public State state() {
        return machine.state();
    }

    String id() {
        return machine.id();
    }

    /** The places whose nodes are there, with these nodes. */
    private List<SessionNode.Standing> standing() {
        List<SessionNode.Standing> standing = new ArrayList<>(places.size());
        for (QueueEntry place : places) {
            place.node().ifPresent(name -> standing.add(new SessionNode.Standing(place, name)));
        }
        return standing;
    }

    private Session session() {
        return Objects.requireNonNull(session, "the request has no session");
    }

    @Override
    public boolean canBePutOff() {
        return !(patience instanceof WaitPolicy.Never)
                && places.size() == 1
                && places.get(0).isExclusive();
    }

    /** Whether its nodes are there and it is not granted yet. */
    private boolean isWaiting() {
        return machine.state() == State.QUEUED || machine.state() == State.CONFIRMING;
    }

    public void begin(SessionQueues in) {
        if (machine.state() == State.NEW) {
            join(in);
            on(new Event.Begin());
        } else if (machine.state() == State.ENQUEUEING && session == null) {
            join(in);
            enqueue();
        }
    }

    private void join(SessionQueues in) {
        session = in.session();
        places.forEach(place -> place.join(in));
    }

    @Override
    public void on(Event event) {
        List<Optional<NodeName>> before = nodes();
        List<Command> commands = machine.on(event);
        List<Optional<NodeName>> after = nodes();
        for (QueueEntry place : places) {
            after.get(place.index())
                    .filter(name -> !before.get(place.index()).equals(Optional.of(name)))
                    .ifPresent(name -> place.lane().nodes().arrived(place, name));
        }
        List<Placed> left = new ArrayList<>(0);
        for (Command command : commands) {
            if (command instanceof Command.Leave leave) {
                left.addAll(leave.nodes());
            } else if (command instanceof Command.LeaveAsHolder leave) {
                left.addAll(leave.nodes());
            }
            // Each by itself: what keeps one from being carried out must not keep a node from being deleted.
            SerialExecutor.attempt(() -> carryOut(command));
        }
        if (session != null) {
            for (QueueEntry place : places) {
                before.get(place.index())
                        .filter(name -> !after.get(place.index()).equals(Optional.of(name)))
                        .ifPresent(name -> {
                            place.lane().nodes().ended(place);
                            if (!left.contains(new Placed(place.index(), name))) {
                                place.lane().nodes().gone(name);
                            }
                        });
                place.lane().reader().reconsider();
            }
        }
        if (session != null && machine.state() != State.CONFIRMING) {
            session.heartbeat().confirmsNoMore(this);
        }
        if (machine.state() == State.ENDED) {
            ended();
        }
    }

    /** Once: what ends it may be a command that is carried out in the midst of another event. */
    private void ended() {
        if (over) {
            return;
        }
        over = true;
        client.forget(this);
        if (session != null) {
            session.validity().holdsNoMore(this);
            for (QueueEntry place : places) {
                place.lane().forget(place);
            }
        }
        if (downgrade != null) {
            downgrade.requestEnded();
            downgrade = null;
        }
        onceEnded.run();
        successor.ended();
    }

    private List<Optional<NodeName>> nodes() {
        if (places.size() == 1) {
            return List.of(places.get(0).node());
        }
        List<Optional<NodeName>> nodes = new ArrayList<>(places.size());
        for (QueueEntry place : places) {
            nodes.add(place.node());
        }
        return nodes;
    }

    private void carryOut(Command command) {
        if (command instanceof Command.Enqueue) {
            if (session != null) {
                enqueue();
            }
        } else if (command instanceof Command.ListQueue list) {
            QueueEntry place = places.get(list.member());
            place.lane().reader().list(place);
        } else if (command instanceof Command.Watch watch) {
            watch(watch);
        } else if (command instanceof Command.Tell tell) {
            QueueEntry place = places.get(tell.member());
            place.lane().tell(place, tell.next());
        } else if (command instanceof Command.StopWatching) {
            places.forEach(QueueEntry::stopWatching);
        } else if (command instanceof Command.Confirm) {
            confirm();
        } else if (command instanceof Command.Grant grant) {
            granted(grant);
        } else if (command instanceof Command.LeaveAsHolder leave) {
            List<PendingDeletions.Left> nodes = leaving(leave.nodes());
            departures().release(nodes, !handsOverLate(), onceReleased);
        } else if (command instanceof Command.Leave leave) {
            List<PendingDeletions.Left> nodes = leaving(leave.nodes());
            departures().withdraw(nodes, ignored -> runOnceLeft());
        } else if (command instanceof Command.Disown disown) {
            places.forEach(place -> place.lane().reader().disown(disown.id()));
        } else if (command instanceof Command.Remember remember) {
            places.forEach(place -> place.lane().reader().remember(remember.id()));
        } else if (command instanceof Command.Recover) {
            places.forEach(place -> place.lane().reader().listForLostCreate(place));
        } else if (command instanceof Command.LookUp lookUp) {
            lookUp(lookUp.node());
        } else if (command instanceof Command.Drain drain) {
            QueueEntry place = places.get(drain.member());
            place.lane().drain(place, drain.since());
        } else if (command instanceof Command.Refuse refuse) {
            QueueEntry place = places.get(refuse.member());
            fail(Errors.tooMany(shown(place.path()), place.recipe().permits(), refuse.capacity()));
        } else if (command instanceof Command.Lose lose) {
            Objects.requireNonNull(lease).lose(lose.cause());
        }
    }

    /**
     * Several members are ready at different moments, and a node that somebody deleted meanwhile would leave its place to
     * others: so they are all checked once more, by one committed transaction. What is there then was there all along.
     */
    private void confirm() {
        if (neighbour != null && !lookedFor.equals(machine.id())) {
            look();
            return;
        }
        if (places.size() == 1 || !waited) {
            session().heartbeat().confirm(this);
            return;
        }
        List<SessionNode.Standing> nodes = standing();
        String attempt = machine.id();
        session().wire().write(SessionNode.Standing.checks(nodes), answer -> {
            if (machine.state() != State.CONFIRMING || !machine.id().equals(attempt)) {
                return;
            }
            if (!answer.ok()) {
                session().tryAgain(() -> {
                    if (machine.state() == State.CONFIRMING && machine.id().equals(attempt)) {
                        confirm();
                    }
                });
                return;
            }
            Optional<ZnodeStore.Refusal> refusal = answer.get().failedAt();
            if (refusal.filter(found -> found.code() == Status.NO_NODE).isPresent()) {
                nodes.get(refusal.get().index()).gone();
            } else {
                session().heartbeat().confirm(this);
            }
        });
    }

    private void enqueue() {
        waited = false;
        session().whenConnectedCreate(this);
    }

    @Override
    public void create() {
        new NodeCreation(session(), machine, this, places).start();
        look();
    }

    /**
     * In the flight of the create; again before the grant if the node was not yet known to be there when the answer came,
     * since then it may show a moment before the create.
     */
    private void look() {
        if (neighbour == null || looking) {
            return;
        }
        LockTarget other = neighbour;
        String attempt = machine.id();
        looking = true;
        session().lists().ask(other.lock(), () -> isStillPlaced(attempt), answer -> {
            looking = false;
            boolean ours = isStillPlaced(attempt);
            if (ours && answer.ok()) {
                Optional<OtherUse> own = answer.get().children().stream()
                        .filter(child -> Namings.LATCHKEY.parse(child).isPresent())
                        .findFirst()
                        .map(Naming::ownLayout);
                if (own.isPresent()) {
                    context.usedOtherwise(other.lock(), own.get());
                    fail(Errors.mismatch(shown(other.lock()), other.recipe().purpose(), own.get()));
                    return;
                }
                lookedFor = machine.name(0).isPresent() ? attempt : "";
            } else if (ours && answer.code() == Status.NO_AUTH) {
                fail(Errors.denied(shown(other.lock()), "look for requests of another layout", answer));
                return;
            } else if (ours && answer.code() == Status.TOO_LONG) {
                fail(Errors.tooLong(shown(other.lock()), answer));
                return;
            }
            if (machine.state() == State.CONFIRMING && answer.ok()) {
                confirm();
            } else if (machine.state() == State.CONFIRMING) {
                session().tryAgain(this::confirmStill);
            }
        });
    }

    /** Whether the attempt goes on whose nodes are there or on their way. */
    private boolean isStillPlaced(String attempt) {
        return machine.id().equals(attempt) && (isWaiting() || machine.state() == State.ENQUEUEING);
    }

    private void confirmStill() {
        if (machine.state() == State.CONFIRMING && !looking) {
            confirm();
        }
    }

    private PendingDeletions departures() {
        return places.get(0).lane().departures();
    }

    private List<PendingDeletions.Left> leaving(List<Placed> nodes) {
        List<PendingDeletions.Left> leaving = new ArrayList<>(nodes.size());
        for (Placed node : nodes) {
            QueueEntry place = places.get(node.member());
            place.lane().nodes().ended(place);
            leaving.add(place.leaves(node.name()));
        }
        return leaving;
    }

    private void watch(Command.Watch watch) {
        if (patience instanceof WaitPolicy.Never) {
            giveUpThen(() -> outcome.answer(Optional.empty()));
            return;
        }
        if (!waited) {
            waited = true;
            signals.queued(watch.ahead());
        }
        places.get(watch.member()).watch(watch.how());
    }

    private void lookUp(Placed node) {
        QueueEntry place = places.get(node.member());
        session()
                .wire()
                .<ZnodeStore.NodeData>ask(
                        then -> session()
                                .wire()
                                .port()
                                .read(place.lane().pathOf(node.name().text()), then),
                        answer -> {
                            boolean stillWanted = machine.state() == State.QUEUED
                                    && place.node().equals(Optional.of(node.name()));
                            if (!stillWanted) {
                                return;
                            }
                            switch (answer.code()) {
                                case OK -> on(new Event.Found(answer.get().czxid()));
                                case NO_NODE -> place.nodeGone(node.name());
                                case CONNECTION_LOSS, READ_ONLY ->
                                    session().wire().whenConnected(() -> {
                                        if (place.node().equals(Optional.of(node.name()))) {
                                            lookUp(node);
                                        }
                                    });
                                default -> fail(Errors.refused(shown(place.path()), answer));
                            }
                        });
    }

    private void granted(Command.Grant grant) {
        stopTimer();
        places.forEach(place -> place.lane().nodes().granted(place));
        session().validity().holds(this);
        ZkLease granted = lease(grant.token());
        granted.goesTo(signals);
        outcome.answer(Optional.of(granted));
    }

    @Override
    public void confirmed() {
        if (machine.state() == State.CONFIRMING) {
            on(new Event.Confirmed());
        }
    }

    @Override
    public void lapsed() {
        if (machine.state() == State.HELD) {
            on(new Event.Lapsed());
        }
    }

    /** The session is over; a waiting request goes on with the next one. */
    public void sessionOver() {
        session = null;
        looking = false;
        places.forEach(QueueEntry::leaveSession);
        if (machine.state() != State.ENDED && machine.state() != State.NEW) {
            on(new Event.SessionOver());
        }
        runOnceLeft();
    }

    @Override
    public void downgrade(ZkLease write, Recipe by, CompletableFuture<ZkLease> then) {
        if (machine.state() != State.HELD || !write.equals(lease) || downgrade != null) {
            Downgrade.refuse(write, then);
            return;
        }
        downgrade = new Downgrade(this, places.get(0), session(), write, by, then);
        downgrade.start();
    }

    @Override
    public ZkLease downgraded(ZkLease write, NodeName by) {
        downgrade = null;
        on(new Event.Downgraded(by));
        if (watchesOwn) {
            watchOwnNodes();
        }
        return lease(write.token());
    }

    private ZkLease lease(long token) {
        ZkLease made = new ZkLease(this, standing(), places.get(0).recipe(), token, session(), signals);
        lease = made;
        return made;
    }

    @Override
    public void passOnTo(ZkLease.Successor next) {
        successor = next;
    }

    @Override
    public ZkLease passOn() {
        return lease(Objects.requireNonNull(lease).token());
    }

    /** The watch on the node was given up for the one that was to replace it. */
    @Override
    public void notDowngraded() {
        downgrade = null;
        if (watchesOwn) {
            watchOwnNodes();
        }
    }

    // ---- for a holder that wants to be told

    @Override
    public void watchOwnNodes() {
        watchesOwn = true;
        if (machine.state() == State.HELD) {
            places.stream().filter(place -> place.replacement().isEmpty()).forEach(QueueEntry::watchOwn);
        }
    }

    @Override
    public void listen() {
        if (machine.state() == State.HELD) {
            watchOwnNodes();
            places.forEach(QueueEntry::openEar);
            wish.ifPresent(Objects.requireNonNull(lease)::askedToRelease);
        }
    }

    @Override
    public boolean isAskedToRelease() {
        return wish.isPresent();
    }

    @Override
    public void askedToRelease(Owner by) {
        if (machine.state() == State.HELD && wish.isEmpty()) {
            wish = Optional.of(by);
            Objects.requireNonNull(lease).askedToRelease(by);
        }
    }

    @Override
    public void cannotBeAsked(LockException why) {
        if (machine.state() == State.HELD) {
            Objects.requireNonNull(lease).cannotBeAsked(why);
        }
    }

    /** What to do, at once, when it ends by whatever cause. */
    public void onceEnded(Runnable then) {
        onceEnded = then;
    }

    /** Whether the next holder of this client has to wait until the server has deleted the nodes. */
    private boolean handsOverLate() {
        return Objects.requireNonNull(lease).hasOpenWrites();
    }

    @Override
    public void release(Consumer<ReleaseOutcome> then) {
        if (machine.state() != State.HELD) {
            then.accept(ReleaseOutcome.LOST);
            return;
        }
        if (!handsOverLate() && successor.takesOver(this)) {
            then.accept(ReleaseOutcome.RELEASED);
            return;
        }
        onceReleased = then;
        on(new Event.Release());
    }

    /** The client closes: a held lease is lost to its owner, a waiting caller is told. */
    public void close(LockException closed) {
        if (machine.state() == State.HELD) {
            Objects.requireNonNull(lease).lose(LossCause.CLIENT_CLOSED);
            successor = released -> false;
            release(ignored -> {});
        } else {
            settle(() -> outcome.fail(closed));
        }
    }

    /** Nobody wants the outcome any more: interrupted or cancelled. */
    public void abandon() {
        if (machine.state() == State.HELD) {
            Objects.requireNonNull(lease).abandon();
        } else {
            settle(() -> outcome.answer(Optional.empty()));
        }
    }

    private void timeUp() {
        if (onceLeft != null) {
            runOnceLeft();
        } else if (patience instanceof WaitPolicy.Never) {
            settle(() -> outcome.fail(
                    new LockUnavailableException(Errors.outOfReach(shownPath(), context.sessionTimeout()))));
        } else {
            settle(() -> outcome.answer(Optional.empty()));
        }
    }

    /** Answers the caller at once and cleans up behind. */
    private void settle(Runnable answer) {
        stopTimer();
        if (!outcome.isAnswered()) {
            answer.run();
            giveUp();
        }
    }

    @Override
    public void fail(LockException error) {
        giveUpThen(() -> outcome.fail(error));
    }

    /** The server refused the creation: nothing is there to clean up. */
    @Override
    public void refused(LockException error) {
        stopTimer();
        on(new Event.CreateRefused());
        outcome.fail(error);
    }

    /** Cleans up, then answers the caller: what it is told is true for everybody by then. */
    private void giveUpThen(Runnable answer) {
        if (machine.state() == State.ENDED || machine.state() == State.HELD || onceLeft != null) {
            return;
        }
        onceLeft = answer;
        boolean leaves = !standing().isEmpty();
        giveUp();
        if (!leaves) {
            runOnceLeft();
        }
    }

    private void giveUp() {
        if (machine.state() != State.ENDED && machine.state() != State.HELD) {
            on(new Event.GiveUp());
        }
        if (machine.state() == State.ABANDONING && (session == null || session.createsNoMore(this))) {
            // Between two sessions or without a connection: nothing was sent.
            on(new Event.CreateRefused());
        }
    }

    private void runOnceLeft() {
        if (onceLeft != null) {
            stopTimer();
            Runnable answer = onceLeft;
            onceLeft = null;
            answer.run();
        }
    }

    private void stopTimer() {
        if (timer != null) {
            timer.cancel();
        }
    }
}
