// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.store.ZnodeStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The znodes as one server knows them: the result of applying {@link Effect}s to an empty tree. */
@SuppressWarnings("ArrayRecordComponent") // these records are never compared
final class Tree {
    static final String ROOT = "/";
    /** The owner of a persistent node. */
    static final long NO_OWNER = 0;
    /**
     * The owner of a container, which the leader deletes once it has had children and is empty; the same value as in
     * ZooKeeper.
     */
    static final long CONTAINER = Long.MIN_VALUE;

    private static final byte[] EMPTY = new byte[0];

    final Map<String, Node> nodes = new HashMap<>();
    private long zxid;

    /**
     * What one transaction did, in order.
     *
     * @param ended the session that it ended, 0 if none
     */
    record Txn(long zxid, long wallMillis, List<Effect> changes, long ended) {}

    /** One thing that a transaction did. */
    sealed interface Effect {
        String path();

        /** {@code owner} is the session of an ephemeral node, {@link #CONTAINER} or {@link #NO_OWNER}. */
        record Created(String path, String parent, String name, byte[] data, long owner) implements Effect {
            static Created of(String path, byte[] data, long owner) {
                return new Created(path, Tree.parent(path), Tree.name(path), data, owner);
            }

            @Override
            public String toString() {
                return "+" + path + (owner <= 0 ? "" : " of session " + owner);
            }
        }

        record DataSet(String path, byte[] data) implements Effect {
            @Override
            public String toString() {
                return "=" + path;
            }
        }

        record Deleted(String path, String parent, String name) implements Effect {
            static Deleted of(String path) {
                return new Deleted(path, Tree.parent(path), Tree.name(path));
            }

            @Override
            public String toString() {
                return "-" + path;
            }
        }
    }

    /** One node. */
    static final class Node {
        final long czxid;
        final long wallMillis;
        final long owner;
        byte[] data;
        long mzxid;
        long pzxid;
        int version;
        /** Children ever created, or what an operator made of that number: the next sequence number. */
        int creates;
        /** Since never more than a few are there, they are kept in the order of creation. Most nodes never have any. */
        private Set<String> children = Set.of();

        private @Nullable List<String> listed;

        Node(byte[] data, long zxid, long wallMillis, long owner) {
            this.data = data;
            this.czxid = zxid;
            this.mzxid = zxid;
            this.pzxid = zxid;
            this.wallMillis = wallMillis;
            this.owner = owner;
        }

        boolean isEphemeral() {
            return owner > 0;
        }

        List<String> children() {
            List<String> known = listed;
            if (known == null) {
                known = List.copyOf(children);
                listed = known;
            }
            return known;
        }

        private void add(String child, long by) {
            if (!(children instanceof LinkedHashSet)) {
                children = new LinkedHashSet<>(children);
            }
            children.add(child);
            listed = null;
            creates++;
            pzxid = by;
        }

        private void remove(String child, long by) {
            children.remove(child);
            listed = null;
            pzxid = by;
        }

        /** Whether nothing happened to one that did not happen to the other. */
        boolean isAsOldAs(Node other) {
            return czxid == other.czxid && mzxid == other.mzxid && pzxid == other.pzxid;
        }

        ZnodeStore.Listing listing() {
            return new ZnodeStore.Listing(children(), mzxid);
        }

        ZnodeStore.NodeData read() {
            return new ZnodeStore.NodeData(data, czxid, mzxid, version, wallMillis, children.size(), owner);
        }
    }

    Tree() {
        nodes.put(ROOT, new Node(EMPTY, 0, 0, NO_OWNER));
    }

    /** The last transaction that was applied. */
    long zxid() {
        return zxid;
    }

    void apply(Txn txn) {
        List<Effect> changes = txn.changes();
        for (int i = 0; i < changes.size(); i++) {
            apply(changes.get(i), txn);
        }
        zxid = txn.zxid();
    }

    private void apply(Effect change, Txn txn) {
        if (change instanceof Effect.Created created) {
            nodes.put(created.path(), new Node(created.data(), txn.zxid(), txn.wallMillis(), created.owner()));
            get(created.parent()).add(created.name(), txn.zxid());
        } else if (change instanceof Effect.DataSet set) {
            Node node = get(set.path());
            node.data = set.data();
            node.mzxid = txn.zxid();
            node.version++;
        } else if (change instanceof Effect.Deleted deleted) {
            nodes.remove(deleted.path());
            get(deleted.parent()).remove(deleted.name(), txn.zxid());
        }
    }

    boolean has(String path) {
        return nodes.containsKey(path);
    }

    @Nullable
    Node find(String path) {
        return nodes.get(path);
    }

    /** The node, which must be there. */
    Node get(String path) {
        Node node = nodes.get(path);
        if (node == null) {
            throw new IllegalStateException("no node " + path);
        }
        return node;
    }

    void forEach(BiConsumer<String, Node> visitor) {
        nodes.forEach(visitor);
    }

    /** The nodes of a session, oldest first. */
    List<String> ephemeralsOf(long session) {
        List<String> paths = new ArrayList<>(4);
        for (Map.Entry<String, Node> entry : nodes.entrySet()) {
            if (entry.getValue().owner == session) {
                paths.add(entry.getKey());
            }
        }
        if (paths.size() > 1) {
            paths.sort((a, b) -> {
                int byAge = Long.compare(get(a).czxid, get(b).czxid);
                return byAge != 0 ? byAge : a.compareTo(b);
            });
        }
        return paths;
    }

    static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash == 0 ? ROOT : path.substring(0, slash);
    }

    static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
