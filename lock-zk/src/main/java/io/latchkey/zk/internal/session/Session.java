// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.lock.LockObserver;
import io.latchkey.zk.internal.events.ConnectionLog;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.threads.SerialExecutor;
import io.latchkey.zk.internal.validity.ClockReading;
import io.latchkey.zk.internal.validity.SessionExpiryBound;
import io.latchkey.zk.internal.validity.ValidityPeriod;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One ZooKeeper session from its first connection to its end: its connection, its validity, its heartbeat and
 * its watches. Every request belongs to exactly one. Confined to the engine's serial executor, but for what is volatile.
 *
 * <p>The heartbeat is one transaction that checks all nodes of the session, but for those of thousands that watches look
 * after. It changes nothing, and proves four things at once: a quorum, a live session, the nodes being there, and, after
 * a reconnect, that what this session sent over the former connection has been carried out by now, or is not going to be
 * on this one.
 * So the same beat is also the barrier behind which lost answers are looked for, and the probe that finds out when the
 * servers are back (docs/protocol.md, "Heartbeat and barrier").
 */
public final class Session {
    /** Heartbeats in a session time-out: two of them lie further apart than the margin, and one may be late. */
    private static final int BEATS = 6;
    /** How many nodes a heartbeat begins to leave to watches, at most. */
    private static final int TO_WATCHES = 1_000;
    /** After so many of one connection each lease has as much time left as it ever has. */
    private static final int BEATS_AT_MOST = 3;
    /** How soon a probe that failed is sent again, should no event tell that the connection is back. */
    private static final Duration PROBE_PAUSE = Duration.ofMillis(100);

    private final ClientContext context;
    private final Client client;
    /** Before the server made the session; nobody knows of a borrowed one. */
    private final Optional<ClockReading> asked;
    /** Before anything was sent in it. */
    private final ClockReading opened;
    /** Before the present connection was made: when the former was found lost. */
    private Optional<ClockReading> beforeConnection;

    private final Watches watches = new Watches(this);
    private final NodeChecks nodeChecks;
    private final Lists lists = new Lists(this);

    private final List<Runnable> onConnected = new ArrayList<>();
    /** Requests that create their nodes once connected, in their order. */
    private final Set<SessionRequest> toCreate = new LinkedHashSet<>();
    /** What looks for creates of this session that were lost and have not turned up. */
    private final Set<Runnable> lookForLostCreates = new LinkedHashSet<>();

    private final List<Runnable> onBeat = new ArrayList<>();
    /** Requests that wait for a proof that the session has time left. */
    private final Set<SessionRequest> confirming = new LinkedHashSet<>();
    /** Those of them whose nodes the present heartbeat checks, as long as none of its parts has failed. */
    private final Set<SessionRequest> checkedByBeat = new LinkedHashSet<>();

    private final Set<SessionRequest> holding = new LinkedHashSet<>();

    private @Nullable ZnodeStore port;
    /** Counts every coming and going of the connection: an answer proves something only within one of them. */
    private int connection;

    private volatile boolean connected;
    private boolean over;
    private boolean marking;
    private boolean checking = true;

    private Duration timeout;
    /** What the server says; believed once a beat on the connection has proved it, if it is longer than before. */
    private Duration offered;

    private SessionExpiryBound proofs;
    private volatile @Nullable ValidityPeriod term;

    /** Questions that may break the connection, one at a time. */
    private final Deque<Consumer<Runnable>> risky = new ArrayDeque<>(0);

    private boolean risking;

    /** Parts of a heartbeat that are not answered yet. */
    private int beating;
    /** Heartbeats of this connection that were answered, its barrier apart. */
    private int beats;

    private boolean beatAgain;
    private final RestartableTimer nextBeat;
    /** When nodes were last known to be there, all that were checked. */
    private ClockReading checked;

    private final RestartableTimer nextProbe;
    private final RestartableTimer termEnd;

    /** The client of a session. On the serial executor. */
    interface Client {
        /** The server has ended the session. */
        void sessionOver(Session session);

        /** The servers refuse the client's login. */
        void loginRefused();

        /** A response was handled: a closing client may have nothing left in its session. */
        void finishWhenIdle();
    }

    Session(ClientContext context, Client client) {
        this.context = context;
        this.client = client;
        this.nodeChecks = new NodeChecks(this);
        this.nextBeat = new RestartableTimer(context, this::beatDue);
        this.nextProbe = new RestartableTimer(context, this::probe);
        this.termEnd = new RestartableTimer(context, this::termEnds);
        this.marking = !context.naming().isShared();
        this.timeout = context.sessionTimeout();
        this.offered = timeout;
        this.opened = context.now();
        this.asked = context.makesSessions() ? Optional.of(opened) : Optional.empty();
        this.beforeConnection = asked;
        this.checked = opened;
        this.proofs = newProofs();
    }

    void open(ZnodeStore opened) {
        port = opened;
    }

    ClientContext context() {
        return context;
    }

    public ZnodeStore port() {
        return Objects.requireNonNull(port, "the session is not open");
    }

    Watches watches() {
        return watches;
    }

    NodeChecks nodeChecks() {
        return nodeChecks;
    }

    public Lists lists() {
        return lists;
    }

    boolean connected() {
        return connected;
    }

    boolean hasConnected() {
        return connection > 0;
    }

    boolean isOver() {
        return over;
    }

    boolean marks() {
        return marking;
    }

    void stopMarking() {
        marking = false;
    }

    /** Whether a release checks the nodes of those who hold by it. */
    boolean checks() {
        return checking;
    }

    /** The server refuses to say whether a node is there; and without a check there is no mark. */
    void stopChecking() {
        checking = false;
        marking = false;
    }

    /** The present term; a lease is granted only in one. */
    ValidityPeriod term() {
        return Objects.requireNonNull(term, "nothing was ever committed in this session");
    }

    // ---- asking the server

    /** A request that commits nothing. */
    public <T> void ask(Consumer<Consumer<Response<T>>> request, Consumer<Response<T>> then) {
        send(request, then, (sent, now, answer) -> proofs.answered(sent, now));
    }

    /** A request that the quorum commits, even when it refuses it. */
    <T> void askCommitted(Consumer<Consumer<Response<T>>> request, Consumer<Response<T>> then) {
        send(request, then, (sent, now, answer) -> {
            if (answer.ok()) {
                committed(sent, now);
            } else {
                proofs.heard(sent, now);
            }
        });
    }

    public void write(List<ZnodeStore.Write> writes, Consumer<Response<ZnodeStore.Written>> then) {
        askCommitted(done -> port().write(writes, done), then);
    }

    private <T> void send(
            Consumer<Consumer<Response<T>>> request, Consumer<Response<T>> then, Proof<Response<T>> proof) {
        if (over) {
            return;
        }
        ClockReading sent = context.now();
        int on = connection;
        request.accept(answer -> context.serially(() -> {
            if (over) {
                return;
            }
            switch (answer.code()) {
                case CONNECTION_LOSS, READ_ONLY -> outOfTouch();
                case SESSION_EXPIRED -> client.sessionOver(this);
                case LOGIN_REFUSED -> client.loginRefused();
                default -> {
                    if (on == connection) {
                        proof.take(sent, context.now(), answer);
                    } else {
                        proofs.heard(sent, context.now());
                    }
                }
            }
            if (!over) {
                then.accept(answer);
            }
            client.finishWhenIdle();
        }));
    }

    @FunctionalInterface
    private interface Proof<A> {
        void take(ClockReading sent, ClockReading now, A answer);
    }

    /** What became of a transaction: its own code, or that of the write that made it fail. */
    public static Status codeOf(Response<ZnodeStore.Written> answer) {
        return plain(answer).code();
    }

    /** The answer as if the write that made a transaction fail had been sent alone. */
    public static Response<ZnodeStore.Written> plain(Response<ZnodeStore.Written> answer) {
        return answer.ok()
                ? answer.get()
                        .failedAt()
                        .map(refusal -> Response.<ZnodeStore.Written>failed(refusal.code(), refusal.detail()))
                        .orElse(answer)
                : answer;
    }

    // ---- the connection

    void connectedWith(Duration sessionTimeout) {
        boolean first = connection == 0;
        connection++;
        // Until the new connection has proved something the shorter of both time-outs counts (docs/protocol.md,
        // "Validity
        // period").
        boolean shorter = sessionTimeout.compareTo(timeout) < 0;
        ValidityPeriod present = term;
        if (shorter && present != null) {
            present.shorten(timeout.minus(sessionTimeout));
            if (termEnd.isSet()) {
                termEnd.set(present.remaining());
            }
        }
        if (!sessionTimeout.equals(offered) && (!first || context.makesSessions())) {
            ConnectionLog.timeoutChanged(offered, sessionTimeout);
        }
        offered = sessionTimeout;
        if (first || shorter) {
            timeout = sessionTimeout;
        }
        if (shorter && nextBeat.isSet()) {
            // It was to come in time for a longer session.
            nextBeat.set(interval());
        }
        proofs = newProofs();
        if (first) {
            backInTouch();
            if (asked.isEmpty()) {
                beginPair();
            }
        } else if (connected) {
            // A borrowed handle tells so again when somebody touches what is watched there.
            proofs.connected(context.now());
        } else {
            probe();
        }
    }

    /**
     * The age of a borrowed handle's connection is not known: only a pair proves that the session lives. The first half of one is the
     * request whose answer told of the connection. The second is what is committed a margin later: the beat, if a request is waiting by
     * then, else the first write of the next request.
     */
    private void beginPair() {
        proofs.answered(opened, context.now());
        nextBeat.set(context.margin(timeout));
    }

    void disconnected() {
        if (connection > 0) {
            outOfTouch();
        }
    }

    private void outOfTouch() {
        connection++;
        if (connected) {
            beforeConnection = Optional.of(context.now());
        }
        proofs = newProofs();
        beats = 0;
        if (connected) {
            connected = false;
            context.signals().session(LockObserver.SessionState.DISCONNECTED);
            SerialExecutor.attemptEach(holding, SessionRequest::suspect);
            probe();
        } else {
            probeLater();
        }
        ValidityPeriod present = term;
        context.signals().away(holding.size(), present == null ? Duration.ZERO : present.remaining());
        checkTerm();
    }

    private void probeLater() {
        if (!nextProbe.isSet()) {
            nextProbe.set(PROBE_PAUSE);
        }
    }

    private void probe() {
        if (!over && !connected) {
            beat();
        }
    }

    private void backInTouch() {
        connected = true;
        context.signals().session(LockObserver.SessionState.CONNECTED);
        if (offered.compareTo(timeout) > 0) {
            timeout = offered;
            proofs = newProofs();
        } else if (nextBeat.isSet()) {
            // A margin after the barrier's answer, to prove as soon as may be that the leader knows of us. Where
            // connections are lost again and again it never comes to that: then nodes are looked for at once.
            nextBeat.set(context.margin(timeout));
            beatAgain |= context.now().since(checked).compareTo(interval().multipliedBy(2)) > 0;
        }
        // The barrier may prove that the session has time left. It has checked none of these requests' nodes.
        beatAgain |= !confirming.isEmpty();
        proofs.connected(context.now());
        List<Runnable> waiting = List.copyOf(onConnected);
        onConnected.clear();
        waiting.forEach(context::serially);
        // Lists of requests that look for their own creates come first and serve the others as well.
        lookForLostCreates.forEach(context::serially);
        toCreate.forEach(request -> context.serially(() -> {
            if (createsNoMore(request)) {
                whenConnectedCreate(request);
            }
        }));
    }

    /**
     * Creates the request's nodes now or once connected. A create that was not sent cannot be lost: a try that ends
     * without a connection leaves nothing to be looked for.
     */
    void whenConnectedCreate(SessionRequest request) {
        if (connected) {
            request.create();
        } else {
            toCreate.add(request);
        }
    }

    /** Takes the request from those that wait for the connection; says whether it was among them. */
    boolean createsNoMore(SessionRequest request) {
        return toCreate.remove(request);
    }

    /**
     * Runs {@code look}, which looks for lost creates, on every new connection, behind the barrier: that is behind whatever the
     * server of this connection still had of the session. A server that the session has left is refused by the leader,
     * so no create can turn up later on this connection.
     */
    void lookOnEveryConnection(Runnable look) {
        lookForLostCreates.add(look);
    }

    void lookNoMore(Runnable look) {
        lookForLostCreates.remove(look);
    }

    boolean looksForLostCreates() {
        return !lookForLostCreates.isEmpty();
    }

    /** Runs {@code task} now, or once a barrier on a new connection has been committed; never after the session. */
    void whenConnected(Runnable task) {
        if (connected) {
            task.run();
        } else {
            onConnected.add(task);
        }
    }

    /** Runs {@code task} when what was lost or refused may be tried again: connected anew, or else after the next beat. */
    void tryAgain(Runnable task) {
        if (connected) {
            afterBeat(task);
        } else {
            whenConnected(task);
        }
    }

    private SessionExpiryBound newProofs() {
        return new SessionExpiryBound(timeout, context.margin(timeout), asked, beforeConnection, context.now());
    }

    // ---- the heartbeat

    /** A node is there: from now on the session beats, as long as one is. */
    void keepBeating() {
        if (!nextBeat.isSet()) {
            nextBeat.set(interval());
        }
    }

    /** Runs {@code task} after the next heartbeat. */
    void afterBeat(Runnable task) {
        onBeat.add(task);
        keepBeating();
    }

    /** Whether a lease of this session could be harmed by the loss of the connection. */
    boolean hasHolders() {
        return !holding.isEmpty();
    }

    /**
     * Asks something that may break the connection, as a list does that is too long for a packet: alone among its kind,
     * so that a loss tells which of them broke it, and when leases of this session live through the loss. Each lease has
     * most of its time left right after a heartbeat that makes a pair with an earlier write: ZooKeeper's client has that
     * long to come back.
     *
     * @param question asks, and runs what it is given once that is answered
     */
    void risk(Consumer<Runnable> question) {
        risky.add(question);
        keepBeating();
    }

    private void riskNext() {
        if (!risking && !risky.isEmpty() && connected && mayLoseConnection()) {
            risking = true;
            risky.remove().accept(() -> {
                risking = false;
                context.serially(this::riskNext);
            });
        }
    }

    /** Half of the time is more than a lone write proves. Where answers are slow no pair proves as much; then it will not get better. */
    private boolean mayLoseConnection() {
        ValidityPeriod present = term;
        boolean halfIsLeft = present != null && present.remaining().compareTo(timeout.dividedBy(2)) >= 0;
        return beats >= BEATS_AT_MOST || (beats > 0 && halfIsLeft);
    }

    private Duration interval() {
        return Duration.ofNanos(timeout.toNanos() / BEATS);
    }

    private void beatDue() {
        if (!over && (hasNodes() || !onBeat.isEmpty() || !risky.isEmpty())) {
            nextBeat.set(interval());
            if (connected) {
                beat();
            }
        }
    }

    private boolean hasNodes() {
        return !holding.isEmpty() || !nodeChecks.isEmpty();
    }

    /** Checks all nodes, in parts that fit a packet; out of touch it is only the barrier, which needs no node. */
    void beat() {
        if (beating > 0) {
            beatAgain = true;
            return;
        }
        Deque<SessionNode> present = connected ? nodeChecks.all() : new ArrayDeque<>(0);
        checkedByBeat.clear();
        if (connected) {
            checkedByBeat.addAll(confirming);
        }
        beatPart(connection, present);
        beatRest(connection, present, TO_WATCHES);
    }

    private List<SessionNode.Standing> beatPart(int on, Deque<SessionNode> left) {
        List<SessionNode.Standing> part = nodeChecks.part(left);
        beating++;
        Consumer<Response<ZnodeStore.Written>> then = answer -> {
            beating--;
            beaten(on, answer);
        };
        if (part.isEmpty()) {
            write(List.of(new ZnodeStore.Write.Check("/")), then);
        } else {
            nodeChecks.check(part, then);
        }
        return part;
    }

    /**
     * Sends what did not fit the first part, each further part in a step of its own, so that other events come in between. A client that
     * holds thousands of locks would send thousands of checks with every beat: so the holders' nodes of these parts are watched instead,
     * once and for all; until the watch is confirmed, and after it has told something, they are checked.
     */
    private void beatRest(int on, Deque<SessionNode> left, int toWatches) {
        if (left.isEmpty()) {
            return;
        }
        beating++;
        context.serially(() -> {
            beating--;
            if (over || on != connection) {
                beatAgain();
                return;
            }
            List<SessionNode> holders = beatPart(on, left).stream()
                    .map(SessionNode.Standing::owner)
                    .filter(SessionNode::isHeld)
                    .limit(toWatches)
                    .toList();
            holders.forEach(SessionNode::leaveToWatch);
            beatRest(on, left, toWatches - holders.size());
        });
    }

    private void beaten(int on, Response<ZnodeStore.Written> answer) {
        if (answer.ok()) {
            if (connected && answer.get().failedAt().isEmpty()) {
                checked = context.now();
            }
            if (beating == 0) {
                if (connected) {
                    beats += on == connection ? 1 : 0;
                    context.serially(this::riskNext);
                } else if (on == connection) {
                    backInTouch();
                }
                List<Runnable> tasks = List.copyOf(onBeat);
                onBeat.clear();
                tasks.forEach(context::serially);
                confirmAll();
            }
        } else {
            checkedByBeat.clear();
            if (!connected && on == connection) {
                // Refused, as by a server that throttles: no event will tell that it may be asked again.
                probeLater();
            }
        }
        beatAgain();
    }

    private void beatAgain() {
        if (beatAgain && beating == 0 && !over) {
            beatAgain = false;
            beat();
        }
    }

    // ---- validity

    void holds(SessionRequest request) {
        holding.add(request);
    }

    void holdsNoMore(SessionRequest request) {
        holding.remove(request);
    }

    /**
     * Tells {@code request} that the session lives and has time left, at once when that is known: what made the request ready
     * has just seen its nodes, by its own create, a list, the watch on its own node or the check of a multi-lock, or a
     * neighbour's release is about to check them. A request that has to wait for the proof may wait for long, and its nodes
     * may be deleted by then. So only a heartbeat confirms it that began later and has checked all its nodes.
     */
    void confirm(SessionRequest request) {
        ValidityPeriod present = term;
        if (present != null && present.isValid()) {
            request.confirmed();
            armTermEnd();
        } else {
            confirming.add(request);
            beat();
        }
    }

    /** It waits for a proof no more. */
    void confirmsNoMore(SessionRequest request) {
        confirming.remove(request);
        checkedByBeat.remove(request);
    }

    /** Whether a request could go on but for a proof that the session has time left. */
    boolean awaitsProof() {
        return !confirming.isEmpty() || !risky.isEmpty();
    }

    /** Without a proof, as after slow answers, the next heartbeat may bring it: one at once would prove as little. */
    private void confirmAll() {
        ValidityPeriod present = term;
        if (checkedByBeat.isEmpty() || present == null || !present.isValid()) {
            return;
        }
        List<SessionRequest> all = List.copyOf(checkedByBeat);
        checkedByBeat.clear();
        all.forEach(confirming::remove);
        SerialExecutor.attemptEach(all, SessionRequest::confirmed);
        armTermEnd();
    }

    private void committed(ClockReading sent, ClockReading now) {
        Duration standstill = context.time().standstill(timeout.plus(now.since(sent)));
        Optional<ClockReading> proved = proofs.committed(sent, now, standstill);
        if (proved.isEmpty()) {
            return;
        }
        ClockReading deadline = proved.get();
        ValidityPeriod present = term;
        if (present != null && present.prolong(deadline)) {
            return;
        }
        if (present != null) {
            lapse();
            // The former may have ended by the wall clock alone: its alarm would ring too late for the next one.
            termEnd.cancel();
        }
        if (!deadline.reachedAt(now)) {
            term = new ValidityPeriod(context.time(), deadline);
        }
    }

    /** Looks whether the term has run out while something was held in it, maybe by the wall clock alone, which sets off no alarm. */
    void checkTerm() {
        ValidityPeriod present = term;
        if (!over && present != null && !present.isValid()) {
            lapse();
        }
    }

    private void lapse() {
        SerialExecutor.attemptEach(holding, SessionRequest::lapsed);
    }

    /** Loss is told when the deadline passes, not when somebody looks. */
    private void armTermEnd() {
        ValidityPeriod present = term;
        if (!termEnd.isSet() && present != null && !over) {
            termEnd.set(present.remaining());
        }
    }

    private void termEnds() {
        checkTerm();
        if (!holding.isEmpty()) {
            armTermEnd();
        }
    }

    // ---- the end

    void end() {
        over = true;
        connected = false;
        ValidityPeriod present = term;
        if (present != null) {
            present.end();
        }
        nextBeat.cancel();
        nextProbe.cancel();
        termEnd.cancel();
        nodeChecks.end();
        holding.clear();
        confirming.clear();
        checkedByBeat.clear();
        onConnected.clear();
        toCreate.clear();
        lookForLostCreates.clear();
        risky.clear();
        onBeat.clear();
    }
}
