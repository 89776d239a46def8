// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.zookeeper.KeeperException.NoNodeException;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.DataNode;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.ServerCnxn;
import org.apache.zookeeper.server.ZooKeeperServer;

/** Reads a server's database from inside, without a request. Nodes that vanish while it reads are left out. */
final class ServerTruth {
    private static final String OWN_NODES = "/zookeeper";

    private final ZooKeeperServer server;
    private final DataTree tree;

    ServerTruth(ZooKeeperServer server) {
        this.server = server;
        this.tree = server.getZKDatabase().getDataTree();
    }

    Set<Long> sessions() {
        return Set.copyOf(server.getZKDatabase().getSessionWithTimeOuts().keySet());
    }

    /** Those that live: the connection of one that has just ended may still be there. */
    Set<Long> connectedSessions() {
        Set<Long> found = new HashSet<>();
        server.getServerCnxnFactory().getConnections().forEach(connection -> found.add(connection.getSessionId()));
        found.retainAll(sessions());
        return found;
    }

    int watchCount() {
        return tree.getWatchCount();
    }

    /**
     * Everything below the path, parents first, in alphabetical order; the path itself and the server's own nodes left
     * out.
     */
    List<ServerNode> nodesUnder(String path) {
        List<ServerNode> found = new ArrayList<>();
        collect(path, found);
        return found;
    }

    private void collect(String parent, List<ServerNode> found) {
        List<String> names;
        try {
            names = new ArrayList<>(tree.getChildren(parent, null, null));
        } catch (NoNodeException gone) {
            return;
        }
        names.sort(Comparator.naturalOrder());
        for (String name : names) {
            String path = parent.endsWith("/") ? parent + name : parent + "/" + name;
            if (!path.equals(OWN_NODES) && add(path, found)) {
                collect(path, found);
            }
        }
    }

    private boolean add(String path, List<ServerNode> found) {
        DataNode node = tree.getNode(path);
        if (node == null) {
            return false;
        }
        Stat stat = new Stat();
        int counter;
        byte[] data;
        synchronized (node) {
            node.copyStat(stat);
            counter = node.stat.getCversion();
            data = node.getData();
        }
        ByteBuffer content = data == null ? ByteBuffer.allocate(0) : ByteBuffer.wrap(data);
        found.add(new ServerNode(path, content, stat.getEphemeralOwner(), stat.getCzxid(), stat.getMzxid(), counter));
        return true;
    }

    /**
     * Every watch. The server lists data watches only, so child watches are found by asking for each node and
     * connection: none can be on a path without a node.
     */
    List<ServerNode.Watch> watches() {
        Iterable<ServerCnxn> connections = server.getServerCnxnFactory().getConnections();
        List<ServerNode.Watch> found = new ArrayList<>();
        for (Map.Entry<String, Set<Long>> entry :
                tree.getWatchesByPath().toMap().entrySet()) {
            for (long session : entry.getValue()) {
                found.add(new ServerNode.Watch(entry.getKey(), ServerNode.Watch.Kind.DATA, session));
            }
        }
        addChildWatches("/", connections, found);
        addChildWatches(OWN_NODES, connections, found);
        for (ServerNode node : nodesUnder("/")) {
            addChildWatches(node.path(), connections, found);
        }
        return found;
    }

    private void addChildWatches(String path, Iterable<ServerCnxn> connections, List<ServerNode.Watch> found) {
        for (ServerCnxn connection : connections) {
            if (tree.containsWatcher(path, WatcherType.Children, connection)) {
                found.add(new ServerNode.Watch(path, ServerNode.Watch.Kind.CHILDREN, connection.getSessionId()));
            }
        }
    }

    /** Raises the counter of a parent's children; see {@link EmbeddedZooKeeper#setChildCounter}. */
    void raiseChildCounter(String path, int counter) {
        DataNode node = tree.getNode(path);
        if (node == null) {
            throw new IllegalArgumentException("no node " + path);
        }
        int now;
        synchronized (node) {
            now = node.stat.getCversion();
        }
        if (counter < now) {
            throw new IllegalArgumentException(
                    "the counter of " + path + " stands at " + now + " and cannot go back to " + counter);
        }
        try {
            tree.setCversionPzxid(path, counter, tree.lastProcessedZxid);
        } catch (NoNodeException e) {
            throw new IllegalArgumentException("no node " + path, e);
        }
    }
}
