// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.SetMultimap;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.acquire.Event;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Tag;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One path in one session: who of this session stands in its queue, and who hands over to whom. */
final class SessionQueue {
    private static final Logger LOG = LoggerFactory.getLogger(SessionQueue.class);
    private static final int ANY_VERSION = -1;

    private final Session session;
    private final String path;
    private final QueueReader reader;
    private final PendingDeletions departures;
    private final PathRenewal drain;
    /** The places of this session whose nodes are there, or whose deletion is not confirmed yet. */
    private final Map<String, QueueEntry> present = new LinkedHashMap<>();
    /** Those of them that were not granted when last heard of, by their nodes' names. */
    private final Map<String, QueueEntry> waiting = new LinkedHashMap<>();
    /** Who waits for a node of this session, by its name. */
    private final SetMultimap<String, QueueEntry> followers = LinkedHashMultimap.create();
    /** Nodes of exclusive holders that let go, not known to be gone, and who of this session is granted by that. */
    private final Map<String, List<QueueEntry>> letGo = new HashMap<>();

    private @Nullable QueueEntry holder;
    /** Places of requests that are not over. */
    private int joined;
    /** Creates on the wire. */
    private int creating;

    SessionQueue(Session session, String path) {
        this.session = session;
        this.path = path;
        this.reader = new QueueReader(session, this, path);
        this.departures = new PendingDeletions(session, this);
        this.drain = new PathRenewal(session, path);
    }

    Session session() {
        return session;
    }

    Collection<QueueEntry> present() {
        return present.values();
    }

    /** The places that wait, oldest first, and maybe some that wait no more. */
    Collection<QueueEntry> waiting() {
        return waiting.values();
    }

    boolean idle() {
        return joined == 0 && present.isEmpty() && reader.idle() && !owes() && drain.idle();
    }

    QueueReader reader() {
        return reader;
    }

    PendingDeletions departures() {
        return departures;
    }

    Naming naming() {
        return session.context().naming();
    }

    String pathOf(String child) {
        return path + '/' + child;
    }

    void creating() {
        creating++;
    }

    void noLongerCreating() {
        creating--;
    }

    // ---- arriving

    /** The place of this session whose node that is, if it is one of this session's. */
    Optional<QueueEntry> presentAt(NodeName name) {
        return Optional.ofNullable(present.get(name.text()));
    }

    void arrived(QueueEntry place, NodeName name) {
        present.put(name.text(), place);
        session.nodeChecks().update(place);
        if (place.request().isWaiting()) {
            waiting.put(name.text(), place);
        }
        session.keepBeating();
    }

    /** The place of this session that holds or is about to, and excludes all others, if one does. */
    Optional<QueueEntry> holder() {
        return Optional.ofNullable(holder);
    }

    void granted(QueueEntry place) {
        place.node().ifPresent(name -> waiting.remove(name.text()));
        if (place.isExclusive()) {
            holder = place;
        }
    }

    // ---- waiting

    /**
     * Tells {@code place} when the node ahead goes. A node of this session needs no watch: its going is known here, and
     * so is its holder's letting go, before the server hears of it. Nobody else can be granted before both nodes are
     * gone, so that exclusion and order stand (docs/protocol.md, "Hand-over within a session").
     */
    void watch(QueueEntry place, NodeName ahead) {
        if (present.containsKey(ahead.text())) {
            List<QueueEntry> heirs = letGo.get(ahead.text());
            if (heirs != null) {
                heirs.add(place);
                place.released(ahead);
            } else {
                followers.put(ahead.text(), place);
                place.watches(ahead, () -> followers.remove(ahead.text(), place));
            }
        } else {
            String node = pathOf(ahead.text());
            Watches.Listener listener = place.aheadListener(ahead);
            boolean mayMark = ahead.tag() == Tag.WRITE && !naming().isShared();
            if (mayMark) {
                place.watchOwn();
            }
            place.watches(
                    ahead,
                    switch (ahead.tag()) {
                        case WRITE ->
                            mayMark
                                    ? session.watches().watchForRelease(node, listener)
                                    : session.watches().watchChildren(node, listener);
                        case READ -> session.watches().watchChildren(node, listener);
                        case LEASE -> session.watches().watchData(node, listener);
                    });
        }
    }

    /**
     * Tells {@code next}, which may wait for it, that {@code place} holds: here if it is of this session, else by writing
     * the node's data once more. That is owed as long as the node is there.
     *
     * <p>It need not be among the followers: if it found a node whose create was lost before that was known to be of this
     * session, it watches it as one of others.
     */
    void tell(QueueEntry place, NodeName next) {
        place.node().ifPresent(own -> {
            QueueEntry here = present.get(next.text());
            if (here != null) {
                here.told(own);
            } else {
                tellByWriting(place, own);
            }
        });
    }

    private void tellByWriting(QueueEntry place, NodeName own) {
        if (!place.node().equals(Optional.of(own))) {
            return;
        }
        byte[] same = session.context().ownerData();
        session.write(List.of(new ZnodeStore.Write.SetData(pathOf(own.text()), same, ANY_VERSION)), answer -> {
            switch (Session.codeOf(answer)) {
                case CONNECTION_LOSS, READ_ONLY -> session.whenConnected(() -> tellByWriting(place, own));
                case NO_NODE -> place.nodeGone(own);
                case NO_AUTH ->
                    LOG.warn(
                            "This client may not write to {}: who waits behind it waits until it is gone.", own.text());
                case OTHER -> session.afterBeat(() -> tellByWriting(place, own));
                default -> {
                    // Told.
                }
            }
        });
    }

    // ---- leaving

    /** {@code place} holds and waits no more, whatever becomes of its node. */
    void ended(QueueEntry place) {
        place.forgetOwn();
        if (place.equals(holder)) {
            holder = null;
        }
    }

    void join() {
        joined++;
    }

    /** The request of {@code place} is over. */
    void forget(QueueEntry place) {
        joined--;
        reader.forget(place);
        drain.forgetThoseGone();
        departures.withdrawEar(place);
        dropIfIdle();
    }

    /** An exclusive holder lets go: who of this session waits for it is next, before the server hears of it. */
    List<QueueEntry> letGo(NodeName name) {
        List<QueueEntry> heirs = new ArrayList<>(followers.removeAll(name.text()));
        letGo.put(name.text(), heirs);
        heirs.stream().filter(QueueEntry::isExclusive).findFirst().ifPresent(next -> holder = next);
        return List.copyOf(heirs);
    }

    /** Who is granted since the holder with this node let go. */
    List<QueueEntry> heirs(NodeName name) {
        return letGo.getOrDefault(name.text(), List.of());
    }

    /** Whether the nodes of all holders of this session that let go are among these, or known to be gone. */
    boolean letsGoOfNoneBut(Set<String> leaving) {
        return leaving.containsAll(letGo.keySet());
    }

    /** A node of this session is known to be gone. */
    void nodeGone(NodeName name) {
        present.remove(name.text());
        waiting.remove(name.text());
        letGo.remove(name.text());
        followers.removeAll(name.text()).forEach(follower -> follower.gone(name));
        reader.reconsider();
        dropIfIdle();
    }

    void dropIfIdle() {
        session.dropIfIdle(path, this);
    }

    /**
     * Of the nodes whose owners hold or wait these alone are there. Of a node that is being replaced either is there, unless somebody has
     * deleted it: then the replacement fails.
     */
    void nodesGoneBut(Set<String> there) {
        List<QueueEntry.Standing> gone = new ArrayList<>(0);
        present.forEach((text, place) -> place.node()
                .filter(name -> name.text().equals(text) && !there.contains(text))
                .filter(name -> place.replacement()
                        .filter(other -> there.contains(other.text()))
                        .isEmpty())
                .ifPresent(name -> gone.add(new QueueEntry.Standing(place, name))));
        for (QueueEntry.Standing standing : gone) {
            standing.place().nodeGone(standing.name());
            // Should it be there after all, it must not stay without an owner.
            departures.withdraw(standing.name());
        }
    }

    /** The path's capacity has changed, and with it what everybody waits for. */
    void capacityChanged() {
        List.copyOf(present.values()).forEach(QueueEntry::lookAgain);
    }

    boolean owes() {
        return departures.owes() || reader.owes() || creating > 0;
    }

    void sessionOver(ReleaseOutcome told) {
        departures.sessionOver(told);
    }

    /** The counter is near its end: the path has to be made anew, and its data to be read anew. */
    void drain(Request request, long since) {
        if (naming().isShared()) {
            request.fail(Errors.cannotRenew(request.shown(path), "other clients than Latchkey's use it as well"));
            return;
        }
        long notAfter = since == Event.Created.UNKNOWN_TOKEN ? reader.writtenAt() : since;
        reader.forget();
        drain.await(request, notAfter);
    }
}
