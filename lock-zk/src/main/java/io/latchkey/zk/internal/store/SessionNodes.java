// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import com.google.common.base.Utf8;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.zookeeper.ZooKeeper;

/**
 * The ledger of the ephemeral nodes that one client may have in one ZooKeeper session, and of the bytes of their paths
 * in the transaction by which the servers end that session (docs/protocol.md, "The end of a session with many nodes").
 *
 * <p>It is never below the truth. A node counts before its creation is sent. It counts until an answer says that it was
 * not created, or is gone. A creation without an answer counts until a list shows its node, whose deletion is confirmed
 * later, or until a list does that was sent behind a later committed write and has no such node: the barrier of a new
 * connection and the list behind it. If it appears after all, it counts again. One of a given name may have been sent
 * several times, so only a list behind such a write settles it. A node that another client has deleted counts until an
 * answer or an event shows it.
 *
 * <p>{@link CountedStore} feeds it with requests and answers; it knows nothing of the locks. Thread-safe.
 */
public final class SessionNodes {
    /** An allowance for the chroot of a borrowed handle, in bytes, until an answer of the servers has shown it. */
    public static final int UNKNOWN_CHROOT = 100;

    /** From this number of nodes under a path on, a list of it is searched by hash. */
    private static final int FEW = 4;

    private final SessionBytes bytes;
    /** The nodes by the path above them, and by their name there, or by its known beginning. */
    private final Map<String, Map<String, CountedNode>> byParent = new HashMap<>();
    /** Counts requests and answers. */
    private long now;
    /** When the last committed write that was answered had been sent. */
    private long proved;

    /**
     * A creation that a transaction asks for.
     *
     * @param path the path, or the beginning of it if the server adds a number
     */
    record Creation(String path, boolean sequential) {}

    /** A transaction that was sent, with all that it creates and deletes, and the time. */
    record SentTransaction(List<CountedNode> created, List<String> deleted, long at) {}

    /** A read that was sent, and the last committed write that had been answered by then. */
    record Look(long at, long proved) {}

    private SessionNodes(SessionBytes bytes) {
        this.bytes = bytes;
    }

    /** Returns the ledger of a new session, of a handle with this many bytes of chroot. */
    public static SessionNodes ofNewSession(int chroot) {
        return new SessionNodes(SessionBytes.ofNewSession(chroot));
    }

    /** Returns the ledger of one client of a borrowed handle, whose sum all clients of the handle share. */
    static SessionNodes ofBorrowed(ZooKeeper handle) {
        return new SessionNodes(SessionBytes.ofBorrowed(handle));
    }

    // ---- the contents

    /**
     * Returns the bytes that the paths of the session's nodes need together, with those of other clients of this
     * process that have the session.
     */
    public long sum() {
        return bytes.sum();
    }

    /** Returns the paths of the client's nodes that exist, as far as it knows. */
    public synchronized List<String> known() {
        return paths(node -> node.there);
    }

    /**
     * Returns the creations whose nodes may exist or appear, though no answer has shown them: the path of a node, or
     * its beginning if the server adds a number to it.
     */
    public synchronized List<String> open() {
        return paths(node -> !node.there && (node.late || node.mayExist()));
    }

    private List<String> paths(Predicate<CountedNode> which) {
        List<String> paths = new ArrayList<>();
        for (Map<String, CountedNode> siblings : byParent.values()) {
            for (CountedNode node : siblings.values()) {
                if (which.test(node)) {
                    paths.add(node.path());
                }
            }
        }
        return paths;
    }

    /** Returns whether sequential nodes whose paths begin like this would keep the sum within {@code most}. */
    boolean hasRoomFor(List<String> beginnings, long most) {
        long more = 0;
        for (String beginning : beginnings) {
            more += bytes.of(Utf8.encodedLength(beginning) + CountedNode.SUFFIX);
        }
        return sum() + more <= most;
    }

    // ---- transactions

    /**
     * Takes down a transaction that is about to be sent. Empty if the sum would be more than {@code most} when the
     * transaction is applied.
     */
    synchronized Optional<SentTransaction> sending(List<Creation> creations, List<String> deletions, long most) {
        SentTransaction sent = new SentTransaction(new ArrayList<>(creations.size()), deletions, ++now);
        long leaving = 0;
        for (String path : deletions) {
            leaving += find(path)
                    .filter(node -> node.counts)
                    .map(node -> bytes.of(node.bytes()))
                    .orElse(0L);
        }
        long more = 0;
        int added = 0;
        for (Creation creation : creations) {
            CountedNode node = nodeOf(creation);
            sent.created.add(node);
            if (!node.counts) {
                more += node.bytes();
                added++;
            }
        }
        if (!bytes.add(added, more, leaving, most)) {
            return Optional.empty();
        }
        for (CountedNode node : sent.created) {
            node.counts = true;
            node.open++;
            node.since = sent.at;
            put(node);
        }
        return Optional.of(sent);
    }

    /** Takes down that a transaction was applied, and the names of all nodes that it created, in order. */
    synchronized void applied(SentTransaction sent, List<String> names) {
        committed(sent);
        for (int i = 0; i < sent.created.size(); i++) {
            CountedNode node = sent.created.get(i);
            node.open--;
            shown(node, node.sequential ? names.get(i) : node.name, sent.at, sent.at);
        }
        forgetDeleted(sent);
    }

    /** Takes down that a transaction was committed and changed nothing. */
    synchronized void failed(SentTransaction sent) {
        committed(sent);
        settled(sent, false);
    }

    /** Takes down that the server refused a transaction, or that it was not sent. */
    synchronized void refused(SentTransaction sent) {
        settled(sent, false);
    }

    /** Takes down that the answer to a transaction was lost. */
    synchronized void lost(SentTransaction sent) {
        settled(sent, true);
    }

    /**
     * Takes down that a transaction failed as one of its nodes exists. If that is one of this session, the same
     * transaction was applied before, as a whole.
     */
    synchronized void existed(SentTransaction sent, int creation) {
        committed(sent);
        CountedNode node = sent.created.get(creation);
        boolean own = node.lost || node.there;
        settled(sent, false);
        if (own) {
            shown(node, node.name, sent.at, sent.at);
            forgetDeleted(sent);
        }
    }

    private void committed(SentTransaction sent) {
        now++;
        proved = Math.max(proved, sent.at);
    }

    private void settled(SentTransaction sent, boolean lost) {
        now++;
        for (CountedNode node : sent.created) {
            node.open--;
            if (lost) {
                node.lost = true;
                node.lostAt = now;
            }
            recount(node);
        }
    }

    private void forgetDeleted(SentTransaction sent) {
        for (String path : sent.deleted) {
            find(path).ifPresent(node -> {
                node.there = false;
                node.lost = false;
                node.late = false;
                recount(node);
            });
        }
    }

    // ---- reads and events

    /** Takes down a read that is about to be sent. */
    synchronized Look looking() {
        return new Look(++now, proved);
    }

    /** Takes down that the node did not exist, by the answer to a read. */
    synchronized void gone(Look by, String path) {
        find(path).ifPresent(node -> absent(node, by));
    }

    /** Takes down that the node did not exist, by the answer to a committed transaction. */
    void gone(SentTransaction by, String path) {
        gone(new Look(by.at, by.at), path);
    }

    /**
     * Takes down that the node was deleted, by an event. Events come before any answer that shows a later creation, so
     * this is called where they come, before that answer is delivered.
     */
    public synchronized void deleted(String path) {
        find(path).filter(node -> node.there).ifPresent(node -> {
            node.there = false;
            recount(node);
        });
    }

    /** Takes down the children of a path; none if it does not exist. */
    synchronized void listed(Look by, String parent, Collection<String> children) {
        Map<String, CountedNode> siblings = byParent.get(parent);
        if (siblings == null) {
            return;
        }
        List<CountedNode> nodes = List.copyOf(siblings.values());
        Collection<String> shown = nodes.size() > FEW ? new HashSet<>(children) : children;
        boolean lookedFor = nodes.stream().anyMatch(node -> node.sequential && node.open == 0);
        Map<String, String> byBeginning = lookedFor ? CountedNode.byBeginning(children) : Map.of();
        for (CountedNode node : nodes) {
            String name = node.sequential ? byBeginning.getOrDefault(node.name, "") : node.name;
            if (node.sequential ? name.isEmpty() : !shown.contains(name)) {
                absent(node, by);
            } else if (node.open == 0) {
                shown(node, name, by.at, by.proved);
            }
        }
    }

    /** Returns whether the length of the handle's chroot is known. */
    boolean chrootKnown() {
        return bytes.chrootKnown();
    }

    /**
     * Takes the length of the chroot from a created node.
     *
     * @param path its path, or the beginning of it, as the handle has it
     * @param atServers its path as the servers have it
     */
    void created(String path, String atServers) {
        String whole = CountedNode.parentOf(atServers);
        String visible = CountedNode.parentOf(path);
        if (whole.endsWith(visible)) {
            bytes.chrootIs(Utf8.encodedLength(whole.substring(0, whole.length() - visible.length())));
        }
    }

    // ---- its nodes

    /** Returns the node of a creation: that of an earlier creation of the same path, or a new one. */
    private CountedNode nodeOf(Creation creation) {
        CountedNode node = new CountedNode(creation.path(), creation.sequential());
        CountedNode known = byParent.getOrDefault(node.parent, Map.of()).get(node.name);
        return known != null && known.sequential == node.sequential ? known : node;
    }

    /** Returns the node of this path, also one of which only the beginning is known. */
    private Optional<CountedNode> find(String path) {
        Map<String, CountedNode> siblings = byParent.get(CountedNode.parentOf(path));
        if (siblings == null) {
            return Optional.empty();
        }
        String name = CountedNode.nameOf(path);
        CountedNode node = siblings.get(name);
        if (node == null) {
            for (String beginning : CountedNode.byBeginning(Set.of(name)).keySet()) {
                node = siblings.getOrDefault(beginning, node);
            }
        }
        return Optional.ofNullable(node);
    }

    /**
     * Takes down that the node exists, under this name. A lost creation that may still be applied does so if another
     * client deletes the node before, unless the server adds a number: then that creation is the one that is shown.
     */
    private void shown(CountedNode node, String name, long since, long proved) {
        node.lost &= !node.sequential && node.lostAt >= proved;
        if (!node.name.equals(name)) {
            remove(node);
            int before = node.bytes();
            node.name = name;
            node.sequential = false;
            bytes.change(0, node.counts ? node.bytes() - before : 0);
        }
        node.there = true;
        node.late = false;
        node.since = Math.max(node.since, since);
        put(node);
        recount(node);
    }

    private void absent(CountedNode node, Look by) {
        if (node.there && node.since < by.at) {
            node.there = false;
        }
        if (node.lost && node.lostAt < by.proved) {
            node.lost = false;
            node.late = node.sequential;
        }
        recount(node);
    }

    /** Counts the node as long as it may exist, and forgets it when it cannot appear any more. */
    private void recount(CountedNode node) {
        if (node.counts != node.mayExist()) {
            node.counts = node.mayExist();
            bytes.change(node.counts ? 1 : -1, node.counts ? node.bytes() : -node.bytes());
        }
        if (!node.counts && !node.late) {
            remove(node);
        }
    }

    private void put(CountedNode node) {
        byParent.computeIfAbsent(node.parent, first -> new HashMap<>(2)).put(node.name, node);
    }

    private void remove(CountedNode node) {
        Map<String, CountedNode> siblings = byParent.get(node.parent);
        if (siblings != null && siblings.remove(node.name, node) && siblings.isEmpty()) {
            byParent.remove(node.parent);
        }
    }
}
