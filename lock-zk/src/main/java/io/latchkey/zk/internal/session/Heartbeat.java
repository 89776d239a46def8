// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.ZnodeStore;
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
 * The heartbeat of one session: a transaction that checks the session's nodes and changes nothing. Where there are
 * thousands of nodes, some are watched instead.
 *
 * <p>Its commit proves that a quorum exists, the session is alive, and the nodes exist. After a reconnect it also
 * proves that requests sent over the former connection were applied, or will not be on this one. So the heartbeat
 * is the barrier behind which the nodes of lost creates are looked for. It is also the probe that detects that the
 * servers are back (docs/protocol.md, "Heartbeat and barrier").
 */
public final class Heartbeat {
    /** Heartbeats in a session timeout: two of them are further apart than the margin, even if one is late. */
    private static final int BEATS = 6;
    /** The number of nodes for which one heartbeat sets watches, if that is not less than {@link #SHARE} of them. */
    private static final int TO_WATCHES = 1_000;
    /** One node in so many gets a watch: then each is checked a few times before, however many there are. */
    private static final int SHARE = 4;
    /** After this many heartbeats on one connection, each lease has as much time left as it ever has. */
    private static final int BEATS_AT_MOST = 3;
    /** The pause before a failed probe is repeated, if no event reports a connection before. */
    private static final Duration PROBE_PAUSE = Duration.ofMillis(100);

    private final ClientContext context;
    private final Connection connection;
    private final SessionValidity validity;
    private final NodeChecks nodeChecks;
    private final Runnable onReconnected;

    private final List<Runnable> onBeat = new ArrayList<>();
    /** Requests that wait for a proof that the validity period has not ended. */
    final Set<SessionRequest> confirming = new LinkedHashSet<>();
    /** The subset whose nodes the current heartbeat checks, as long as none of its parts has failed. */
    private final Set<SessionRequest> checkedByBeat = new LinkedHashSet<>();

    /** Tasks that send requests which may break the connection, and wait until leases survive that. */
    final List<Runnable> risky = new ArrayList<>(0);

    /** Parts of the current heartbeat without a response. */
    private int beating;
    /** Heartbeats that were answered on this connection, without its barrier. */
    private int beats;

    private boolean beatAgain;
    private final RestartableTimer nextBeat;
    /** When the nodes to be checked were last known to exist. */
    private ClockReading checked;

    private final RestartableTimer nextProbe;

    /**
     * @param onReconnected runs when the barrier on a new connection is committed
     */
    Heartbeat(
            ClientContext context,
            Connection connection,
            SessionValidity validity,
            NodeChecks nodeChecks,
            Runnable onReconnected) {
        this.context = context;
        this.connection = connection;
        this.validity = validity;
        this.nodeChecks = nodeChecks;
        this.onReconnected = onReconnected;
        this.nextBeat = new RestartableTimer(context, this::beatDue);
        this.nextProbe = new RestartableTimer(context, this::probe);
        this.checked = context.now();
    }

    // ---- schedule

    /** Starts the heartbeats, unless they run. They stop when the session has no node. */
    public void keepBeating() {
        if (!nextBeat.isSet()) {
            nextBeat.set(interval());
        }
    }

    /**
     * Runs {@code task} after the next heartbeat, when a lost or refused request can be repeated. On a new connection
     * that is the barrier.
     */
    public void afterBeat(Runnable task) {
        onBeat.add(task);
        keepBeating();
    }

    private Duration interval() {
        return Duration.ofNanos(validity.timeout().toNanos() / BEATS);
    }

    private void beatDue() {
        if (!connection.isOver() && (hasNodes() || !onBeat.isEmpty() || !risky.isEmpty())) {
            nextBeat.set(interval());
            if (connection.connected()) {
                beat();
            }
        }
    }

    private boolean hasNodes() {
        return validity.hasHolders() || !nodeChecks.isEmpty();
    }

    // ---- the connection

    /**
     * Schedules a heartbeat a margin from now, as the second half of a pair. A write sent in between serves as well.
     */
    void completePair() {
        nextBeat.set(validity.margin());
    }

    /** Notes that the responses so far belong to a former connection. */
    void connectionLost() {
        beats = 0;
    }

    void probe() {
        if (!connection.isOver() && !connection.connected()) {
            beat();
        }
    }

    void probeLater() {
        if (!nextProbe.isSet()) {
            nextProbe.set(PROBE_PAUSE);
        }
    }

    /**
     * Schedules the first heartbeat behind the barrier, a margin later: the earliest time at which it completes a pair.
     * If connections are lost before that again and again, the nodes are checked at once.
     */
    void beatSoon() {
        if (nextBeat.isSet()) {
            nextBeat.set(validity.margin());
            beatAgain |= context.now().since(checked).compareTo(interval().multipliedBy(2)) > 0;
        }
    }

    /** Sends another heartbeat if requests wait for a proof: the barrier has checked none of their nodes. */
    void beatForConfirmation() {
        beatAgain |= !confirming.isEmpty();
    }

    // ---- one beat

    /**
     * Checks all nodes, in parts that fit a packet. While disconnected, the heartbeat is only the barrier, without
     * nodes.
     */
    private void beat() {
        if (beating > 0) {
            beatAgain = true;
            return;
        }
        Deque<SessionNode> present = connection.connected() ? nodeChecks.all() : new ArrayDeque<>(0);
        checkedByBeat.clear();
        if (connection.connected()) {
            checkedByBeat.addAll(confirming);
        }
        beatPart(connection.number(), present);
        beatRest(connection.number(), present, Math.max(TO_WATCHES, present.size() / SHARE));
    }

    private List<SessionNode.OwnedNode> beatPart(int on, Deque<SessionNode> left) {
        List<SessionNode.OwnedNode> part = nodeChecks.part(left);
        beating++;
        Consumer<Response<ZnodeStore.TransactionResult>> then = answer -> {
            beating--;
            beaten(on, answer);
        };
        if (part.isEmpty()) {
            connection.write(List.of(new ZnodeStore.Write.Check("/")), then);
        } else {
            nodeChecks.check(part, () -> true, then);
        }
        return part;
    }

    /**
     * Sends the further parts, each as a task of its own, so that other events can run in between.
     *
     * <p>A client with thousands of locks would send thousands of checks in each heartbeat. So holders' nodes in these
     * parts are watched instead. They are checked until the watch is confirmed, and again once it has fired.
     */
    private void beatRest(int on, Deque<SessionNode> left, int toWatches) {
        if (left.isEmpty()) {
            return;
        }
        beating++;
        context.execute(() -> {
            beating--;
            if (connection.isOver() || on != connection.number()) {
                beatAgain();
                return;
            }
            List<SessionNode> holders = beatPart(on, left).stream()
                    .map(SessionNode.OwnedNode::owner)
                    .filter(SessionNode::isHeld)
                    .limit(toWatches)
                    .toList();
            holders.forEach(SessionNode::leaveToWatch);
            beatRest(on, left, toWatches - holders.size());
        });
    }

    private void beaten(int on, Response<ZnodeStore.TransactionResult> answer) {
        if (answer.ok()) {
            if (connection.connected() && answer.get().failedAt().isEmpty()) {
                checked = context.now();
            }
            if (beating == 0) {
                List<Runnable> tasks = taken(onBeat);
                if (connection.connected()) {
                    beats += on == connection.number() ? 1 : 0;
                } else if (on == connection.number()) {
                    onReconnected.run();
                }
                tasks.forEach(context::execute);
                if (mayLoseConnection()) {
                    taken(risky).forEach(context::execute);
                }
                confirmAll();
            }
        } else {
            checkedByBeat.clear();
            if (on == connection.number()) {
                // The server refused the barrier, for example because it failed; no event will report that it
                // accepts requests again.
                probeLater();
            }
        }
        beatAgain();
    }

    private void beatAgain() {
        if (beatAgain && !connection.isOver()) {
            beatAgain = false;
            beat();
        }
    }

    // ---- requests that need a proof

    /**
     * Confirms {@code request} at once if the session is known to be valid, and otherwise after a heartbeat.
     *
     * <p>At once, its nodes have just been seen: by its own create, a list, the watch on its own node or the check of a
     * multi-lock, or the release of a neighbour is about to check them. A request that has to wait for a proof may wait
     * for long, and its nodes may be deleted in that time. So only a heartbeat that began later and has checked all its
     * nodes confirms it.
     */
    public void confirm(SessionRequest request) {
        if (validity.isValid()) {
            request.confirmed();
            validity.armPeriodEnd();
        } else {
            confirming.add(request);
            beat();
        }
    }

    /** Removes a request that no longer waits for a proof. */
    public void cancelConfirmation(SessionRequest request) {
        confirming.remove(request);
        checkedByBeat.remove(request);
    }

    /**
     * Confirms the requests whose nodes were checked. If there is still no proof, as after slow responses, the next
     * heartbeat may bring one; another heartbeat at once would prove as little.
     */
    private void confirmAll() {
        if (checkedByBeat.isEmpty() || !validity.isValid()) {
            return;
        }
        List<SessionRequest> all = List.copyOf(checkedByBeat);
        checkedByBeat.clear();
        all.forEach(SessionRequest::confirmed);
        validity.armPeriodEnd();
    }

    // ---- requests that may break the connection

    /**
     * Runs {@code task}, which sends a request that may break the connection, such as one for a list that may exceed a
     * packet: now, or after the next heartbeat after which leases of this session survive the loss.
     */
    void risk(Runnable task) {
        if (mayLoseConnection()) {
            task.run();
        } else {
            risky.add(task);
            keepBeating();
        }
    }

    /**
     * Returns whether leases survive a reconnect now. Half of the timeout is more than a lone write proves: it takes a
     * pair, or the attempt to connect of a connection that has just been made. Where responses are slow, none of them
     * proves as much, and waiting longer would not help.
     */
    private boolean mayLoseConnection() {
        boolean halfIsLeft = validity.remaining().compareTo(validity.timeout().dividedBy(2)) >= 0;
        return connection.connected() && (halfIsLeft || beats >= BEATS_AT_MOST || !validity.hasHolders());
    }

    private static List<Runnable> taken(List<Runnable> tasks) {
        List<Runnable> taken = List.copyOf(tasks);
        tasks.clear();
        return taken;
    }

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
