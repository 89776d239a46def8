// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.lock.LockObserver;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * One ZooKeeper session from its first connection to its end, and what happens to it as connections come and go. Its parts are the
 * {@link Wire}, the {@link SessionValidity}, the {@link Heartbeat}, the {@link Watches} and the {@link Lists}. Every request belongs to
 * exactly one. Confined to the client's serial executor, but for what is volatile.
 */
public final class Session {
    private final ClientContext context;
    private final Client client;
    private final SessionValidity validity;
    private final Wire wire;
    private final Watches watches;
    private final NodeChecks nodeChecks;
    private final Heartbeat heartbeat;
    private final Lists lists;

    /** Requests that create their nodes once connected, in their order. */
    private final Set<SessionRequest> toCreate = new LinkedHashSet<>();
    /** What looks for creates of this session that were lost and have not turned up. */
    private final Set<Runnable> lookForLostCreates = new LinkedHashSet<>();

    private boolean marking;
    private boolean checking = true;

    /** The client of a session. On the serial executor. */
    public interface Client {
        /** The server has ended the session. */
        void sessionOver(Session session);

        /** The servers refuse the client's login. */
        void loginRefused();

        /** A response was handled: a closing client may have nothing left in its session. */
        void finishWhenIdle();
    }

    public Session(ClientContext context, Client client) {
        this.context = context;
        this.client = client;
        this.validity = new SessionValidity(context);
        this.wire = new Wire(context, validity, new Answers());
        this.watches = new Watches(context, wire);
        this.nodeChecks = new NodeChecks(context, wire);
        this.heartbeat = new Heartbeat(context, wire, validity, nodeChecks, this::backInTouch);
        this.lists = new Lists(context, wire, validity, heartbeat);
        this.marking = !context.naming().isShared();
    }

    public ClientContext context() {
        return context;
    }

    public Wire wire() {
        return wire;
    }

    public SessionValidity validity() {
        return validity;
    }

    public Heartbeat heartbeat() {
        return heartbeat;
    }

    public Watches watches() {
        return watches;
    }

    public NodeChecks nodeChecks() {
        return nodeChecks;
    }

    public Lists lists() {
        return lists;
    }

    // ---- what the server lets this session do

    public boolean marks() {
        return marking;
    }

    public void stopMarking() {
        marking = false;
    }

    /** Whether a release checks the nodes of those who hold by it. */
    public boolean checks() {
        return checking;
    }

    /** The server refuses to say whether a node is there; and without a check there is no mark. */
    public void stopChecking() {
        checking = false;
        marking = false;
    }

    // ---- the connection

    public void open(ZnodeStore opened) {
        wire.open(opened);
    }

    public void connectedWith(Duration sessionTimeout) {
        boolean first = !wire.hasConnected();
        wire.newConnection();
        if (validity.connectedWith(sessionTimeout, first)) {
            heartbeat.shortened();
        }
        if (first) {
            backInTouch();
            if (validity.beginsPair()) {
                heartbeat.completePair();
            }
        } else if (wire.connected()) {
            // A borrowed handle tells so again when somebody touches what is watched there.
            validity.connected();
        } else {
            heartbeat.probe();
        }
    }

    public void disconnected() {
        if (wire.hasConnected()) {
            outOfTouch();
        }
    }

    private void outOfTouch() {
        boolean lost = wire.lost();
        validity.connectionLost(lost);
        heartbeat.connectionLost();
        if (lost) {
            context.signals().session(LockObserver.SessionState.DISCONNECTED);
            validity.suspect();
            heartbeat.probe();
        } else {
            heartbeat.probeLater();
        }
        validity.away();
    }

    /** A barrier on a new connection has been committed: what waits for the connection goes on. */
    private void backInTouch() {
        wire.backInTouch();
        context.signals().session(LockObserver.SessionState.CONNECTED);
        if (!validity.believesOffer()) {
            heartbeat.beatSoon();
        }
        heartbeat.beatForThoseThatWait();
        validity.connected();
        wire.runWaiting();
        // Lists of requests that look for their own creates come first and serve the others as well.
        lookForLostCreates.forEach(context::serially);
        toCreate.forEach(request -> context.serially(() -> {
            if (createsNoMore(request)) {
                whenConnectedCreate(request);
            }
        }));
    }

    /**
     * Creates the request's nodes now or once connected. A create that was not sent cannot be lost: a try that ends
     * without a connection leaves nothing to be looked for.
     */
    public void whenConnectedCreate(SessionRequest request) {
        if (wire.connected()) {
            request.create();
        } else {
            toCreate.add(request);
        }
    }

    /** Takes the request from those that wait for the connection; says whether it was among them. */
    public boolean createsNoMore(SessionRequest request) {
        return toCreate.remove(request);
    }

    /**
     * Runs {@code look}, which looks for lost creates, on every new connection, behind the barrier: that is behind whatever the
     * server of this connection still had of the session. A server that the session has left is refused by the leader,
     * so no create can turn up later on this connection.
     */
    public void lookOnEveryConnection(Runnable look) {
        lookForLostCreates.add(look);
    }

    public void lookNoMore(Runnable look) {
        lookForLostCreates.remove(look);
    }

    public boolean looksForLostCreates() {
        return !lookForLostCreates.isEmpty();
    }

    /** Runs {@code task} when what was lost or refused may be tried again: connected anew, or else after the next beat. */
    public void tryAgain(Runnable task) {
        if (wire.connected()) {
            heartbeat.afterBeat(task);
        } else {
            wire.whenConnected(task);
        }
    }

    /** What answers tell of the session. */
    private final class Answers implements Wire.Listener {
        @Override
        public void outOfTouch() {
            Session.this.outOfTouch();
        }

        @Override
        public void sessionOver() {
            client.sessionOver(Session.this);
        }

        @Override
        public void loginRefused() {
            client.loginRefused();
        }

        @Override
        public void answered() {
            client.finishWhenIdle();
        }
    }

    // ---- the end

    public void end() {
        wire.end();
        validity.end();
        heartbeat.end();
        toCreate.clear();
        lookForLostCreates.clear();
    }
}
