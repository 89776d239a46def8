// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The nodes of one session that heartbeats check: those known to exist, without holders' nodes that are watched
 * instead. The set is kept up to date as nodes appear and disappear, so a heartbeat costs only what it checks.
 *
 * <p>A failed transaction names only one node. One read asks for the others of its part. The read may lag behind the
 * leader, but it follows the failed transaction on the same connection, or on a later connection of the session. The
 * server answers it only after it has applied all that the session has seen, including the creation of each node. So a
 * node that the read does not find was deleted, and a node deleted before the transaction failed is not found.
 */
public final class NodeChecks {
    /**
     * The maximum number of nodes in one part of a heartbeat. A server keeps the last 500 transactions on its heap,
     * where a check takes five times its bytes.
     */
    private static final int PART = 500;
    /** The approximate maximum size of a part in bytes, a quarter of a packet, as paths may be long. */
    private static final int PART_BYTES = 250_000;
    /** The bytes of a check without its path. */
    private static final int CHECK = 20;
    /** The pause between two checks of deleted nodes while watches report more deletions than fit one. */
    private static final Duration COLLECTED = Duration.ofMillis(100);

    private final Connection connection;
    private final Set<SessionNode> owners = new LinkedHashSet<>();
    /** Owners whose watches have reported a deletion. */
    private final Deque<SessionNode> reported = new ArrayDeque<>();

    private final RestartableTimer collected;
    /** Whether reported deletions are checked, or a pause follows in which further ones are collected. */
    private boolean asking;

    NodeChecks(ClientContext context, Connection connection) {
        this.connection = connection;
        this.collected = new RestartableTimer(context, this::checkReported);
    }

    boolean isEmpty() {
        return owners.isEmpty();
    }

    /** Updates the set after a node has appeared or disappeared, or a watch on it was set or has ended. */
    public void update(SessionNode owner) {
        if (owner.node().isPresent() && !owner.isLeftToWatch()) {
            owners.add(owner);
        } else {
            owners.remove(owner);
        }
    }

    /** Returns all nodes to be checked, as a queue for {@link #part}. */
    Deque<SessionNode> all() {
        return new ArrayDeque<>(owners);
    }

    /** Removes the next nodes that fit one transaction from the queue and returns them. */
    List<SessionNode.OwnedNode> part(Deque<SessionNode> left) {
        List<SessionNode.OwnedNode> part = new ArrayList<>(Math.min(PART, left.size()));
        int bytes = 0;
        while (!left.isEmpty() && part.size() < PART) {
            SessionNode owner = left.element();
            Optional<NodeName> name = owner.node();
            if (name.filter(owner::isAt).isPresent()) {
                SessionNode.OwnedNode owned = new SessionNode.OwnedNode(owner, name.get());
                bytes += CHECK + owned.path().length();
                if (!part.isEmpty() && bytes > PART_BYTES) {
                    break;
                }
                part.add(owned);
            }
            left.remove();
        }
        return part;
    }

    /**
     * Checks these nodes and notifies the owners of those that are gone.
     *
     * @param wanted returns whether the check is sent again if the server throttles
     * @param then gets a response that is OK only if each node was seen, or its owner was notified that it is gone. Its
     *     refusal is {@link Status#NO_NODE} if any is gone, and another one if the server only does not let them be
     *     checked
     */
    public void check(
            List<SessionNode.OwnedNode> part,
            BooleanSupplier wanted,
            Consumer<Response<ZnodeStore.TransactionResult>> then) {
        connection.write(wanted, SessionNode.OwnedNode.checks(part), answer -> {
            if (answer.ok() && answer.get().failedAt().isPresent()) {
                failed(part, answer, then);
            } else {
                then.accept(answer);
            }
        });
    }

    private void failed(
            List<SessionNode.OwnedNode> part,
            Response<ZnodeStore.TransactionResult> failed,
            Consumer<Response<ZnodeStore.TransactionResult>> then) {
        ZnodeStore.Refusal refusal = failed.get().failedAt().orElseThrow();
        if (refusal.code() == Status.NO_NODE) {
            part.get(refusal.index()).missing();
        }
        // A server checks existence before rights, so a node refused for another reason exists.
        List<SessionNode.OwnedNode> others = part.stream()
                .filter(each -> !each.equals(part.get(refusal.index())))
                .toList();
        if (others.isEmpty()) {
            then.accept(failed);
            return;
        }
        List<String> paths = others.stream().map(SessionNode.OwnedNode::path).toList();
        // Without a response, the next heartbeat fails as this one did.
        connection.exist(paths, answer -> {
            if (!answer.ok()) {
                then.accept(Response.failed(answer.code(), answer.detail()));
                return;
            }
            Optional<ZnodeStore.Refusal> gone = Optional.empty();
            for (int i = 0; i < others.size(); i++) {
                SessionNode.OwnedNode other = others.get(i);
                if (answer.get().get(i) == Status.NO_NODE) {
                    if (gone.isEmpty()) {
                        gone = Optional.of(new ZnodeStore.Refusal(part.indexOf(other), Status.NO_NODE, other.path()));
                    }
                    other.missing();
                }
            }
            then.accept(gone.isEmpty() ? failed : Response.of(new ZnodeStore.TransactionResult(List.of(), gone)));
        });
    }

    /**
     * Handles the report of a watch that a holder's node is gone. The session may have ended with it, which the server
     * reports later; a committed transaction shows it. The first check is sent at once; deletions reported while it is
     * pending are checked together.
     */
    public void reported(SessionNode gone) {
        reported.add(gone);
        if (!asking) {
            checkReported();
        }
    }

    private void checkReported() {
        asking = true;
        connection.whenConnected(() -> {
            List<SessionNode.OwnedNode> part = part(reported);
            Duration pause = reported.isEmpty() ? COLLECTED : Duration.ZERO;
            if (part.isEmpty()) {
                asking = false;
                return;
            }
            check(part, () -> true, answer -> collected.set(pause));
        });
    }

    void end() {
        collected.cancel();
        owners.clear();
        reported.clear();
    }
}
