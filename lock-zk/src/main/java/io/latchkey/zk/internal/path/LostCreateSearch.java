// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.session.Session;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The search for the nodes of lost creates on one path that belong to no request any more. Lists of the path show them;
 * then they are deleted.
 */
public final class LostCreateSearch implements Session.LostCreates {
    private final Session session;
    private final PendingDeletions deletions;
    private final Runnable list;
    private final Runnable onceIdle;
    /**
     * The creates whose nodes were not found, by id, with the server that they were sent to if that is known. Each is
     * kept until a list behind a barrier of that server does not show it.
     */
    private final Map<String, Optional<String>> lost = new LinkedHashMap<>(0);

    /** The connection on which the last list was answered. */
    private int listedOn;
    /** Whether a list of this connection still has to show whether a lost create was applied. */
    private boolean unchecked;

    /**
     * @param list reads the path, unless a list is pending
     * @param onceIdle runs when no lost create has to be looked for any more
     */
    LostCreateSearch(Session session, PendingDeletions deletions, Runnable list, Runnable onceIdle) {
        this.session = session;
        this.deletions = deletions;
        this.list = list;
        this.onceIdle = onceIdle;
    }

    boolean isOver() {
        return lost.isEmpty();
    }

    /** Returns whether nodes may exist that belong to no request, and a list has to show them. */
    boolean needsList() {
        return unchecked;
    }

    /** Takes over a lost create whose request has ended: its node is looked for and deleted. */
    public void discard(String id, Optional<String> server) {
        keep(id, server);
        look();
    }

    /**
     * Takes over a lost create whose request continues with another id, as a list behind a barrier has not shown it.
     */
    public void remember(String id, Optional<String> server) {
        boolean listedHere = listedOn == session.connection().number();
        if (!listedHere || !isHere(server)) {
            keep(id, server);
        }
    }

    private void keep(String id, Optional<String> server) {
        lost.put(id, server);
        session.remember(id, this);
    }

    /**
     * Returns whether this is the server that the present connection is to, with its barrier committed. It had all that
     * the session had sent to it, ahead of the barrier. No other server had that (docs/protocol.md, "Lost answers").
     */
    private boolean isHere(Optional<String> server) {
        return session.connection().connected()
                && server.isPresent()
                && server.equals(session.connection().server());
    }

    /** Lists the path, now or on the next connection. A pending list is behind the barrier as well and serves this. */
    @Override
    public void look() {
        unchecked = true;
        lookIfConnected();
    }

    @Override
    public void forget(String id) {
        lost.remove(id);
    }

    void lookIfConnected() {
        if (unchecked && session.connection().connected()) {
            list.run();
        }
    }

    /** Looks again with the next heartbeat, after a list that a server refused. */
    void lookLater() {
        if (unchecked) {
            session.heartbeat().afterBeat(this::lookIfConnected);
        }
    }

    /**
     * Deletes the nodes of lost creates that the list shows. An id is in no other request's name and a create is
     * applied only once, so the id is then forgotten. So is one that the list does not show if its create was sent to
     * this server: it was applied before the barrier, or never will be.
     */
    void listed(List<String> children) {
        if (session.connection().connected()) {
            listedOn = session.connection().number();
            unchecked = false;
        }
        if (lost.isEmpty()) {
            return;
        }
        List<NodeName> found = children.stream()
                .flatMap(child -> session.context().naming().parse(child).stream())
                .filter(name -> lost.containsKey(name.id()))
                .toList();
        for (NodeName name : found) {
            settled(name.id());
            deletions.withdraw(name);
        }
        List<String> settled = lost.entrySet().stream()
                .filter(each -> isHere(each.getValue()))
                .map(Map.Entry::getKey)
                .toList();
        settled.forEach(this::settled);
        if (lost.isEmpty()) {
            onceIdle.run();
        }
    }

    private void settled(String id) {
        lost.remove(id);
        session.stopLooking(id, this);
    }
}
