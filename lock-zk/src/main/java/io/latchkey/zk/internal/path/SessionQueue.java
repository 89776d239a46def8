// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.acquire.Event;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.Naming;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Tag;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The queue of one path in one session: the members of this session's requests, and what each of them waits for. The
 * deletion of a node of this session is known from {@link PresentNodes}, that of any other from a watch.
 */
public final class SessionQueue {
    private final Session session;
    private final LockPath path;
    private final Consumer<SessionQueue> dropIfIdle;
    private final PresentNodes nodes;
    private final PendingDeletions deletions;
    private final PathContent content;
    private final QueueReader reader;
    private final PathRenewal renewal;
    /** Members of requests that have not ended. */
    private int joined;
    /** Creates without a response. */
    private int creating;
    /** The request that a try which does not wait has last found blocked; null if the last one found its way free. */
    private @Nullable Demand blocked;

    /** How much a request asks for. */
    private record Demand(Tag tag, int permits) {
        /** Returns whether what blocks {@code other} blocks this as well. */
        boolean isAtLeast(Demand other) {
            boolean sameSide = tag == other.tag || tag == Tag.WRITE;
            return sameSide && permits >= other.permits;
        }
    }

    /**
     * @param dropIfIdle removes this queue from the session if it is idle and many others are known
     */
    SessionQueue(Session session, LockPath path, Consumer<SessionQueue> dropIfIdle) {
        this.session = session;
        this.path = path;
        this.dropIfIdle = dropIfIdle;
        this.nodes = new PresentNodes(session, path, this::dropIfIdle);
        this.deletions = new PendingDeletions(session, nodes);
        this.content = new PathContent(session, path, nodes);
        this.reader = new QueueReader(session, path, content, nodes, deletions, this::dropIfIdle);
        this.renewal = new PathRenewal(session, path);
    }

    public Session session() {
        return session;
    }

    LockPath path() {
        return path;
    }

    public PresentNodes nodes() {
        return nodes;
    }

    public PathContent content() {
        return content;
    }

    public QueueReader reader() {
        return reader;
    }

    public LostCreateSearch lostCreates() {
        return reader.lostCreates();
    }

    public PendingDeletions deletions() {
        return deletions;
    }

    public Naming naming() {
        return session.context().naming();
    }

    boolean idle() {
        return joined == 0 && lostCreates().isOver() && !hasPendingWork();
    }

    /** Returns whether a deletion, a create, or a list that has to show lost creates has no response yet. */
    boolean hasPendingWork() {
        return deletions.hasPendingDeletions() || lostCreates().needsList() || creating > 0;
    }

    /** Returns whether nodes are being deleted whose holders have released. */
    boolean hasPendingReleases() {
        return deletions.hasPendingReleases();
    }

    /** Notes whether a request that asks for so much was found blocked. */
    public void found(boolean isBlocked, Tag tag, int permits) {
        blocked = isBlocked ? new Demand(tag, permits) : null;
    }

    /** Returns whether a try that asked for as much or less was blocked when one last looked. */
    public boolean seemsBlocked(Tag tag, int permits) {
        return blocked != null && new Demand(tag, permits).isAtLeast(blocked);
    }

    public void creating() {
        creating++;
    }

    public void noLongerCreating() {
        creating--;
    }

    /**
     * Announces to {@code next}, which may wait for {@code member}, that {@code member} holds: directly if it is of
     * this session, otherwise by writing the same data to the node again. The write is repeated as long as the node
     * exists.
     *
     * <p>{@code next} need not follow {@code member} in {@link PresentNodes}. It may have found the node before the
     * node was known to be of this session, as its create was lost; then it watches the node as one of another session.
     */
    public void announce(QueueMember member, NodeName next) {
        member.node().ifPresent(own -> nodes.at(next)
                .ifPresentOrElse(here -> here.announced(own), () -> announceByWriting(member, own)));
    }

    private void announceByWriting(QueueMember member, NodeName own) {
        BooleanSupplier isThere = () -> member.node().equals(Optional.of(own));
        if (!isThere.getAsBoolean()) {
            return;
        }
        byte[] same = session.context().ownerData(member.label());
        session.connection()
                .persist(
                        isThere,
                        List.of(new ZnodeStore.Write.SetData(path.child(own), same, ZnodeStore.ANY_VERSION)),
                        answer -> {
                            switch (answer.code()) {
                                case NO_NODE -> member.nodeGone(own);
                                case NO_AUTH ->
                                    session.context()
                                            .log()
                                            .warn(
                                                    SessionQueue.class,
                                                    "This client may not write to {}. The next request waits until that node is"
                                                            + " deleted.",
                                                    path.child(own));
                                case OTHER, UNCLEAR ->
                                    session.heartbeat().afterBeat(() -> announceByWriting(member, own));
                                default -> {
                                    // The announcement is delivered.
                                }
                            }
                        });
    }

    /** Has the path deleted and created again, as its counter is near the end. Its data is read again afterwards. */
    public void renew(QueueMember member, long since) {
        if (naming().isShared()) {
            String displayPath = path.shown();
            member.fail(Errors.cannotRenew(displayPath, "clients other than Latchkey's use it as well"));
            return;
        }
        long notAfter = since == Event.Created.UNKNOWN_TOKEN ? content.writtenAt() : since;
        content.forget();
        renewal.add(member, notAfter);
    }

    public void join() {
        joined++;
    }

    /** Removes {@code member}, whose request has ended. */
    public void forget(QueueMember member) {
        joined--;
        reader.forget(member);
        renewal.removeEnded();
        member.takeRevocationNode().ifPresent(deletions::withdrawRevocationNode);
        dropIfIdle();
    }

    private void dropIfIdle() {
        dropIfIdle.accept(this);
    }

    /**
     * Ends the queue with its session. A caller may keep a lease of it, which must not keep the members of other
     * requests alive.
     */
    void sessionOver(ReleaseOutcome outcome) {
        deletions.sessionOver(outcome);
        nodes.sessionOver();
        reader.sessionOver();
        renewal.sessionOver();
    }
}
