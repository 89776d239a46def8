// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.zk.internal.path.Deletion.Kind;
import io.latchkey.zk.internal.path.Deletion.NodeDeletion;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.SessionNode;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One transaction, with a mark and a deletion for each node.
 *
 * <p>It also checks the neighbours that hold since their predecessor's release. If another client had deleted a
 * neighbour's node, the mark would grant the request behind that neighbour as well. So no mark is set where these nodes
 * cannot be checked, nor while another transaction, which may be refused, is deleting the node of an earlier holder: the
 * mark says that all requests ahead are gone (docs/protocol.md, "Hand-over and the release mark").
 */
final class DeletionBatch {
    /** The maximum number of granted neighbours that one transaction checks; below, their maximum size in bytes. */
    private static final int SUCCESSORS = 500;

    private static final int SUCCESSORS_BYTES = 250_000;

    private final List<Deletion> deletions;
    private final List<Step> steps = new ArrayList<>();

    DeletionBatch(List<Deletion> deletions, Session session) {
        this.deletions = deletions;
        Set<String> deleted = new HashSet<>();
        Set<PresentNodes> markable = new HashSet<>();
        for (Deletion deletion : deletions) {
            for (NodeDeletion node : deletion.nodes) {
                deleted.add(node.name().text());
                markable.add(node.present());
            }
        }
        markable.removeIf(each -> !each.allReleasedIn(deleted));
        List<Step> checks = new ArrayList<>();
        for (Deletion deletion : deletions) {
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
    }

    List<Deletion> deletions() {
        return deletions;
    }

    List<ZnodeStore.Write> writes() {
        return steps.stream().map(Step::write).toList();
    }

    List<String> paths() {
        return steps.stream().map(step -> step.write().path()).toList();
    }

    /** Returns the step that the server has refused. */
    Step of(ZnodeStore.Refusal refusal) {
        return steps.get(refusal.index());
    }

    /** Handles the nodes that do not exist. */
    void missing(List<Status> statuses) {
        for (int i = 0; i < steps.size(); i++) {
            if (statuses.get(i) == Status.NO_NODE) {
                steps.get(i).missing();
            }
        }
    }

    /** A write of a transaction and its reason. */
    sealed interface Step {
        ZnodeStore.Write write();

        /** Handles a node that does not exist. */
        void missing();

        record Remove(Deletion deletion, NodeDeletion node, ZnodeStore.Write write) implements Step {
            @Override
            public void missing() {
                if (!deletion.nodes.contains(node)) {
                    return; // known by its mark
                }
                if (deletion.maybeDowngraded && node.mayHaveBeenHeld()) {
                    deletion.maybeDowngraded = false;
                } else {
                    deletion.nodeMissing |= node.mayHaveBeenHeld();
                }
                deletion.absent(node);
                node.gone();
            }
        }

        record Check(SessionNode.OwnedNode successor, ZnodeStore.Write write) implements Step {
            @Override
            public void missing() {
                successor.missing();
            }
        }
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
        int most = Math.min(
                SUCCESSORS, SUCCESSORS_BYTES / (Deletion.WIDEST * node.path().length()));
        if (checks.size() + more.size() > most) {
            return false;
        }
        checks.addAll(more);
        return true;
    }
}
