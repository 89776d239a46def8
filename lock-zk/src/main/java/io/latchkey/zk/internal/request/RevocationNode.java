// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.SessionNode;
import io.latchkey.zk.internal.session.Watches;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.List;
import java.util.Optional;

/**
 * A revocation node: an ephemeral node beside a holder's own, by which the holder hears release requests. Clients that
 * ask for the release write their name into its data. Only a holder that listens has one.
 *
 * <p>It is a node of its own, because nothing but a holder's mark may be written to a request's node (docs/protocol.md,
 * "Revocation"). It is no request: to rules, older clients and watches it is a foreign child. It belongs to the
 * holder's session and is deleted in the transaction that deletes the request's node, so nothing is left, whichever
 * client fails. A release request during a loss of the connection is heard as well: when the watch is set again,
 * ZooKeeper compares the node's last change.
 */
final class RevocationNode {
    private static final byte[] EMPTY = new byte[0];

    private final Session session;
    private final SessionNode owner;
    private final NodeName name;
    private final Holder holder;
    private final String path;
    /** A single listener for all release requests: a new one each time would be added to the earlier ones. */
    private final Listener listener = new Listener();

    private Runnable stopListening = () -> {};
    /** It is open, or about to be. */
    private boolean open;

    private boolean closed;

    /** The holder that owns the node. */
    interface Holder {
        void askedToRelease(OwnerData by);

        /** No release request can reach the holder by this node. */
        void cannotBeAsked(LockException why);
    }

    /**
     * @param name the name of the holder's own node
     */
    RevocationNode(Session session, SessionNode owner, NodeName name, Holder holder) {
        this.session = session;
        this.owner = owner;
        this.name = name;
        this.holder = holder;
        this.path = owner.path().child(name.revocationNode());
    }

    /** Listens unless it does. A later lease by the same node asks again after the server has refused it once. */
    void open() {
        if (!open) {
            open = true;
            create();
        }
    }

    /**
     * Creates the node, on condition that the request's node exists. A server that the session has left may apply a
     * lost create when the session returns. The name of the request's node never returns, so such a create fails once
     * that node is deleted (docs/protocol.md, "Lost answers").
     */
    private void create() {
        Optional<NodeName> own = owner.node();
        if (closed || own.isEmpty()) {
            return;
        }
        ZnodeStore.Write check = new ZnodeStore.Write.Check(owner.path().child(own.get()));
        List<ZnodeStore.Write> writes = List.of(check, new ZnodeStore.Write.CreateNode(path, EMPTY));
        session.connection().persist(() -> !closed, writes, answer -> {
            switch (answer.code()) {
                case OK, NODE_EXISTS -> listen();
                // The request's node was replaced by a downgrade, or deleted, which the heartbeat reports.
                case NO_NODE -> session.heartbeat().afterBeat(this::create);
                default -> cannotListen(answer);
            }
        });
    }

    private void listen() {
        if (!closed) {
            // The watch is not removed while the node exists: it ends with the node.
            stopListening = session.watches().watchData(path, listener);
        }
    }

    /** Stops listening and returns the name. From now on the deletion of the request takes care of the node. */
    NodeName close() {
        closed = true;
        return name;
    }

    private void cannotListen(Response<?> why) {
        open = false;
        if (!closed) {
            String displayPath = owner.path().shown();
            holder.cannotBeAsked(Errors.of(displayPath, Errors.Purpose.toSee("listen to release requests"), why));
        }
    }

    private final class Listener implements Watches.Listener {
        @Override
        public void seen(ZnodeStore.NodeData data) {
            if (!closed && data.version() > 0) {
                holder.askedToRelease(OwnerData.parse(data.data()));
            }
        }

        @Override
        public void changed() {
            if (closed) {
                // A release request arrived while the node was about to be deleted. No watch is left that would report
                // the deletion.
                stopListening.run();
            } else {
                listen();
            }
        }

        /** Creates the node again after another client has deleted it. */
        @Override
        public void gone() {
            if (!closed) {
                session.heartbeat().afterBeat(RevocationNode.this::create);
            }
        }

        @Override
        public void watchLost(Response<?> why) {
            if (why.code().isServerError()) {
                cannotListen(why);
            } else {
                session.connection().whenConnected(RevocationNode.this::listen);
            }
        }
    }
}
