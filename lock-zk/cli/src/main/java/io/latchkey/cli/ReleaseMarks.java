// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * The ends of requests, by a recursive watch on the lock's path in a session of its own. The release of an exclusive
 * lease changes and deletes its node in one transaction (docs/protocol.md, "Hand-over and the release mark"); by any
 * other end the node is only deleted. The token of a request is the zxid of its node's creation.
 */
final class ReleaseMarks implements AutoCloseable {
    /** The ends that are kept until a look takes them. */
    private static final int MOST_ENDS = 10_000;

    private final String path;
    private final ZooKeeper handle;
    private final Map<String, Birth> births = new HashMap<>();
    private final Map<String, Long> changes = new HashMap<>();
    private final Map<Long, End> ends = new LinkedHashMap<>();

    private record Birth(long token, Instant at) {}

    /**
     * The end of a request.
     *
     * @param released whether the mark of a release was seen
     * @param created when its node was created, as far as that was seen here
     * @param at when its end was seen
     */
    record End(long token, boolean released, Optional<Instant> created, Instant at) {}

    private ReleaseMarks(String path, ZooKeeper handle) {
        this.path = path;
        this.handle = handle;
    }

    /** Begins to watch; empty if the servers do not offer it, or this client may not. */
    static Optional<ReleaseMarks> watch(String path, ZooKeeper handle) throws InterruptedException {
        ReleaseMarks marks = new ReleaseMarks(path, handle);
        try {
            Watcher watcher = marks::seen;
            handle.addWatch(path, watcher, AddWatchMode.PERSISTENT_RECURSIVE);
            marks.readPresent();
            return Optional.of(marks);
        } catch (KeeperException | RuntimeException notOffered) {
            close(handle);
            return Optional.empty();
        }
    }

    private void readPresent() throws InterruptedException, KeeperException {
        List<String> present;
        try {
            present = handle.getChildren(path, false);
        } catch (KeeperException.NoNodeException none) {
            return;
        }
        for (String node : present) {
            Stat stat = handle.exists(path + "/" + node, false);
            if (stat != null) {
                synchronized (this) {
                    births.putIfAbsent(path + "/" + node, new Birth(stat.getCzxid(), Instant.EPOCH));
                }
            }
        }
    }

    private synchronized void seen(WatchedEvent event) {
        String node = event.getPath();
        if (node == null || !node.startsWith(path + "/") || node.indexOf('/', path.length() + 1) >= 0) {
            return;
        }
        if (event.getType() == EventType.NodeCreated) {
            births.put(node, new Birth(event.getZxid(), Instant.now()));
        } else if (event.getType() == EventType.NodeDataChanged) {
            changes.put(node, event.getZxid());
        } else if (event.getType() == EventType.NodeDeleted) {
            Birth birth = births.remove(node);
            Long changed = changes.remove(node);
            if (birth != null && birth.token() > 0) {
                boolean released = changed != null && changed > 0 && changed == event.getZxid();
                Optional<Instant> created =
                        birth.at().equals(Instant.EPOCH) ? Optional.empty() : Optional.of(birth.at());
                ends.put(birth.token(), new End(birth.token(), released, created, Instant.now()));
                if (ends.size() > MOST_ENDS) {
                    ends.remove(ends.keySet().iterator().next());
                }
            }
        }
    }

    /** Takes the end of a request, if it was seen. */
    synchronized Optional<End> take(long token) {
        return Optional.ofNullable(ends.remove(token));
    }

    /** Takes all ends that were seen before this time, of requests other than these. */
    synchronized List<End> takeBefore(Instant time, Set<Long> others) {
        List<End> old = ends.values().stream()
                .filter(end -> end.at().isBefore(time) && !others.contains(end.token()))
                .toList();
        old.forEach(end -> ends.remove(end.token()));
        return old;
    }

    @Override
    public void close() {
        close(handle);
    }

    private static void close(ZooKeeper handle) {
        try {
            handle.close();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
