// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.acquire.Acquisition;
import io.latchkey.zk.internal.acquire.Command;
import io.latchkey.zk.internal.acquire.Event;
import io.latchkey.zk.internal.acquire.MemberNode;
import io.latchkey.zk.internal.acquire.State;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.path.Deletion;
import io.latchkey.zk.internal.path.PendingDeletions;
import io.latchkey.zk.internal.path.QueueMember;
import io.latchkey.zk.internal.path.SessionQueues;
import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.session.Connection;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.SessionNode;
import io.latchkey.zk.internal.session.SessionRequest;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.validity.Clock;
import io.latchkey.zk.internal.validity.ClockReading;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A request: passes the session's events to its state machine, carries out the machine's commands, and completes the
 * caller's future. Confined to the engine's serial executor, except for {@link #outcome()}.
 *
 * <p>The class is long because all that can end a request is here as well: its time, its caller, its session, its
 * client and its server. Each may do so at any step, and all share one response to the caller.
 */
public final class Request implements SessionRequest, NodeCreation.Owner {
    private final ClientContext context;
    private final Client client;
    private final WaitPolicy waitPolicy;
    private final RequestEvents events;
    private final List<LockTarget> members;
    private final Acquisition machine;
    private final AcquireFuture outcome;
    private final Clock.@Nullable Timer timer;

    private final Command.Shell life = new Life();

    /** The event that is being handled, and those that wait for their turn. */
    private final Deque<PendingEvent> pending = new ArrayDeque<>(1);

    /** What it has in its present session; null before the first and between two. */
    private @Nullable InSession present;
    /** Set with the grant. */
    private @Nullable Holding holding;

    /** Whether the current attempt has looked at its queues before it creates nodes. */
    private boolean looked;

    /** The server that the lost create of the current attempt was sent to; empty if unknown. */
    private Optional<String> lostAt = Optional.empty();
    /** When the nodes of this attempt were first seen; null if they were not yet. */
    private @Nullable Sight seen;

    /** Whether any member had to wait in the current attempt. */
    private boolean waited;

    /** Completes the caller's future once the request has ended and the deletions of its nodes have a response. */
    private @Nullable Runnable onceDeleted;

    /** The deletions of its nodes without a response. */
    private int deleting;

    /**
     * A request in one session.
     *
     * @param entries one for each member
     */
    private record InSession(Session session, List<QueueEntry> entries) {}

    /**
     * An answer that showed the nodes.
     *
     * @param connection the number of the connection that it came over
     */
    private record Sight(int connection, ClockReading at) {}

    /**
     * An event that may have to wait.
     *
     * @param stillTrue asked at its turn
     */
    private record PendingEvent(Event event, BooleanSupplier stillTrue) {}

    /** The client that a request belongs to. */
    public interface Client {
        /** The request has ended, and its caller has the outcome. Called on the serial executor. */
        void forget(Request request);

        /** The deletion of a lost lease's node waits until the owner of the lease is notified. */
        void noticeBegins();

        /** The owner is notified, and the deletion is on its way. */
        void noticeEnds();
    }

    /**
     * @param events takes the events of the request, and knows its members
     */
    public Request(ClientContext context, Client client, WaitPolicy waitPolicy, RequestEvents events) {
        this.context = context;
        this.client = client;
        this.waitPolicy = waitPolicy;
        this.machine = new Acquisition(
                events.members().stream().map(member -> member.recipe().rule()).toList(), context::newId);
        this.members = events.members();
        this.events = events;
        this.outcome = new AcquireFuture(context, events, waitPolicy, this::abandon);
        this.outcome.open();
        Optional<Duration> limit = waitPolicy.limit(context.sessionTimeout());
        this.timer = limit.map(span -> context.clock().after(span, () -> context.execute(this::timeUp)))
                .orElse(null);
    }

    /** Returns what it is now: several holders if readers share the node. */
    public Stream<OwnRequest> atThisMoment() {
        return eventsOfOwners().map(owner -> new OwnRequest(owner, state() == State.HELD, machine.id()));
    }

    public AcquireFuture outcome() {
        return outcome;
    }

    /** Returns the events of its owners: of the current leases' owners while it holds. */
    private Stream<RequestEvents> eventsOfOwners() {
        return holding != null && machine.state() == State.HELD
                ? holding.leases().stream().map(ZkLease::events)
                : Stream.of(events);
    }

    @Override
    public void suspect() {
        eventsOfOwners().forEach(RequestEvents::suspect);
    }

    /** Returns whether {@code path} is the path of one of its locks. */
    public boolean isFor(LockPath path) {
        return members.stream().anyMatch(member -> member.path().equals(path));
    }

    public State state() {
        return machine.state();
    }

    private Holding holding() {
        return Objects.requireNonNull(holding, "the request was never granted");
    }

    private Session session() {
        return Objects.requireNonNull(present, "the request has no session").session();
    }

    /** Returns the entries of its members; none while it has no session. */
    private List<QueueEntry> entries() {
        return present == null ? List.of() : present.entries();
    }

    @Override
    public boolean canBeDeferred() {
        return !(waitPolicy instanceof WaitPolicy.Never)
                && members.size() == 1
                && members.get(0).recipe().isExclusive();
    }

    @Override
    public void behindOthers() {
        events.behindOthers();
    }

    public void begin(SessionQueues in) {
        if (machine.state() == State.NEW) {
            join(in);
            on(new Event.Begin());
        } else if (machine.state() == State.ENQUEUEING && present == null) {
            join(in);
            createOnceConnected();
        }
    }

    private void join(SessionQueues in) {
        present = new InSession(in.session(), QueueEntry.join(machine, this, members, in));
    }

    @Override
    public void on(Event event) {
        on(event, () -> true);
    }

    /**
     * {@inheritDoc}
     *
     * <p>Events run to completion: one that a command causes waits until all commands of the present event are carried
     * out. So no command runs after those of a later event, and each finds the request in the state for which the
     * machine has given it. An event may be overtaken while it waits, so it is asked again at its turn.
     *
     * <p>Other requests' events run at once. A neighbour is granted by a release before the transaction of that release
     * is put together, which checks the neighbour's node.
     */
    @Override
    public void on(Event event, BooleanSupplier stillTrue) {
        pending.add(new PendingEvent(event, stillTrue));
        if (pending.size() > 1) {
            return;
        }
        while (!pending.isEmpty()) {
            PendingEvent next = pending.element();
            if (next.stillTrue().getAsBoolean()) {
                handle(next.event());
            }
            pending.remove();
        }
    }

    private void handle(Event event) {
        if (event instanceof Event.CreateLost) {
            // Losses and connections are reported in their order, so it was sent on the last connection if on any.
            lostAt = session().connection().server();
            seen = null;
        } else if (event instanceof Event.Created
                || (event instanceof Event.Listed && machine.state() == State.RECOVERING && seen == null)) {
            seen = new Sight(session().connection().number(), context.now());
        }
        List<Command> commands = machine.on(event);
        State now = machine.state();
        for (Command command : commands) {
            command.carryOut(life);
            if (machine.state() != now) {
                throw new IllegalStateException(
                        "an event was handled inside of " + event + " of request " + machine.id());
            }
        }
        if (present != null) {
            for (QueueEntry entry : present.entries()) {
                entry.sessionQueue().reader().reconsider();
            }
            if (machine.state() != State.CONFIRMING) {
                session().heartbeat().cancelConfirmation(this);
            }
        }
        if (machine.state() == State.ENDED) {
            ended();
        } else if (event instanceof Event.GiveUp
                && (present == null || session().cancelCreate(this))) {
            // Between two sessions or without a connection, no create was sent.
            on(new Event.CreateRefused());
        }
    }

    private void ended() {
        if (onceDeleted == null) {
            client.forget(this);
        }
        if (present != null) {
            present.session().validity().removeHolder(this);
            for (QueueEntry entry : present.entries()) {
                entry.sessionQueue().forget(entry);
            }
        }
        if (holding != null) {
            holding.ended();
            entries().forEach(entry -> entry.found(false));
        }
        answerIfDeleted();
    }

    /**
     * The life of a request: a method for each command of its state machine, in the order of an acquire. {@link
     * Acquisition#EDGES} shows when each is given.
     */
    private final class Life implements Command.Shell {
        @Override
        public void enqueue() {
            if (present != null) {
                createOnceConnected();
            }
        }

        @Override
        public void recover() {
            entries().forEach(entry -> entry.sessionQueue().reader().listForLostCreate(entry));
        }

        @Override
        public void discard(String id) {
            entries().forEach(entry -> entry.sessionQueue().lostCreates().discard(id, lostAt));
        }

        @Override
        public void remember(String id) {
            entries().forEach(entry -> entry.sessionQueue().lostCreates().remember(id, lostAt));
        }

        @Override
        public void arrived(List<MemberNode> nodes) {
            for (MemberNode node : nodes) {
                QueueEntry entry = entries().get(node.member());
                entry.sessionQueue().nodes().arrived(entry, node.name());
                if (entry.sessionQueue().reader().isDeferred(entry)) {
                    behindOthers();
                }
            }
        }

        @Override
        public void lookUp(MemberNode node) {
            readToken(entries().get(node.member()), node.name());
        }

        @Override
        public void listQueue(int member) {
            QueueEntry entry = entries().get(member);
            entry.sessionQueue().reader().list(entry);
        }

        @Override
        public void watch(int member, Decision.Wait how, int ahead) {
            if (waitPolicy instanceof WaitPolicy.Never) {
                entries().get(member).found(true);
                giveUpThen(() -> outcome.answer(Optional.empty()));
                return;
            }
            if (!waited) {
                waited = true;
                events.queued(ahead);
            }
            entries().get(member).watch(how);
        }

        @Override
        public void announce(int member, NodeName next) {
            QueueEntry entry = entries().get(member);
            entry.sessionQueue().announce(entry, next);
        }

        @Override
        public void stopWatching() {
            entries().forEach(QueueEntry::stopWatching);
        }

        @Override
        public void refuse(int member, int capacity) {
            QueueEntry entry = entries().get(member);
            fail(Errors.tooMany(entry.path().shown(), entry.recipe().permits(), capacity));
        }

        @Override
        public void renew(int member, long since) {
            QueueEntry entry = entries().get(member);
            entry.sessionQueue().renew(entry, since);
        }

        @Override
        public void confirm() {
            Request.this.confirm();
        }

        @Override
        public void grant(long token) {
            stopTimer();
            entries().forEach(entry -> {
                entry.sessionQueue().nodes().granted(entry);
                entry.found(false);
            });
            session().validity().addHolder(Request.this);
            holding = new Holding(entries(), session(), token, events, Request.this::on);
            ZkLease granted = holding.newLease();
            granted.goesTo(events);
            if (!outcome.answer(Optional.of(granted))) {
                // Also if the caller's stack had no room left to give the request up.
                context.execute(granted::abandon);
            }
        }

        @Override
        public void leaveAsHolder(List<MemberNode> nodes, Consumer<ReleaseOutcome> then) {
            deletions().release(nodesToDelete(nodes), !holding().mustDeleteBeforeHandOver(), then);
        }

        @Override
        public void leave(List<MemberNode> nodes) {
            List<Deletion.NodeToDelete> toDelete = nodesToDelete(nodes);
            deleting++;
            deletions().withdraw(toDelete, Request.this::onceNotified, ignored -> {
                deleting--;
                answerIfDeleted();
            });
        }

        @Override
        public void lose(LossCause cause) {
            holding().lose(cause);
        }

        @Override
        public void gone(List<MemberNode> nodes) {
            for (MemberNode node : nodes) {
                QueueEntry entry = entries().get(node.member());
                entry.sessionQueue().nodes().ended(entry);
                entry.sessionQueue().nodes().gone(node.name());
                if (machine.state() == State.HELD) {
                    // By the node that has replaced it.
                    entry.sessionQueue().nodes().granted(entry);
                }
            }
        }
    }

    /**
     * Confirms the request, after one committed transaction has checked the nodes that need it:
     *
     * <ul>
     *   <li>All of a multi-lock that waited. Its members become ready at different times, and the deletion of a ready
     *       one's node would leave its place to others. A node that exists then existed all along. One member that
     *       waited has a watch of its node, has just read a list with it, or follows a release that checks it.
     *   <li>All of a request that did not wait and has not just seen its nodes: a list of it was throttled, or lost with
     *       the connection.
     *   <li>Those of this session's holders that cannot hold beside it. Other clients have deleted these, or it would
     *       not be ready, and the holders have not noticed. They lose before the grant. One that is being downgraded
     *       learns it by the answer, for which the request waits.
     * </ul>
     */
    private void confirm() {
        String attempt = machine.id();
        Optional<QueueMember> replaced = entries().stream()
                .flatMap(entry -> entry.sessionQueue().nodes().replacedHolder(entry).stream())
                .findFirst();
        if (replaced.isPresent()) {
            replaced.get().onceReplaced(() -> confirmAgain(attempt));
            return;
        }
        List<SessionNode.OwnedNode> nodes = new ArrayList<>(0);
        if (waited ? members.size() > 1 : !hasJustSeenItsNodes()) {
            nodes.addAll(QueueEntry.ownedNodes(entries()));
        }
        entries().forEach(entry -> nodes.addAll(entry.sessionQueue().nodes().holdersExcludedBy(entry)));
        if (nodes.isEmpty()) {
            session().heartbeat().confirm(this);
            return;
        }
        session().nodeChecks().check(nodes, () -> isConfirming(attempt), answer -> {
            if (!isConfirming(attempt)) {
                return;
            }
            if (!answer.ok()) {
                session().heartbeat().afterBeat(() -> confirmAgain(attempt));
            } else if (answer.get()
                    .failedAt()
                    .filter(found -> found.code() == Status.NO_NODE)
                    .isPresent()) {
                confirmAgain(attempt);
            } else {
                session().heartbeat().confirm(this);
            }
        });
    }

    private boolean hasJustSeenItsNodes() {
        Sight last = seen;
        return last != null
                && last.connection() == session().connection().number()
                && session().isJustNow(last.at());
    }

    private void confirmAgain(String attempt) {
        if (isConfirming(attempt)) {
            confirm();
        }
    }

    private boolean isConfirming(String attempt) {
        return machine.state() == State.CONFIRMING && machine.id().equals(attempt);
    }

    private void createOnceConnected() {
        waited = false;
        looked = false;
        session().whenConnectedCreate(this);
    }

    @Override
    public void create() {
        if (waitPolicy instanceof WaitPolicy.Never
                && !looked
                && entries().stream().anyMatch(QueueEntry::seemsBlocked)) {
            looked = true;
            new FirstLook(entries(), machine.id())
                    .look(session(), () -> machine.state() == State.ENQUEUEING, this::looked);
        } else {
            createNodes();
        }
    }

    /** Continues after a look: no create was sent, so no node can be left. */
    private void looked(FirstLook.Result result) {
        if (machine.state() == State.ABANDONING) {
            on(new Event.CreateRefused());
            return;
        }
        switch (result) {
            case BLOCKED -> {
                giveUpThen(() -> outcome.answer(Optional.empty()));
                on(new Event.CreateRefused());
            }
            case FREE -> createNodes();
            case LOST -> createOnceConnected();
        }
    }

    private void createNodes() {
        new NodeCreation(session(), machine, this, entries()).start();
    }

    private PendingDeletions deletions() {
        return entries().get(0).sessionQueue().deletions();
    }

    private List<Deletion.NodeToDelete> nodesToDelete(List<MemberNode> nodes) {
        List<Deletion.NodeToDelete> toDelete = new ArrayList<>(nodes.size());
        for (MemberNode node : nodes) {
            QueueEntry entry = entries().get(node.member());
            entry.sessionQueue().nodes().ended(entry);
            toDelete.add(entry.nodeToDelete(node.name()));
        }
        return toDelete;
    }

    private void readToken(QueueEntry entry, NodeName node) {
        Connection connection = session().connection();
        connection.read(
                () -> entry.node().equals(Optional.of(node)), entry.path().child(node), answer -> {
                    boolean isThere = entry.node().equals(Optional.of(node));
                    if (machine.state() != State.QUEUED || !isThere) {
                        return;
                    }
                    switch (answer.code()) {
                        case OK -> on(new Event.Found(answer.get().czxid()));
                        case NO_NODE -> entry.nodeGone(node);
                        case CONNECTION_LOSS, READ_ONLY ->
                            connection.whenConnected(() -> {
                                if (entry.node().equals(Optional.of(node))) {
                                    readToken(entry, node);
                                }
                            });
                        default ->
                            fail(Errors.of(entry.path().shown(), Errors.Purpose.toSee("read a request"), answer));
                    }
                });
    }

    @Override
    public void confirmed() {
        on(new Event.Confirmed(), () -> machine.state() == State.CONFIRMING);
    }

    @Override
    public void lapsed() {
        on(new Event.Lapsed(), () -> machine.state() == State.HELD);
    }

    /** Leaves a session that has ended; a waiting request continues in the next one. */
    public void sessionOver() {
        present = null;
        if (machine.state() != State.ENDED && machine.state() != State.NEW) {
            on(new Event.SessionOver());
        }
        runOnceDeleted();
    }

    /** Releases and passes the outcome to {@code then}. */
    public void release(Consumer<ReleaseOutcome> then) {
        if (machine.state() == State.HELD) {
            on(new Event.Release(then));
        } else {
            then.accept(ReleaseOutcome.LOST);
        }
    }

    /** Closes the client's request: a lease is lost, and a waiting caller gets its outcome if known, else the error. */
    public void close(LockException closed) {
        if (machine.state() == State.HELD) {
            holding().lose(LossCause.CLIENT_CLOSED);
            onceNotified(() -> release(ignored -> {}));
        } else if (onceDeleted != null) {
            runOnceDeleted();
        } else {
            settle(() -> outcome.fail(closed));
        }
    }

    private void onceNotified(Runnable then) {
        if (holding == null) {
            then.run();
        } else {
            holding.onceNotified(client::noticeBegins, client::noticeEnds, then);
        }
    }

    /** Asks the holder to release, as its client closes. */
    public void askToRelease() {
        if (machine.state() == State.HELD) {
            holding().askedToRelease(context.owner());
        }
    }

    /** Gives the request up, as its caller was interrupted or has cancelled. */
    private void abandon() {
        if (machine.state() == State.HELD) {
            holding().leases().forEach(ZkLease::abandon);
        } else {
            settle(() -> outcome.answer(Optional.empty()));
        }
    }

    @Override
    public void throttled(boolean putOff) {
        events.putOff(putOff);
    }

    private void timeUp() {
        if (onceDeleted != null) {
            runOnceDeleted();
        } else {
            settle(outcome::timeUp);
        }
    }

    /** Completes the caller's future first and cleans up afterwards. */
    private void settle(Runnable answer) {
        stopTimer();
        answer.run();
        giveUp();
    }

    @Override
    public void fail(LockException error) {
        giveUpThen(() -> outcome.fail(error));
    }

    /** Fails a request whose creation the server refused: no node has to be deleted. */
    @Override
    public void refused(LockException error) {
        stopTimer();
        on(new Event.CreateRefused());
        outcome.fail(error);
    }

    /**
     * Cleans up first and then completes the caller's future: its outcome is true for all clients by then. A create
     * on its way is waited for, since the node that it makes has to be deleted, too.
     */
    private void giveUpThen(Runnable answer) {
        if (machine.state() == State.ENDED || machine.state() == State.HELD || onceDeleted != null) {
            return;
        }
        onceDeleted = answer;
        giveUp();
    }

    private void giveUp() {
        on(new Event.GiveUp(), () -> machine.state() != State.ENDED && machine.state() != State.HELD);
    }

    private void answerIfDeleted() {
        if (deleting == 0 && machine.state() == State.ENDED) {
            runOnceDeleted();
        }
    }

    private void runOnceDeleted() {
        if (onceDeleted != null) {
            stopTimer();
            Runnable answer = onceDeleted;
            onceDeleted = null;
            if (machine.state() == State.ENDED) {
                client.forget(this);
            }
            answer.run();
        }
    }

    private void stopTimer() {
        if (timer != null) {
            timer.cancel();
        }
    }
}
