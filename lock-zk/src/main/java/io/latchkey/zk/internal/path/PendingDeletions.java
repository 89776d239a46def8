// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.SessionNode;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.HashSet;
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
 *
 * <p>The class is long because a refused transaction is understood only from its contents: which node, which mark,
 * which check.
 */
public final class PendingDeletions {
    /** The approximate maximum size of a transaction in bytes, half of a packet; one request alone may exceed it. */
    private static final int BATCH = 500_000;
    /** The minimum size of a node in this count, which allows 500 nodes. */
    private static final int NODE = 1_000;
    /** The maximum number of granted neighbours that one transaction checks; below, their maximum size in bytes. */
    private static final int SUCCESSORS = 500;

    private static final int SUCCESSORS_BYTES = 250_000;
    /** The maximum size of a character in bytes. */
    private static final int WIDEST = 3;
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

    /** The reason for a deletion. */
    private enum Kind {
        /** Release by an exclusive holder: the mark proves to the successor that all requests ahead of it are gone. */
        HANDED_OVER,
        /** Release by a shared holder. */
        RELEASED,
        /** Withdrawal of a request that does not hold. */
        WITHDRAWN,
        /** The revocation node of a request, whose holder no longer listens. */
        REVOCATION
    }

    /**
     * The node of a member to be deleted, and the nodes that may exist beside it or in its place.
     *
     * @param present the nodes of its session under its path
     * @param exclusive whether its lock is exclusive
     * @param replacement the node that replaces it in a pending transaction; either of the two may exist
     * @param revocationNode its revocation node
     */
    public record Removed(
            PresentNodes present,
            NodeName name,
            boolean exclusive,
            Optional<NodeName> replacement,
            Optional<NodeName> revocationNode) {}

    /**
     * A node to be deleted.
     *
     * @param path the node's own path
     */
    private record NodeDeletion(PresentNodes present, NodeName name, Kind kind, String path) {
        NodeDeletion(PresentNodes present, NodeName name, Kind kind) {
            this(
                    present,
                    name,
                    kind,
                    present.path().child(kind == Kind.REVOCATION ? name.revocationNode() : name.text()));
        }

        /** Returns the members of this session that the release has granted. */
        List<QueueMember> localSuccessors() {
            return kind == Kind.HANDED_OVER ? present.localSuccessors(name) : List.of();
        }

        boolean wasHeld() {
            return kind == Kind.HANDED_OVER || kind == Kind.RELEASED;
        }

        void gone() {
            if (kind != Kind.REVOCATION) {
                present.gone(name);
            }
        }
    }

    /** The nodes of one request, which are deleted together. */
    private static final class Deletion {
        final List<NodeDeletion> nodes = new ArrayList<>();
        /** Revocation nodes that did not exist when the last transaction was applied. */
        private final List<NodeDeletion> absentRevocationNodes = new ArrayList<>(0);

        private Consumer<ReleaseOutcome> then;
        /** Whether a downgrade without a response is among it, which may have deleted the held node. */
        boolean maybeDowngraded;
        /** Whether a held node was already gone. */
        boolean nodeMissing;
        /** Whether the server has refused it, which is logged once. */
        boolean refused;

        Deletion(Consumer<ReleaseOutcome> then) {
            this.then = then;
        }

        int bytes() {
            int bytes = 0;
            for (NodeDeletion node : nodes) {
                bytes += Math.max(NODE, 2 * WIDEST * node.path().length() + 100);
            }
            return bytes;
        }

        /** Handles a node that did not exist. */
        void absent(NodeDeletion node) {
            nodes.remove(node);
            if (node.kind() == Kind.REVOCATION) {
                absentRevocationNodes.add(node);
            }
        }

        /**
         * Adds the missing revocation nodes again: before the barrier of a new connection their lost creates may be
         * applied.
         */
        void onNewConnection() {
            nodes.addAll(absentRevocationNodes);
            absentRevocationNodes.clear();
        }

        /** Completes the owner's call, once. */
        void complete(ReleaseOutcome outcome) {
            Consumer<ReleaseOutcome> owner = then;
            then = ignored -> {};
            owner.accept(outcome);
        }
    }

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
    public void release(List<Removed> removed, boolean early, Consumer<ReleaseOutcome> then) {
        Deletion deletion = new Deletion(then);
        List<Runnable> grants = new ArrayList<>(0);
        for (Removed node : removed) {
            if (early && node.exclusive()) {
                node.present()
                        .release(node.name())
                        .forEach(successor -> grants.add(() -> successor.unblocked(node.name())));
            }
            Kind kind = node.exclusive() ? Kind.HANDED_OVER : Kind.RELEASED;
            deletion.nodes.add(new NodeDeletion(node.present(), node.name(), kind));
            addRelatedNodes(node, deletion);
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
    public void withdraw(List<Removed> removed, Consumer<Runnable> when, Consumer<ReleaseOutcome> then) {
        Deletion deletion = new Deletion(then);
        for (Removed node : removed) {
            deletion.nodes.add(new NodeDeletion(node.present(), node.name(), Kind.WITHDRAWN));
            addRelatedNodes(node, deletion);
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

    /**
     * Adds the revocation node and the replacement: one transaction deletes all, so that no revocation node is left
     * alone.
     */
    private static void addRelatedNodes(Removed node, Deletion deletion) {
        node.replacement().ifPresent(name -> {
            deletion.nodes.add(new NodeDeletion(node.present(), name, Kind.WITHDRAWN));
            deletion.maybeDowngraded = true;
        });
        node.revocationNode()
                .ifPresent(revocationNode ->
                        deletion.nodes.add(new NodeDeletion(node.present(), revocationNode, Kind.REVOCATION)));
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

    /** A write of a transaction and its reason. */
    private sealed interface Step {
        ZnodeStore.Write write();

        /** Returns the path of its node. */
        String path();

        record Remove(Deletion deletion, NodeDeletion node, ZnodeStore.Write write) implements Step {
            @Override
            public String path() {
                return node.path();
            }
        }

        record Check(SessionNode.OwnedNode successor, ZnodeStore.Write write) implements Step {
            @Override
            public String path() {
                return successor.path();
            }
        }
    }

    /**
     * Sends one transaction with a mark and a deletion for each node.
     *
     * <p>It also checks the neighbours that hold since their predecessor's release. If another client had deleted a
     * neighbour's node, the mark would grant the request behind that neighbour as well. So no mark is set where these
     * nodes cannot be checked, nor while another transaction, which may be refused, is deleting the node of an earlier
     * holder: the mark says that all requests ahead are gone (docs/protocol.md, "Hand-over and the release mark").
     */
    private void send(List<Deletion> batch) {
        Set<String> deleted = new HashSet<>();
        Set<PresentNodes> markable = new HashSet<>();
        for (Deletion deletion : batch) {
            for (NodeDeletion node : deletion.nodes) {
                deleted.add(node.name().text());
                markable.add(node.present());
            }
        }
        markable.removeIf(each -> !each.allReleasedIn(deleted));
        List<Step> steps = new ArrayList<>();
        List<Step> checks = new ArrayList<>();
        for (Deletion deletion : batch) {
            for (NodeDeletion node : deletion.nodes) {
                if (node.kind() == Kind.HANDED_OVER
                        && session.checks()
                        && checkSuccessors(node, deleted, checks)
                        && markable.contains(node.present())
                        && session.marks()) {
                    steps.add(new Step.Remove(deletion, node, new ZnodeStore.Write.Mark(node.path())));
                }
                steps.add(new Step.Remove(deletion, node, new ZnodeStore.Write.Delete(node.path())));
            }
        }
        steps.addAll(checks);
        List<ZnodeStore.Write> writes = new ArrayList<>(steps.size());
        for (Step step : steps) {
            writes.add(step.write());
        }
        flights++;
        sent.addAll(batch);
        session.connection().writeOnce(writes, answer -> {
            flights--;
            batch.forEach(sent::remove);
            answered(batch, steps, answer);
        });
    }

    /**
     * Adds a check for every existing node of a neighbour that this release grants, and returns whether all can be
     * checked.
     */
    private static boolean checkSuccessors(NodeDeletion node, Set<String> deleted, List<Step> checks) {
        List<Step> more = new ArrayList<>();
        for (QueueMember successor : node.localSuccessors()) {
            Optional<NodeName> name = successor.node();
            if (name.isPresent() && !deleted.contains(name.get().text())) {
                SessionNode.OwnedNode owned = new SessionNode.OwnedNode(successor, name.get());
                more.add(new Step.Check(owned, new ZnodeStore.Write.Check(owned.path())));
                if (successor.replacement().isPresent()) {
                    return false;
                }
            }
        }
        int most = Math.min(SUCCESSORS, SUCCESSORS_BYTES / (WIDEST * node.path().length()));
        if (checks.size() + more.size() > most) {
            return false;
        }
        checks.addAll(more);
        return true;
    }

    private void answered(List<Deletion> batch, List<Step> steps, Response<ZnodeStore.Written> answer) {
        if (answer.code() == Status.THROTTLED) {
            // Its contents are chosen again then: other transactions may be applied in between.
            pending.addAll(0, batch);
            session.connection().afterThrottling(throttled++, this::send);
            return;
        }
        throttled = 0;
        if (!answer.ok()) {
            pending.addAll(0, batch);
            batch.forEach(deletion -> deletion.complete(ReleaseOutcome.PENDING));
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
            for (Deletion deletion : batch) {
                deletion.nodes.forEach(NodeDeletion::gone);
                over(deletion);
            }
            send();
        } else if (foundMissing && missingBefore) {
            findMissing(batch, steps);
        } else {
            pending.addAll(0, batch);
            refused(refusal.get(), steps.get(refusal.get().index()));
        }
    }

    /**
     * Asks for all nodes of the transaction in one request, as a refusal names only one and a second one is missing.
     */
    private void findMissing(List<Deletion> batch, List<Step> steps) {
        List<String> paths = steps.stream().map(Step::path).toList();
        flights++;
        sent.addAll(batch);
        session.connection()
                .<List<Status>>ask(then -> session.connection().store().exist(paths, then), answer -> {
                    flights--;
                    batch.forEach(sent::remove);
                    foundMissing = false;
                    if (answer.ok()) {
                        for (int i = 0; i < steps.size(); i++) {
                            if (answer.get().get(i) == Status.NO_NODE) {
                                missing(steps.get(i));
                            }
                        }
                    }
                    List<Deletion> remaining = new ArrayList<>(batch);
                    remaining.removeIf(deletion -> deletion.nodes.isEmpty());
                    pending.addAll(0, remaining);
                    batch.stream().filter(deletion -> deletion.nodes.isEmpty()).forEach(PendingDeletions::over);
                    send();
                });
    }

    /** Handles a node that does not exist. */
    private static void missing(Step step) {
        if (step instanceof Step.Check check) {
            check.successor().gone();
        } else if (step instanceof Step.Remove remove) {
            Deletion deletion = remove.deletion();
            deletion.nodeMissing |= !deletion.maybeDowngraded && remove.node().wasHeld();
            deletion.absent(remove.node());
            remove.node().gone();
        }
    }

    private void refused(ZnodeStore.Refusal refusal, Step step) {
        if (step instanceof Step.Check check) {
            if (refusal.code() == Status.NO_NODE) {
                missing(check);
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
            missing(remove);
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
            over(deletion);
        }
    }

    private static void over(Deletion deletion) {
        deletion.complete(deletion.nodeMissing ? ReleaseOutcome.LOST : ReleaseOutcome.RELEASED);
    }

    /** Ends the deletions: the session has ended, and its nodes are gone or soon will be. */
    void sessionOver(ReleaseOutcome outcome) {
        sent.forEach(deletion -> deletion.complete(outcome));
        sent.clear();
        pending.forEach(deletion -> deletion.complete(outcome));
        pending.clear();
    }
}
