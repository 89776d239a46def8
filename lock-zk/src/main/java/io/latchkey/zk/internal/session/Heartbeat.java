// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.threads.SerialExecutor;
import io.latchkey.zk.internal.validity.ClockReading;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The heartbeat of one session: one transaction that checks all nodes of the session, but for those of thousands that watches look
 * after. It changes nothing, and proves four things at once: a quorum, a live session, the nodes being there, and, after
 * a reconnect, that what this session sent over the former connection has been carried out by now, or is not going to be
 * on this one.
 * So the same beat is also the barrier behind which lost answers are looked for, and the probe that finds out when the
 * servers are back (docs/protocol.md, "Heartbeat and barrier").
 */
public final class Heartbeat {
    /** Heartbeats in a session time-out: two of them lie further apart than the margin, and one may be late. */
    private static final int BEATS = 6;
    /** How many nodes a heartbeat begins to leave to watches, at most. */
    private static final int TO_WATCHES = 1_000;
    /** After so many of one connection each lease has as much time left as it ever has. */
    private static final int BEATS_AT_MOST = 3;
    /** How soon a probe that failed is sent again, should no event tell that the connection is back. */
    private static final Duration PROBE_PAUSE = Duration.ofMillis(100);

    private final ClientContext context;
    private final Wire wire;
    private final SessionValidity validity;
    private final NodeChecks nodeChecks;
    private final Runnable backInTouch;

    private final List<Runnable> onBeat = new ArrayList<>();
    /** Requests that wait for a proof that the session has time left. */
    private final Set<SessionRequest> confirming = new LinkedHashSet<>();
    /** Those of them whose nodes the present heartbeat checks, as long as none of its parts has failed. */
    private final Set<SessionRequest> checkedByBeat = new LinkedHashSet<>();

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

    /**
     * @param backInTouch what to do when a barrier on a new connection has been committed
     */
    Heartbeat(ClientContext context, Wire wire, SessionValidity validity, NodeChecks nodeChecks, Runnable backInTouch) {
        this.context = context;
        this.wire = wire;
        this.validity = validity;
        this.nodeChecks = nodeChecks;
        this.backInTouch = backInTouch;
        this.nextBeat = new RestartableTimer(context, this::beatDue);
        this.nextProbe = new RestartableTimer(context, this::probe);
        this.checked = context.now();
    }

    // ---- when there is one

    /** A node is there: from now on the session beats, as long as one is. */
    public void keepBeating() {
        if (!nextBeat.isSet()) {
            nextBeat.set(interval());
        }
    }

    /** Runs {@code task} after the next heartbeat. */
    public void afterBeat(Runnable task) {
        onBeat.add(task);
        keepBeating();
    }

    private Duration interval() {
        return Duration.ofNanos(validity.timeout().toNanos() / BEATS);
    }

    private void beatDue() {
        if (!wire.isOver() && (hasNodes() || !onBeat.isEmpty() || !risky.isEmpty())) {
            nextBeat.set(interval());
            if (wire.connected()) {
                beat();
            }
        }
    }

    private boolean hasNodes() {
        return validity.hasHolders() || !nodeChecks.isEmpty();
    }

    // ---- the connection

    /** The session is shorter than it was: the next beat was to come in time for a longer one. */
    void shortened() {
        if (nextBeat.isSet()) {
            nextBeat.set(interval());
        }
    }

    /** The second half of a pair is what is committed a margin later: the beat, or the first write of the next request. */
    void completePair() {
        nextBeat.set(validity.margin());
    }

    /** What was answered before was answered on another connection. */
    void connectionLost() {
        beats = 0;
    }

    void probe() {
        if (!wire.isOver() && !wire.connected()) {
            beat();
        }
    }

    void probeLater() {
        if (!nextProbe.isSet()) {
            nextProbe.set(PROBE_PAUSE);
        }
    }

    /**
     * The barrier is answered. A margin later is as soon as may be to prove that the leader knows of us. Where connections are lost
     * again and again it never comes to that: then nodes are looked for at once.
     */
    void beatSoon() {
        if (nextBeat.isSet()) {
            nextBeat.set(validity.margin());
            beatAgain |= context.now().since(checked).compareTo(interval().multipliedBy(2)) > 0;
        }
    }

    /** The barrier may prove that the session has time left. It has checked none of the nodes of requests that wait for that. */
    void beatForThoseThatWait() {
        beatAgain |= !confirming.isEmpty();
    }

    // ---- one beat

    /** Checks all nodes, in parts that fit a packet; out of touch it is only the barrier, which needs no node. */
    private void beat() {
        if (beating > 0) {
            beatAgain = true;
            return;
        }
        Deque<SessionNode> present = wire.connected() ? nodeChecks.all() : new ArrayDeque<>(0);
        checkedByBeat.clear();
        if (wire.connected()) {
            checkedByBeat.addAll(confirming);
        }
        beatPart(wire.connection(), present);
        beatRest(wire.connection(), present, TO_WATCHES);
    }

    private List<SessionNode.Standing> beatPart(int on, Deque<SessionNode> left) {
        List<SessionNode.Standing> part = nodeChecks.part(left);
        beating++;
        Consumer<Response<ZnodeStore.Written>> then = answer -> {
            beating--;
            beaten(on, answer);
        };
        if (part.isEmpty()) {
            wire.write(List.of(new ZnodeStore.Write.Check("/")), then);
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
            if (wire.isOver() || on != wire.connection()) {
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
            if (wire.connected() && answer.get().failedAt().isEmpty()) {
                checked = context.now();
            }
            if (beating == 0) {
                if (wire.connected()) {
                    beats += on == wire.connection() ? 1 : 0;
                    context.serially(this::riskNext);
                } else if (on == wire.connection()) {
                    backInTouch.run();
                }
                List<Runnable> tasks = List.copyOf(onBeat);
                onBeat.clear();
                tasks.forEach(context::serially);
                confirmAll();
            }
        } else {
            checkedByBeat.clear();
            if (!wire.connected() && on == wire.connection()) {
                // Refused, as by a server that throttles: no event will tell that it may be asked again.
                probeLater();
            }
        }
        beatAgain();
    }

    private void beatAgain() {
        if (beatAgain && beating == 0 && !wire.isOver()) {
            beatAgain = false;
            beat();
        }
    }

    // ---- requests that need a proof

    /**
     * Tells {@code request} that the session lives and has time left, at once when that is known: what made the request ready
     * has just seen its nodes, by its own create, a list, the watch on its own node or the check of a multi-lock, or a
     * neighbour's release is about to check them. A request that has to wait for the proof may wait for long, and its nodes
     * may be deleted by then. So only a heartbeat confirms it that began later and has checked all its nodes.
     */
    public void confirm(SessionRequest request) {
        if (validity.isValid()) {
            request.confirmed();
            validity.armTermEnd();
        } else {
            confirming.add(request);
            beat();
        }
    }

    /** It waits for a proof no more. */
    public void confirmsNoMore(SessionRequest request) {
        confirming.remove(request);
        checkedByBeat.remove(request);
    }

    /** Without a proof, as after slow answers, the next heartbeat may bring it: one at once would prove as little. */
    private void confirmAll() {
        if (checkedByBeat.isEmpty() || !validity.isValid()) {
            return;
        }
        List<SessionRequest> all = List.copyOf(checkedByBeat);
        checkedByBeat.clear();
        all.forEach(confirming::remove);
        SerialExecutor.attemptEach(all, SessionRequest::confirmed);
        validity.armTermEnd();
    }

    // ---- what may break the connection

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
        if (!risking && !risky.isEmpty() && wire.connected() && mayLoseConnection()) {
            risking = true;
            risky.remove().accept(() -> {
                risking = false;
                context.serially(this::riskNext);
            });
        }
    }

    /** Half of the time is more than a lone write proves. Where answers are slow no pair proves as much; then it will not get better. */
    private boolean mayLoseConnection() {
        boolean halfIsLeft = validity.remaining().compareTo(validity.timeout().dividedBy(2)) >= 0;
        return beats >= BEATS_AT_MOST || (beats > 0 && halfIsLeft);
    }

    /** Whether a request could go on but for a proof that the session has time left. */
    public boolean awaitsProof() {
        return !confirming.isEmpty() || !risky.isEmpty();
    }

    /** The session is over. */
    void end() {
        nextBeat.cancel();
        nextProbe.cancel();
        nodeChecks.end();
        confirming.clear();
        checkedByBeat.clear();
        risky.clear();
        onBeat.clear();
    }
}
