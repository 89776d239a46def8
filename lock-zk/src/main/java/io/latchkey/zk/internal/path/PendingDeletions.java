// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.path.Deletion.Kind;
import io.latchkey.zk.internal.path.Deletion.NodeDeletion;
import io.latchkey.zk.internal.path.Deletion.NodeToDelete;
import io.latchkey.zk.internal.path.DeletionBatch.Step;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The pending deletions of this session's nodes, for requests whose first member has one path.
 *
 * <p>If a deletion cannot be sent, its owner gets PENDING at once, and the deletion is repeated until its nodes or the
 * session are gone. Deletions that arrive while another is pending are sent together in two cases: if a neighbour of
 * this session holds, since no other client waits for them then, or if there are many.
 */
public final class PendingDeletions {
    /** The approximate maximum size of a transaction in bytes, half of a packet; one request alone may exceed it. */
    private static final int BATCH = 500_000;
    /** The maximum number of pending transactions of one path; further deletions are sent together in the next. */
    private static final int FLIGHTS = 4;

    private final Session session;
    private final PresentNodes nodes;
    private final List<Deletion> pending = new ArrayList<>();
    /**
     * Deletions without a response, which may never arrive once the session has ended, and those that are not to be
     * sent yet.
     */
    private final Set<Deletion> sent = new LinkedHashSet<>();

    private int flights;
    /** How often in a row the server has throttled. */
    private int throttled;
    /** Whether the last response reported a missing node. */
    private boolean foundMissing;

    /** Whether the next connection will send all deletions. Their owners have their outcome. */
    private boolean waitsForConnection;

    PendingDeletions(Session session, PresentNodes nodes) {
        this.session = session;
        this.nodes = nodes;
    }

    /**
     * Deletes the nodes of holders.
     *
     * @param early whether waiters of this session right behind them are granted now, before the server has processed
     *     the release, and not only when the deletion is confirmed
     */
    public void release(List<NodeToDelete> toDelete, boolean early, Consumer<ReleaseOutcome> then) {
        Deletion deletion = new Deletion(then);
        List<Runnable> grants = new ArrayList<>(0);
        for (NodeToDelete node : toDelete) {
            if (early && node.exclusive()) {
                node.present()
                        .release(node.name())
                        .forEach(successor -> grants.add(() -> successor.unblocked(node.name())));
            }
            Kind kind = node.exclusive() ? Kind.HANDED_OVER : Kind.RELEASED;
            deletion.nodes.add(new NodeDeletion(node.present(), node.name(), kind));
            deletion.addRelatedNodes(node);
        }
        pending.add(deletion);
        try {
            grants.forEach(Runnable::run);
        } finally {
            send(deletion);
        }
    }

    /**
     * Deletes the nodes of a request that does not hold.
     *
     * @param when runs its argument, on the serial executor, as soon as the deletion may be sent
     */
    public void withdraw(List<NodeToDelete> toDelete, Consumer<Runnable> when, Consumer<ReleaseOutcome> then) {
        Deletion deletion = new Deletion(then);
        for (NodeToDelete node : toDelete) {
            deletion.nodes.add(new NodeDeletion(node.present(), node.name(), Kind.WITHDRAWN));
            deletion.addRelatedNodes(node);
        }
        sent.add(deletion);
        when.accept(() -> {
            if (sent.remove(deletion)) {
                pending.add(deletion);
                send(deletion);
            }
        });
    }

    /** Deletes the revocation node of a request on this path whose own node another client deleted. */
    void withdrawRevocationNode(NodeName revocationNode) {
        delete(new NodeDeletion(nodes, revocationNode, Kind.REVOCATION));
    }

    /** Deletes a node on this path that belongs to no request. */
    public void withdraw(NodeName name) {
        delete(new NodeDeletion(nodes, name, Kind.WITHDRAWN));
    }

    /** Deletes a node without a caller that waits for the outcome. */
    private void delete(NodeDeletion only) {
        Deletion deletion = new Deletion(ignored -> {});
        deletion.nodes.add(only);
        pending.add(deletion);
        send(deletion);
    }

    public boolean hasPendingDeletions() {
        return !sent.isEmpty() || !pending.isEmpty();
    }

    /** Returns whether one of them is the release of a holder. */
    boolean hasPendingReleases() {
        return Stream.concat(sent.stream(), pending.stream())
                .flatMap(deletion -> deletion.nodes.stream())
                .anyMatch(NodeDeletion::wasHeld);
    }

    /** Sends the pending deletions, of which {@code added} is the last. */
    private void send(Deletion added) {
        if (waitsForConnection) {
            added.complete(ReleaseOutcome.PENDING);
        } else {
            send();
        }
    }

    private void send() {
        if (pending.isEmpty() || waitsForConnection) {
            return;
        }
        if (!session.connection().connected()) {
            waitsForConnection = true;
            pending.forEach(deletion -> deletion.complete(ReleaseOutcome.PENDING));
            session.connection().whenConnected(() -> {
                waitsForConnection = false;
                pending.forEach(Deletion::onNewConnection);
                send();
            });
            return;
        }
        if (flights >= FLIGHTS || (flights > 0 && nodes.holder().isPresent())) {
            return;
        }
        while (!pending.isEmpty()) {
            int count = 0;
            int bytes = 0;
            do {
                bytes += pending.get(count++).bytes();
            } while (count < pending.size() && bytes + pending.get(count).bytes() <= BATCH);
            List<Deletion> first = pending.subList(0, count);
            List<Deletion> batch = List.copyOf(first);
            first.clear();
            send(batch);
        }
    }

    private void send(List<Deletion> deletions) {
        DeletionBatch batch = new DeletionBatch(deletions, session);
        flights++;
        sent.addAll(deletions);
        session.connection().writeOnce(batch.writes(), answer -> {
            flights--;
            deletions.forEach(sent::remove);
            answered(batch, answer);
        });
    }

    private void answered(DeletionBatch batch, Response<ZnodeStore.TransactionResult> answer) {
        if (answer.code() == Status.THROTTLED) {
            // Its contents are chosen again then: other transactions may be applied in between.
            pending.addAll(0, batch.deletions());
            session.connection().afterThrottling(throttled++, this::send);
            return;
        }
        throttled = 0;
        if (!answer.ok()) {
            pending.addAll(0, batch.deletions());
            batch.deletions().forEach(deletion -> deletion.complete(ReleaseOutcome.PENDING));
            if (session.connection().connected()) {
                session.heartbeat().afterBeat(this::send);
            } else {
                send();
            }
            return;
        }
        Optional<ZnodeStore.Refusal> refusal = answer.get().failedAt();
        boolean missingBefore = foundMissing;
        foundMissing = refusal.filter(found -> found.code() == Status.NO_NODE).isPresent();
        if (refusal.isEmpty()) {
            for (Deletion deletion : batch.deletions()) {
                deletion.nodes.forEach(NodeDeletion::gone);
                deletion.over();
            }
            send();
        } else if (foundMissing && missingBefore) {
            findMissing(batch);
        } else {
            pending.addAll(0, batch.deletions());
            refused(refusal.get(), batch.of(refusal.get()));
        }
    }

    /**
     * Asks for all nodes of the transaction in one request, as a refusal names only one and a second one is missing.
     */
    private void findMissing(DeletionBatch batch) {
        List<Deletion> deletions = batch.deletions();
        flights++;
        sent.addAll(deletions);
        session.connection().exist(batch.paths(), answer -> {
            flights--;
            deletions.forEach(sent::remove);
            foundMissing = false;
            if (answer.ok()) {
                batch.missing(answer.get());
            }
            List<Deletion> remaining = new ArrayList<>(deletions);
            remaining.removeIf(deletion -> deletion.nodes.isEmpty());
            pending.addAll(0, remaining);
            deletions.stream().filter(deletion -> deletion.nodes.isEmpty()).forEach(Deletion::over);
            send();
        });
    }

    private void refused(ZnodeStore.Refusal refusal, Step step) {
        if (step instanceof Step.Check check) {
            if (refusal.code() == Status.NO_NODE) {
                // Its downgrade, if there is one by now, was sent behind this: it must lose before the next can hold.
                check.successor().owner().nodeGone(check.successor().name());
            } else {
                session.stopChecking();
            }
            send();
        } else if (step instanceof Step.Remove remove) {
            refused(refusal, remove);
        }
    }

    private void refused(ZnodeStore.Refusal refusal, Step.Remove remove) {
        Deletion deletion = remove.deletion();
        NodeDeletion node = remove.node();
        if (refusal.code() == Status.NO_NODE) {
            remove.missing();
            endIfNothingIsLeft(deletion);
            send();
        } else if (node.kind() == Kind.REVOCATION) {
            // Another client created a node of this name, perhaps with children. It must not keep the request's node
            // from being deleted.
            session.context()
                    .log()
                    .warn(
                            PendingDeletions.class,
                            "The server refuses to delete the revocation node {} ({}). It is left there.",
                            node.path(),
                            refusal.detail());
            deletion.nodes.remove(node);
            endIfNothingIsLeft(deletion);
            send();
        } else if (remove.write() instanceof ZnodeStore.Write.Mark) {
            // The client may not write, or a quota refuses even data that takes less room than before.
            session.stopMarking();
            send();
        } else {
            if (!deletion.refused) {
                deletion.refused = true;
                session.context()
                        .log()
                        .warn(
                                PendingDeletions.class,
                                "The server refuses to delete {} ({}). Requests behind it wait until this session ends."
                                        + " The deletion is retried with every heartbeat and logged only once.",
                                node.path(),
                                refusal.detail());
            }
            deletion.complete(ReleaseOutcome.PENDING);
            pending.remove(deletion);
            sent.add(deletion);
            session.heartbeat().afterBeat(() -> {
                sent.remove(deletion);
                pending.add(deletion);
                send();
            });
            send();
        }
    }

    private void endIfNothingIsLeft(Deletion deletion) {
        if (deletion.nodes.isEmpty()) {
            pending.remove(deletion);
            deletion.over();
        }
    }

    /** Ends the deletions: the session has ended, and its nodes are gone or soon will be. */
    void sessionOver(ReleaseOutcome outcome) {
        sent.forEach(deletion -> deletion.complete(outcome));
        sent.clear();
        pending.forEach(deletion -> deletion.complete(outcome));
        pending.clear();
    }
}
