// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.path;

import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.SetMultimap;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.session.Session;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of one session under one path: whose they are, which of their owners wait for which of them, and which go on when a
 * holder lets go or a node is gone.
 */
public final class PresentNodes {
    private final Session session;
    private final String path;
    private final Runnable onceGone;
    /** The members whose nodes are there, or whose deletion is not confirmed yet. */
    private final Map<String, QueueMember> present = new LinkedHashMap<>();
    /** Those of them that were not granted when last heard of, by their nodes' names. */
    private final Map<String, QueueMember> waiting = new LinkedHashMap<>();
    /** The members that wait for a node of this session, by its name. */
    private final SetMultimap<String, QueueMember> followers = LinkedHashMultimap.create();
    /** Nodes of exclusive holders that let go, not known to be gone, and the members of this session granted by that. */
    private final Map<String, List<QueueMember>> letGo = new HashMap<>();

    private @Nullable QueueMember holder;

    /**
     * @param onceGone what to do when a node is known to be gone and its followers know
     */
    PresentNodes(Session session, String path, Runnable onceGone) {
        this.session = session;
        this.path = path;
        this.onceGone = onceGone;
    }

    String pathOf(String child) {
        return path + '/' + child;
    }

    boolean isEmpty() {
        return present.isEmpty();
    }

    Collection<QueueMember> members() {
        return present.values();
    }

    /** The members that wait, oldest first, and maybe some that wait no more. */
    Collection<QueueMember> waiting() {
        return waiting.values();
    }

    /** The member of this session whose node that is, if it is one of this session's. */
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

    /** The member of this session that holds or is about to, and excludes all others, if one does. */
    Optional<QueueMember> holder() {
        return Optional.ofNullable(holder);
    }

    public void granted(QueueMember member) {
        member.node().ifPresent(name -> waiting.remove(name.text()));
        if (member.isExclusive()) {
            holder = member;
        }
    }

    /**
     * Tells {@code member} when the node ahead goes, if that is one of this session's; says whether it is. Such a node
     * needs no watch: its going is known here, and so is its holder's letting go, before the server hears of it. Nobody
     * else can be granted before both nodes are gone, so that exclusion and order stand (docs/protocol.md,
     * "Hand-over within a session").
     */
    boolean follow(QueueMember member, NodeName ahead) {
        if (!present.containsKey(ahead.text())) {
            return false;
        }
        List<QueueMember> heirs = letGo.get(ahead.text());
        if (heirs != null) {
            heirs.add(member);
            member.released(ahead);
        } else {
            followers.put(ahead.text(), member);
            member.watches(ahead, () -> followers.remove(ahead.text(), member));
        }
        return true;
    }

    /** {@code member} holds and waits no more, whatever becomes of its node. */
    public void ended(QueueMember member) {
        member.forgetOwn();
        if (member.equals(holder)) {
            holder = null;
        }
    }

    /** An exclusive holder lets go: the members of this session that wait for it are next, before the server hears of it. */
    List<QueueMember> letGo(NodeName name) {
        List<QueueMember> heirs = new ArrayList<>(followers.removeAll(name.text()));
        letGo.put(name.text(), heirs);
        heirs.stream().filter(QueueMember::isExclusive).findFirst().ifPresent(next -> holder = next);
        return List.copyOf(heirs);
    }

    /** The members that are granted since the holder with this node let go. */
    List<QueueMember> heirs(NodeName name) {
        return letGo.getOrDefault(name.text(), List.of());
    }

    /** Whether the nodes of all holders of this session that let go are among these, or known to be gone. */
    boolean letsGoOfNoneBut(Set<String> leaving) {
        return leaving.containsAll(letGo.keySet());
    }

    /** A node of this session is known to be gone. */
    public void gone(NodeName name) {
        present.remove(name.text());
        waiting.remove(name.text());
        letGo.remove(name.text());
        followers.removeAll(name.text()).forEach(follower -> follower.gone(name));
        onceGone.run();
    }

    /**
     * The nodes whose owners hold or wait that are not among these. Of a node that is being replaced either is there, unless
     * somebody has deleted it: then the replacement fails.
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
