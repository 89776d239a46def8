// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.client;

import io.latchkey.zk.internal.context.ClientContext;
import io.latchkey.zk.internal.path.SessionQueues;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.validity.Clock;
import io.latchkey.zk.internal.validity.ClockReading;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Passes what the handle of one session reports to the session and its client, on the serial executor. Reports of a
 * session that is over are ignored.
 */
final class SessionListener implements ZnodeStore.Listener {
    private final ClientContext context;
    private final Session.Client client;
    private final ConnectionHandler connections;
    private final SessionQueues of;
    /** The events that came before the handle was known to the session; null behind that. */
    private @Nullable List<Runnable> early = new ArrayList<>(0);
    /** The store of the session. No watch is set, so none fires, before it is known. */
    private volatile @Nullable ZnodeStore store;

    SessionListener(ClientContext context, Session.Client client, SessionQueues of, ConnectionHandler connections) {
        this.context = context;
        this.client = client;
        this.of = of;
        this.connections = connections;
    }

    /** Takes the connections of a session. */
    interface ConnectionHandler {
        void connected(SessionQueues of, Duration timeout, Optional<ZnodeStore.Attempt> attempt);
    }

    void opened(ZnodeStore opened) {
        store = opened;
        List<Runnable> waiting = Objects.requireNonNull(early, "opened before");
        early = null;
        waiting.forEach(this::unlessOver);
    }

    @Override
    public ClockReading now() {
        return context.now();
    }

    @Override
    public Clock.Timer after(Duration delay, Runnable task) {
        return context.clock().after(delay, task);
    }

    @Override
    public void connected(int timeoutMillis, Optional<ZnodeStore.Attempt> attempt) {
        unlessOver(() -> connections.connected(of, Duration.ofMillis(timeoutMillis), attempt));
    }

    @Override
    public void disconnected() {
        unlessOver(() -> of.session().disconnected());
    }

    @Override
    public void expired() {
        unlessOver(() -> client.sessionOver(of.session()));
    }

    @Override
    public void noted(String line) {
        context.log().warn(SessionListener.class, line);
    }

    @Override
    public void failed(Throwable why) {
        context.fail(why);
    }

    @Override
    public void loginRefused() {
        unlessOver(client::loginRefused);
    }

    /**
     * Reports a deletion to the ledger of the session's nodes on the thread of the event. That thread delivers an answer
     * that shows a later creation only afterwards; the step that handles the event may run after that answer.
     */
    @Override
    public void fired(String path, ZnodeStore.Change change, long zxid) {
        ZnodeStore opened = store;
        if (opened != null && change == ZnodeStore.Change.DELETED) {
            opened.nodes().deleted(path);
        }
        unlessOver(() -> of.session().watches().fired(path, change, zxid));
    }

    /** The handle of a session that is over may report more. */
    private void unlessOver(Runnable task) {
        context.execute(() -> {
            if (early != null) {
                early.add(task);
            } else if (!of.session().connection().isOver()) {
                task.run();
            }
        });
    }
}
