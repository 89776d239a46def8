// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.SetMultimap;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.session.Session;
import io.latchkey.zk.internal.session.SessionNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of one session under one path: their owners, the members that wait for each of them, and the members that
 * are granted when a holder releases or a node is deleted.
 */
public final class PresentNodes {
    private final Session session;
    private final LockPath path;
    private final Runnable onceGone;
    /** The members whose nodes exist, or whose deletion is not confirmed yet. */
    private final Map<String, QueueMember> present = new LinkedHashMap<>();
    /** The subset that was not granted when last updated, by node name. */
    private final Map<String, QueueMember> waiting = new LinkedHashMap<>();
    /** The members that wait for a node of this session, by its name. */
    private final SetMultimap<String, QueueMember> followers = LinkedHashMultimap.create();
    /**
     * Released nodes of exclusive holders that are not known to be deleted, with the members of this session that the
     * release granted.
     */
    private final Map<String, List<QueueMember>> released = new HashMap<>();

    private @Nullable QueueMember holder;
    /** The members that hold together with others. */
    private final Set<QueueMember> sharing = new LinkedHashSet<>(0);

    /**
     * @param onceGone runs after a node is known to be deleted and its followers are notified
     */
    PresentNodes(Session session, LockPath path, Runnable onceGone) {
        this.session = session;
        this.path = path;
        this.onceGone = onceGone;
    }

    LockPath path() {
        return path;
    }

    Collection<QueueMember> members() {
        return present.values();
    }

    /** Returns the waiting members, oldest first, and possibly some that no longer wait. */
    Collection<QueueMember> waiting() {
        return waiting.values();
    }

    /** Returns the owner of the node if it is of this session. */
    public Optional<QueueMember> at(NodeName name) {
        return Optional.ofNullable(present.get(name.text()));
    }

    public void arrived(QueueMember member, NodeName name) {
        present.put(name.text(), member);
        session.nodeChecks().update(member);
        if (member.isWaiting()) {
            waiting.put(name.text(), member);
        }
        session.heartbeat().keepBeating();
    }

    /** Returns the member of this session that holds exclusively. */
    Optional<QueueMember> holder() {
        return Optional.ofNullable(holder);
    }

    public void granted(QueueMember member) {
        member.node().ifPresent(name -> waiting.remove(name.text()));
        if (member.isExclusive()) {
            holder = member;
        } else {
            sharing.add(member);
        }
    }

    /** Returns the nodes of the holders that cannot hold beside {@code member}. */
    public List<SessionNode.OwnedNode> holdersExcludedBy(QueueMember member) {
        List<SessionNode.OwnedNode> excluded = new ArrayList<>(0);
        if (holder != null) {
            addIfHeld(holder, member, excluded);
        }
        if (member.isExclusive()) {
            sharing.forEach(other -> addIfHeld(other, member, excluded));
        }
        return excluded;
    }

    /**
     * Returns the holder that cannot hold beside {@code member} and is being downgraded: whether it still has a node,
     * and which, is known by the answer only.
     */
    public Optional<QueueMember> replacedHolder(QueueMember member) {
        return Optional.ofNullable(holder)
                .filter(other -> !other.equals(member) && other.isHeld())
                .filter(other -> other.replacement().isPresent());
    }

    private static void addIfHeld(QueueMember other, QueueMember member, List<SessionNode.OwnedNode> to) {
        if (!other.equals(member) && other.isHeld()) {
            other.node().filter(other::isAt).ifPresent(name -> to.add(new SessionNode.OwnedNode(other, name)));
        }
    }

    /**
     * Has {@code member} notified when the node ahead is released or deleted, if that node is of this session. Returns
     * the action that ends this, or nothing if the node is of another session.
     *
     * <p>Such a node needs no watch: its release and its deletion are known here before the server has processed them.
     * No other session can be granted before both nodes are deleted, so exclusion and order hold (docs/protocol.md,
     * "Hand-over within a session").
     */
    public Optional<Runnable> follow(QueueMember member, NodeName ahead) {
        if (!present.containsKey(ahead.text())) {
            return Optional.empty();
        }
        List<QueueMember> localSuccessors = released.get(ahead.text());
        if (localSuccessors != null) {
            localSuccessors.add(member);
            member.unblocked(ahead);
            return Optional.of(() -> {});
        }
        followers.put(ahead.text(), member);
        return Optional.of(() -> followers.remove(ahead.text(), member));
    }

    /** Notes that {@code member} neither holds nor waits any more, whatever happens to its node. */
    public void ended(QueueMember member) {
        member.forgetOwn();
        sharing.remove(member);
        if (member.equals(holder)) {
            holder = null;
        }
    }

    /**
     * Releases an exclusive holder, and returns the members of this session that wait for it: they are granted before
     * the server has processed the release.
     */
    List<QueueMember> release(NodeName name) {
        List<QueueMember> localSuccessors = new ArrayList<>(followers.removeAll(name.text()));
        released.put(name.text(), localSuccessors);
        return List.copyOf(localSuccessors);
    }

    /** Returns the members that the release of this node granted. */
    List<QueueMember> localSuccessors(NodeName name) {
        return released.getOrDefault(name.text(), List.of());
    }

    /** Returns whether all released nodes of this session are among {@code leaving} or known to be deleted. */
    boolean allReleasedIn(Set<String> leaving) {
        return leaving.containsAll(released.keySet());
    }

    /** Notes that a node of this session is deleted. */
    public void gone(NodeName name) {
        present.remove(name.text());
        waiting.remove(name.text());
        released.remove(name.text());
        followers.removeAll(name.text()).forEach(follower -> follower.gone(name));
        onceGone.run();
    }

    void sessionOver() {
        present.clear();
        waiting.clear();
        followers.clear();
        released.clear();
        sharing.clear();
        holder = null;
    }

    /**
     * Returns the nodes of holders and waiters that are not among {@code there}. While a node is being replaced, either
     * the node or its replacement exists, unless another client has deleted it: then the replacement fails.
     */
    Map<NodeName, QueueMember> missingFrom(Set<String> there) {
        Map<NodeName, QueueMember> missing = new LinkedHashMap<>(0);
        present.forEach((text, member) -> member.node()
                .filter(name -> name.text().equals(text) && !there.contains(text))
                .filter(name -> member.replacement()
                        .filter(other -> there.contains(other.text()))
                        .isEmpty())
                .ifPresent(name -> missing.put(name, member)));
        return missing;
    }
}
