// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.zk.internal.path.QueueMember;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.Watches;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import org.jspecify.annotations.Nullable;

/**
 * The watch of a request on its own node. A waiting request takes a hand-over as its grant only while the watch is set
 * (docs/protocol.md, "Hand-over and the release mark"). A holder learns by it of the deletion of its node.
 */
final class OwnNodeWatch {
    private final QueueMember member;
    private final Session session;
    private @Nullable Runnable stop;
    /** Whether the server has confirmed the watch and the watch has not fired since. */
    private boolean confirmed;

    private boolean leftToWatch;

    /** @param session the session in which {@code member} has its node */
    OwnNodeWatch(QueueMember member, Session session) {
        this.member = member;
        this.session = session;
    }

    /** Sets the watch on the present node, which must exist, unless it is set already. */
    void watch() {
        if (stop == null) {
            NodeName own = member.node().orElseThrow();
            stop = session.watches().watchOwn(member.path().child(own), new Listener(own));
        }
    }

    void stop() {
        confirmed(false);
        if (stop != null) {
            stop.run();
            stop = null;
        }
    }

    boolean isConfirmed() {
        return confirmed;
    }

    private void confirmed(boolean now) {
        confirmed = now;
        session.nodeChecks().update(member);
    }

    /** Sets the watch and lets heartbeats leave the node out while it is confirmed. */
    void leaveToWatch() {
        leftToWatch = true;
        watch();
        confirmed(confirmed);
    }

    boolean isLeftToWatch() {
        return leftToWatch && confirmed;
    }

    private final class Listener implements Watches.Listener {
        private final NodeName own;

        Listener(NodeName own) {
            this.own = own;
        }

        @Override
        public void seen(ZnodeStore.Listing children) {
            confirmed(true);
        }

        /**
         * A holder's node may have been deleted with its session, whose end the server reports later: a check shows the
         * cause.
         */
        @Override
        public void gone() {
            confirmed(false);
            if (member.isHeld()) {
                session.nodeChecks().reported(member);
            } else {
                member.nodeGone(own);
            }
        }

        /** A waiter without the watch lists the queue when the node ahead is released, so it is not set at any cost. */
        @Override
        public void watchLost(Response<?> why) {
            confirmed(false);
            stop = null;
            if (why.code() == Status.CONNECTION_LOSS) {
                session.connection().whenConnected(() -> {
                    if (member.isAt(own)) {
                        watch();
                    }
                });
            }
        }
    }
}
