// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.queue.NodeName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** The nodes of one request, which are deleted together, and the owner of the outcome. */
public final class Deletion {
    /** The minimum size of a node in this count, which allows 500 nodes. */
    private static final int NODE = 1_000;
    /** The maximum size of a character in bytes. */
    static final int WIDEST = 3;

    final List<NodeDeletion> nodes = new ArrayList<>();
    /** Revocation nodes that did not exist when the last transaction was applied. */
    private final List<NodeDeletion> absentRevocationNodes = new ArrayList<>(0);

    private Consumer<ReleaseOutcome> then;
    /** Whether a downgrade without a response is among it: then one of its two nodes is missing. */
    boolean maybeDowngraded;
    /** Whether a held node was already gone. */
    boolean nodeMissing;
    /** Whether the server has refused it, which is logged once. */
    boolean refused;

    Deletion(Consumer<ReleaseOutcome> then) {
        this.then = then;
    }

    /**
     * Adds the revocation node and the replacement: one transaction deletes all, so that no revocation node is left
     * alone.
     */
    void addRelatedNodes(NodeToDelete node) {
        node.replacement().ifPresent(name -> {
            nodes.add(new NodeDeletion(node.present(), name, Kind.REPLACEMENT));
            maybeDowngraded = true;
        });
        node.revocationNode()
                .ifPresent(
                        revocationNode -> nodes.add(new NodeDeletion(node.present(), revocationNode, Kind.REVOCATION)));
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

    /** Completes the owner's call: none of the nodes is left. */
    void over() {
        complete(nodeMissing ? ReleaseOutcome.LOST : ReleaseOutcome.RELEASED);
    }

    /**
     * The node of a member to be deleted, and the nodes that may exist beside it or in its place.
     *
     * @param present the nodes of its session under its path
     * @param exclusive whether its lock is exclusive
     * @param replacement the node that replaces it in a pending transaction; either of the two may exist
     * @param revocationNode its revocation node
     */
    public record NodeToDelete(
            PresentNodes present,
            NodeName name,
            boolean exclusive,
            Optional<NodeName> replacement,
            Optional<NodeName> revocationNode) {}

    /** The reason for a deletion. */
    enum Kind {
        /** Release by an exclusive holder: the mark proves to the successor that all requests ahead of it are gone. */
        HANDED_OVER,
        /** Release by a shared holder. */
        RELEASED,
        /** The node that replaces a held one in a pending transaction. */
        REPLACEMENT,
        /** Withdrawal of a request that does not hold. */
        WITHDRAWN,
        /** The revocation node of a request, whose holder no longer listens. */
        REVOCATION
    }

    /**
     * A node to be deleted.
     *
     * @param path the node's own path
     */
    record NodeDeletion(PresentNodes present, NodeName name, Kind kind, String path) {
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

        boolean mayHaveBeenHeld() {
            return wasHeld() || kind == Kind.REPLACEMENT;
        }

        void gone() {
            if (kind != Kind.REVOCATION) {
                present.gone(name);
            }
        }
    }
}
