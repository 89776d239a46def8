// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.lock.SessionState;
import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.validity.ClockReading;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/**
 * A ZooKeeper session from its first connection to its end. Its parts are the {@link Connection}, the {@link
 * SessionValidity}, the {@link Heartbeat} with its {@link NodeChecks}, the {@link Watches}, the {@link Lists} and the
 * {@link ReadsInTurn}. Every request belongs to exactly one session. Confined to the client's serial executor, except
 * for volatile fields.
 */
public final class Session {
    /** The number of paths at which one heartbeat looks for lost creates. */
    private static final int LOOKS = 100;
    /** The share of the session timeout for which a node counts as just seen. A heartbeat finds it gone in a sixth. */
    private static final int JUST = 10;

    private final ClientContext context;
    private final Client client;
    private final SessionValidity validity;
    private final Connection connection;
    private final Watches watches;
    private final NodeChecks nodeChecks;
    private final Heartbeat heartbeat;
    private final Lists lists;
    private final ReadsInTurn readsInTurn;

    /** Requests that create their nodes once connected, in order. */
    private final Set<SessionRequest> toCreate = new LinkedHashSet<>();
    /** The lost creates of this session that may be applied on a later connection. */
    private final Set<LostCreate> lostCreates = new LinkedHashSet<>(0);
    /** Those whose paths have to be looked at on this connection. */
    private final Deque<LostCreates> toLookAt = new ArrayDeque<>(0);
    /** Whether the next heartbeat looks at some of these. */
    private boolean looksLater;

    private boolean marking;
    private boolean checking = true;

    /** A path with lost creates. Called on the serial executor. */
    public interface LostCreates {
        /** Lists the path. */
        void look();

        /** Forgets a lost create. */
        void forget(String id);
    }

    private record LostCreate(String id, LostCreates at) {}

    /** The client that a session belongs to. Called on the serial executor. */
    public interface Client {
        /** The server has ended the session. */
        void sessionOver(Session session);

        /** The servers refuse the client's login. */
        void loginRefused();
    }

    public Session(ClientContext context, Client client) {
        this.context = context;
        this.client = client;
        this.validity = new SessionValidity(context);
        this.connection = new Connection(context, validity, this::onUnusable);
        this.watches = new Watches(context, connection);
        this.nodeChecks = new NodeChecks(context, connection);
        this.heartbeat = new Heartbeat(context, connection, validity, nodeChecks, this::onReconnected);
        this.lists = new Lists(context, connection, heartbeat);
        this.readsInTurn = new ReadsInTurn(connection);
        this.marking = !context.naming().isShared();
    }

    public ClientContext context() {
        return context;
    }

    public Connection connection() {
        return connection;
    }

    public SessionValidity validity() {
        return validity;
    }

    /** Returns whether what was seen {@code then} counts as seen just now. */
    public boolean isJustNow(ClockReading then) {
        return context.now().since(then).compareTo(validity.timeout().dividedBy(JUST)) <= 0;
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

    public ReadsInTurn readsInTurn() {
        return readsInTurn;
    }

    // ---- rights of this session

    public boolean marks() {
        return marking;
    }

    public void stopMarking() {
        marking = false;
    }

    /** Returns whether a release checks the nodes of the requests that it grants. */
    public boolean checks() {
        return checking;
    }

    /** Stops checking nodes, as the server refuses it. Without a check a release sets no mark either. */
    public void stopChecking() {
        checking = false;
        marking = false;
    }

    // ---- the connection

    public void open(ZnodeStore opened) {
        connection.open(opened);
    }

    /**
     * Takes a new connection into use: the first one at once, since nothing was sent over another before, each later
     * one behind its barrier.
     *
     * @param attempt the attempt that made the connection; empty if unknown
     */
    public void connectedWith(Duration sessionTimeout, Optional<ZnodeStore.Attempt> attempt) {
        boolean first = !connection.hasConnected();
        connection.newConnection(attempt.map(ZnodeStore.Attempt::server));
        validity.connectedWith(
                connection.store().session(), sessionTimeout, first, attempt.map(ZnodeStore.Attempt::begun));
        if (first) {
            onReconnected();
            if (validity.beginsPair()) {
                heartbeat.completePair();
            }
        } else if (connection.connected()) {
            // A borrowed handle reports its connection again if another client creates or deletes the node that is
            // watched there.
            validity.connected();
        } else {
            heartbeat.probe();
        }
    }

    public void disconnected() {
        if (connection.hasConnected()) {
            onDisconnected();
        }
    }

    private void onDisconnected() {
        boolean lost = connection.lost();
        validity.connectionLost(lost);
        heartbeat.connectionLost();
        if (lost) {
            context.events().session(SessionState.DISCONNECTED);
            validity.suspect();
            heartbeat.probe();
        } else {
            heartbeat.probeLater();
        }
        validity.reportDisconnected();
    }

    /** Resumes all that waits for the connection, after the barrier on a new one is committed. */
    private void onReconnected() {
        connection.onReconnected();
        context.events().session(SessionState.CONNECTED);
        if (!validity.believesOffer()) {
            heartbeat.beatSoon();
        }
        heartbeat.beatForConfirmation();
        validity.connected();
        connection.runWaiting();
        // Lists for the requests' own lost creates are sent first and serve the others as well.
        toLookAt.clear();
        lostCreates.stream().map(LostCreate::at).distinct().forEach(toLookAt::add);
        if (!looksLater) {
            lookAtSome();
        }
        toCreate.forEach(request -> context.execute(() -> {
            if (cancelCreate(request)) {
                whenConnectedCreate(request);
            }
        }));
    }

    /**
     * Creates the request's nodes now or once connected. A create that was not sent cannot be lost, so a try that ends
     * without a connection leaves no node behind.
     */
    public void whenConnectedCreate(SessionRequest request) {
        if (connection.connected()) {
            request.create();
        } else {
            toCreate.add(request);
        }
    }

    /** Removes the request from those that wait for the connection, and returns whether it was among them. */
    public boolean cancelCreate(SessionRequest request) {
        return toCreate.remove(request);
    }

    /**
     * Has {@code at} look for a lost create behind the barrier of every new connection: behind all requests of the
     * session that the server of this connection still had. The leader refuses a server that the session has left, so
     * no create is applied later on this connection.
     *
     * <p>Where there are many paths, some are looked at behind the barrier, and more behind each heartbeat. If very
     * many are remembered, the oldest is forgotten.
     */
    public void remember(String id, LostCreates at) {
        lostCreates.add(new LostCreate(id, at));
        if (lostCreates.size() > ClientContext.MOST_REMEMBERED) {
            LostCreate oldest = lostCreates.iterator().next();
            lostCreates.remove(oldest);
            oldest.at().forget(oldest.id());
        }
    }

    /** Ends the look for a lost create. */
    public void stopLooking(String id, LostCreates at) {
        lostCreates.remove(new LostCreate(id, at));
    }

    private void lookAtSome() {
        for (int looks = 0; looks < LOOKS && !toLookAt.isEmpty(); looks++) {
            context.execute(toLookAt.remove()::look);
        }
        looksLater = !toLookAt.isEmpty();
        if (looksLater) {
            heartbeat.afterBeat(this::lookAtSome);
        }
    }

    public boolean looksForLostCreates() {
        return !lostCreates.isEmpty();
    }

    /** Returns whether paths with lost creates have still to be looked at on this connection. */
    public boolean hasToLook() {
        return !toLookAt.isEmpty();
    }

    private void onUnusable(Status answer) {
        switch (answer) {
            case SESSION_EXPIRED -> client.sessionOver(this);
            case LOGIN_REFUSED -> client.loginRefused();
            default -> onDisconnected();
        }
    }

    // ---- the end

    public void end() {
        connection.end();
        validity.end();
        heartbeat.end();
        watches.end();
        readsInTurn.end();
        toCreate.clear();
        lostCreates.clear();
        toLookAt.clear();
    }
}
