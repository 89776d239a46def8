// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.acquire.Event;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Tag;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.Watches;
import io.latchkey.zk.internal.session.Wire;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One path in one session: the members of this session's requests that stand in its queue, and what they are told of it. A node ahead
 * that is of this session is told of by {@link PresentNodes}, any other by a watch.
 */
public final class SessionQueue {
    private static final Logger LOG = LoggerFactory.getLogger(SessionQueue.class);
    private static final int ANY_VERSION = -1;

    private final Session session;
    private final String path;
    private final Consumer<SessionQueue> dropIfIdle;
    private final PresentNodes nodes;
    private final PendingDeletions departures;
    private final QueueReader reader;
    private final PathRenewal drain;
    /** Members of requests that are not over. */
    private int joined;
    /** Creates on the wire. */
    private int creating;

    /**
     * @param dropIfIdle forgets this queue if it is idle and many others are known
     */
    SessionQueue(Session session, String path, Consumer<SessionQueue> dropIfIdle) {
        this.session = session;
        this.path = path;
        this.dropIfIdle = dropIfIdle;
        this.nodes = new PresentNodes(session, path, this::nodeGone);
        this.departures = new PendingDeletions(session, nodes);
        this.reader = new QueueReader(session, path, nodes, departures, this::dropIfIdle);
        this.drain = new PathRenewal(session, path);
    }

    public Session session() {
        return session;
    }

    String path() {
        return path;
    }

    public PresentNodes nodes() {
        return nodes;
    }

    public QueueReader reader() {
        return reader;
    }

    public PendingDeletions departures() {
        return departures;
    }

    public Naming naming() {
        return session.context().naming();
    }

    public String pathOf(String child) {
        return nodes.pathOf(child);
    }

    boolean idle() {
        return joined == 0 && nodes.isEmpty() && reader.idle() && !owes() && drain.idle();
    }

    boolean owes() {
        return departures.owes() || reader.owes() || creating > 0;
    }

    public void creating() {
        creating++;
    }

    public void noLongerCreating() {
        creating--;
    }

    /** Tells {@code member} when the node ahead goes. */
    public void watch(QueueMember member, NodeName ahead) {
        if (nodes.follow(member, ahead)) {
            return;
        }
        String node = pathOf(ahead.text());
        Watches.Listener listener = member.aheadListener(ahead);
        boolean mayMark = ahead.tag() == Tag.WRITE && !naming().isShared();
        if (mayMark) {
            member.watchOwn();
        }
        member.watches(
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

    /**
     * Tells {@code next}, which may wait for it, that {@code member} holds: here if it is of this session, else by writing
     * the node's data once more. That is owed as long as the node is there.
     *
     * <p>It need not be among the followers: if it found a node whose create was lost before that was known to be of this
     * session, it watches it as one of others.
     */
    public void tell(QueueMember member, NodeName next) {
        member.node().ifPresent(own -> nodes.at(next)
                .ifPresentOrElse(here -> here.told(own), () -> tellByWriting(member, own)));
    }

    private void tellByWriting(QueueMember member, NodeName own) {
        if (!member.node().equals(Optional.of(own))) {
            return;
        }
        byte[] same = session.context().ownerData(member.label());
        session.wire().write(List.of(new ZnodeStore.Write.SetData(pathOf(own.text()), same, ANY_VERSION)), answer -> {
            switch (Wire.codeOf(answer)) {
                case CONNECTION_LOSS, READ_ONLY -> session.wire().whenConnected(() -> tellByWriting(member, own));
                case NO_NODE -> member.nodeGone(own);
                case NO_AUTH ->
                    LOG.warn(
                            "This client may not write to {}: who waits behind it waits until it is gone.", own.text());
                case OTHER -> session.heartbeat().afterBeat(() -> tellByWriting(member, own));
                default -> {
                    // Told.
                }
            }
        });
    }

    /** The counter is near its end: the path has to be made anew, and its data to be read anew. */
    public void drain(QueueMember member, long since) {
        if (naming().isShared()) {
            String shown = session.context().shown(path);
            member.fail(Errors.cannotRenew(shown, "other clients than Latchkey's use it as well"));
            return;
        }
        long notAfter = since == Event.Created.UNKNOWN_TOKEN ? reader.writtenAt() : since;
        reader.forget();
        drain.await(member, notAfter);
    }

    public void join() {
        joined++;
    }

    /** The request of {@code member} is over. */
    public void forget(QueueMember member) {
        joined--;
        reader.forget(member);
        drain.forgetThoseGone();
        member.takeEar().ifPresent(departures::withdrawEar);
        dropIfIdle();
    }

    private void nodeGone() {
        reader.reconsider();
        dropIfIdle();
    }

    private void dropIfIdle() {
        dropIfIdle.accept(this);
    }

    void sessionOver(ReleaseOutcome told) {
        departures.sessionOver(told);
    }
}
