// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.lock.LockException;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Owner;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.SessionNode;
import io.latchkey.zk.internal.session.Watches;
import io.latchkey.zk.internal.session.Wire;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.List;
import java.util.Optional;

/**
 * How a holder hears that somebody asks it to let go: an ephemeral node beside its own, whose data others replace by who
 * they are. Only a holder that listens has one. Nothing but a holder's mark may be written to a request's node
 * (docs/protocol.md, "Revocation"), and nobody else reads or watches an ear: it is no request, so no rule, old client or
 * watch sees more than a foreign child. It belongs to the holder's session and goes with the node, in the same
 * transaction, so that nothing is left, whoever dies. A wish is heard through a loss of the connection as well:
 * ZooKeeper compares the node's last change when the watch is set again.
 */
final class RevocationNode {
    private static final byte[] EMPTY = new byte[0];

    private final Session session;
    private final SessionNode place;
    private final NodeName name;
    private final Holder holder;
    private final String path;
    /** One for all wishes: another each time would join those before it. */
    private final Listener listener = new Listener();

    private Runnable stopListening = () -> {};
    private boolean closed;

    /** Whose node it is, and what it is told. */
    interface Holder {
        void askedToRelease(Owner by);

        /** Nobody will ever ask by this. */
        void cannotBeAsked(LockException why);
    }

    /**
     * @param name of the holder's own node
     */
    RevocationNode(Session session, SessionNode place, NodeName name, Holder holder) {
        this.session = session;
        this.place = place;
        this.name = name;
        this.holder = holder;
        this.path = place.path() + '/' + name.ear();
    }

    /**
     * Only while the request's node is there: a server that the session has left may carry a lost create out when the session
     * returns. The node's name never returns, so behind its deletion such a create fails (docs/protocol.md, "Lost answers").
     */
    void open() {
        Optional<NodeName> own = place.node();
        if (closed || own.isEmpty()) {
            return;
        }
        ZnodeStore.Write check =
                new ZnodeStore.Write.Check(place.path() + '/' + own.get().text());
        session.wire().write(List.of(check, new ZnodeStore.Write.CreateNode(path, EMPTY)), answer -> {
            Response<ZnodeStore.Written> plain = Wire.plain(answer);
            switch (plain.code()) {
                case OK, NODE_EXISTS -> listen();
                case CONNECTION_LOSS, READ_ONLY -> session.wire().whenConnected(this::open);
                case NO_NODE -> noNode(own.get());
                default -> deaf(plain);
            }
        });
    }

    /** The node was deleted, or replaced by a downgrade. */
    private void noNode(NodeName own) {
        if (place.isAt(own)) {
            place.nodeGone(own);
        } else {
            session.heartbeat().afterBeat(this::open);
        }
    }

    private void listen() {
        if (!closed) {
            // Taken back by nobody while it is there: it goes with the node.
            stopListening = session.watches().watchData(path, listener);
        }
    }

    /** From now on the node is its departure's. */
    NodeName close() {
        closed = true;
        return name;
    }

    private void deaf(Response<?> why) {
        if (!closed) {
            String shown = session.context().shown(place.path());
            holder.cannotBeAsked(Errors.of(shown, "listen to release requests", why));
        }
    }

    private final class Listener implements Watches.Listener {
        @Override
        public void seen(ZnodeStore.NodeData data) {
            if (!closed && data.version() > 0) {
                holder.askedToRelease(Owner.parse(data.data()));
            }
        }

        @Override
        public void changed() {
            if (closed) {
                // Somebody asked while the node was about to go: there is no watch that would tell of that.
                stopListening.run();
            } else {
                listen();
            }
        }

        @Override
        public void released() {
            gone();
        }

        /** Somebody deleted it: there will be another. */
        @Override
        public void gone() {
            if (!closed) {
                session.heartbeat().afterBeat(RevocationNode.this::open);
            }
        }

        @Override
        public void blind(Response<?> why) {
            if (why.code() == Status.NO_AUTH || why.code() == Status.OTHER) {
                deaf(why);
            } else {
                session.wire().whenConnected(RevocationNode.this::listen);
            }
        }
    }
}
