package io.latchkey.testkit.sim;

import io.latchkey.zk.session.ZooPort;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The znodes as one server knows them: what {@link Effect}s have made of an empty tree. */
@SuppressWarnings("ArrayRecordComponent") // Data passes through here; nobody compares these values.
final class Tree {
    static final String ROOT = "/";

    private final Map<String, Node> nodes = new HashMap<>();
    private long zxid;

    /**
     * What one transaction did, in order.
     *
     * @param ended the session that it ended, 0 if none
     */
    record Txn(long zxid, long wallMillis, List<Effect> changes, long ended) {}

    /** One thing that a transaction did. */
    sealed interface Effect {
        /** {@code owner} is the session of an ephemeral node, 0 for others. */
        record Created(String path, byte[] data, long owner) implements Effect {
            @Override
            public String toString() {
                return "+" + path + (owner == 0 ? "" : " of session " + owner);
            }
        }

        record DataSet(String path, byte[] data) implements Effect {
            @Override
            public String toString() {
                return "=" + path;
            }
        }

        record Deleted(String path) implements Effect {
            @Override
            public String toString() {
                return "-" + path;
            }
        }
    }

    private static final class Node {
        final long czxid;
        final long wallMillis;
        final long owner;
        final Set<String> children = new LinkedHashSet<>();
        byte[] data;
        long mzxid;
        long pzxid;
        int version;
        /** Children ever created: the next sequence number. */
        int creates;

        Node(byte[] data, long zxid, long wallMillis, long owner) {
            this.data = data;
            this.czxid = zxid;
            this.mzxid = zxid;
            this.pzxid = zxid;
            this.wallMillis = wallMillis;
            this.owner = owner;
        }
    }

    Tree() {
        nodes.put(ROOT, new Node(new byte[0], 0, 0, 0));
    }

    /** The last transaction that was applied. */
    long zxid() {
        return zxid;
    }

    void apply(Txn txn) {
        for (Effect change : txn.changes()) {
            apply(change, txn);
        }
        zxid = txn.zxid();
    }

    private void apply(Effect change, Txn txn) {
        if (change instanceof Effect.Created created) {
            nodes.put(created.path(), new Node(created.data(), txn.zxid(), txn.wallMillis(), created.owner()));
            Node parent = node(parent(created.path()));
            parent.children.add(name(created.path()));
            parent.creates++;
            parent.pzxid = txn.zxid();
        } else if (change instanceof Effect.DataSet set) {
            Node node = node(set.path());
            node.data = set.data();
            node.mzxid = txn.zxid();
            node.version++;
        } else if (change instanceof Effect.Deleted deleted) {
            nodes.remove(deleted.path());
            Node parent = node(parent(deleted.path()));
            parent.children.remove(name(deleted.path()));
            parent.pzxid = txn.zxid();
        }
    }

    private Node node(String path) {
        Node node = nodes.get(path);
        if (node == null) {
            throw new IllegalStateException("no node " + path);
        }
        return node;
    }

    boolean has(String path) {
        return nodes.containsKey(path);
    }

    /** Whether nothing can be created below it. */
    boolean isEphemeral(String path) {
        return node(path).owner != 0;
    }

    int version(String path) {
        return node(path).version;
    }

    boolean hasChildren(String path) {
        return !node(path).children.isEmpty();
    }

    int nextSequence(String parent) {
        return node(parent).creates;
    }

    /** When its data was last changed; empty if it is not there. */
    Optional<Long> changedAt(String path) {
        return Optional.ofNullable(nodes.get(path)).map(node -> node.mzxid);
    }

    /** When its children were last changed; empty if it is not there. */
    Optional<Long> childrenChangedAt(String path) {
        return Optional.ofNullable(nodes.get(path)).map(node -> node.pzxid);
    }

    Optional<ZooPort.Listing> list(String path) {
        return Optional.ofNullable(nodes.get(path))
                .map(node -> new ZooPort.Listing(List.copyOf(node.children), node.mzxid));
    }

    Optional<ZooPort.NodeData> read(String path) {
        return Optional.ofNullable(nodes.get(path))
                .map(node -> new ZooPort.NodeData(node.data, node.czxid, node.mzxid, node.version, node.wallMillis));
    }

    /** The nodes of a session, oldest first. */
    List<String> ephemeralsOf(long session) {
        List<String> paths = new ArrayList<>();
        nodes.forEach((path, node) -> {
            if (node.owner == session) {
                paths.add(path);
            }
        });
        paths.sort((a, b) -> Long.compare(node(a).czxid, node(b).czxid) != 0
                ? Long.compare(node(a).czxid, node(b).czxid)
                : a.compareTo(b));
        return paths;
    }

    /** Every ephemeral node that is there. */
    List<String> ephemerals() {
        return nodes.entrySet().stream()
                .filter(entry -> entry.getValue().owner != 0)
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }

    /** Every node that is not ephemeral. */
    List<String> paths() {
        return nodes.entrySet().stream()
                .filter(entry -> entry.getValue().owner == 0)
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }

    static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash == 0 ? ROOT : path.substring(0, slash);
    }

    static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
