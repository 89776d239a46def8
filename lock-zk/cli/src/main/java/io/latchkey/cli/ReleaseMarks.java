// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.BadPathException;
import io.latchkey.lock.LockServiceUnavailableException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * The begins and ends of requests, by a recursive watch on the lock's path in a session of its own. The release of an
 * exclusive lease changes and deletes its node in one transaction (docs/protocol.md, "Hand-over and the release mark");
 * by any other end the node is only deleted. The token of a request is the zxid of its node's creation.
 */
final class ReleaseMarks implements AutoCloseable {
    /** The ends that are kept until a look takes them. */
    private static final int MOST_ENDS = 10_000;

    private static final int DIGITS = 10;
    private static final Pattern SEQUENTIAL = Pattern.compile(".*\\d{" + DIGITS + "}");
    /** The begin of the name of a node by which the owner of a request listens. */
    private static final String LISTENER = "revoke-";

    private final String path;
    private final ZooKeeper handle;
    /** The tokens of the requests that are there, by their nodes; below 0 if it cannot be read. */
    private final Map<String, Long> tokens = new HashMap<>();
    /** When each of them was created, as far as that was seen here; else the epoch. */
    private final NavigableMap<Long, Instant> created = new TreeMap<>();

    private final Map<String, Long> changes = new HashMap<>();
    private final Map<Long, End> ends = new LinkedHashMap<>();
    /** The last ends, the latest first. */
    private final Deque<End> lastEnds = new ArrayDeque<>();
    /** Until when events may have been missed. */
    private Instant gap = Instant.EPOCH;
    /** Whether the session was disconnected, or has ended. */
    private boolean isInterrupted;

    /**
     * The end of a request.
     *
     * @param released whether the mark of a release was seen
     * @param created when its node was created, as far as that was seen here
     * @param granted when it was granted if it was, as far as that was seen here
     * @param at when its end was seen
     */
    record End(long token, boolean released, Optional<Instant> created, Optional<Instant> granted, Instant at) {}

    /** Without a watch: for {@link #watch}, and for tests. */
    ReleaseMarks(String path, ZooKeeper handle) {
        this.path = path;
        this.handle = handle;
    }

    /** Begins to watch; empty, and complains, if the servers do not offer it or this login may not. */
    static Optional<ReleaseMarks> watch(String path, ConnectionOptions connection) throws InterruptedException {
        String why;
        try {
            ZooKeeper handle = connection.handle();
            ReleaseMarks marks = new ReleaseMarks(path, handle);
            try {
                Watcher watcher = marks::seen;
                handle.addWatch(path, watcher, AddWatchMode.PERSISTENT_RECURSIVE);
                List<String> unused = marks.readPresent();
                return Optional.of(marks);
            } catch (KeeperException | RuntimeException failed) {
                marks.close();
                throw failed;
            }
        } catch (KeeperException.NoAuthException denied) {
            why = "this login may not watch " + path + " and the nodes below it";
        } catch (LockServiceUnavailableException
                | KeeperException.ConnectionLossException
                | KeeperException.SessionExpiredException away) {
            why = "no server answered the request to watch " + path;
        } catch (KeeperException | RuntimeException notOffered) {
            why = "the servers do not offer a watch of the nodes below " + path + " (" + notOffered.getMessage() + ")";
        }
        Terminal.complain(why + ": each end of a holder is 'gone'.");
        return Optional.empty();
    }

    private List<String> readPresent() throws InterruptedException, KeeperException {
        List<String> present;
        try {
            present = handle.getChildren(path, false).stream()
                    .filter(this::isRequest)
                    .sorted(Comparator.comparing(name -> name.substring(name.length() - DIGITS)))
                    .map(name -> path + "/" + name)
                    .toList();
        } catch (KeeperException.NoNodeException none) {
            return List.of();
        }
        for (String node : present) {
            try {
                Stat stat = isKnown(node) ? null : handle.exists(node, false);
                if (stat != null) {
                    born(node, stat.getCzxid(), Instant.EPOCH);
                }
            } catch (KeeperException.NoAuthException unreadable) {
                hidden(node);
            }
        }
        return present;
    }

    private synchronized boolean isKnown(String node) {
        return tokens.containsKey(node);
    }

    /** Of such a node no events come either. */
    private synchronized void hidden(String node) {
        long number = Long.parseLong(node.substring(node.length() - DIGITS));
        Long unused = tokens.putIfAbsent(node, -1 - number);
        gap = gap.equals(Instant.MAX) ? gap : Instant.now();
    }

    private synchronized void born(String node, long token, Instant at) {
        if (token > 0 && tokens.putIfAbsent(node, token) == null) {
            created.put(token, at);
        }
    }

    /** Other nodes are paths below this one, which have no name of a request in any layout, or those of listeners. */
    private boolean isRequest(String name) {
        if (!SEQUENTIAL.matcher(name).matches() || name.startsWith(LISTENER)) {
            return false;
        }
        try {
            ConnectionOptions.checkPath(path + "/" + name);
            return false;
        } catch (BadPathException request) {
            return true;
        }
    }

    /** Whether its session was disconnected, or has ended: it has missed events, or will. Then it is of no more use. */
    synchronized boolean isInterrupted() {
        return isInterrupted;
    }

    synchronized void seen(WatchedEvent event) {
        String node = event.getPath();
        if (event.getType() == EventType.None) {
            boolean isConnected =
                    event.getState() == KeeperState.SyncConnected || event.getState() == KeeperState.SaslAuthenticated;
            isInterrupted |= !isConnected;
            gap = isConnected || event.getState() == KeeperState.Disconnected ? Instant.now() : Instant.MAX;
            return;
        }
        if (node == null
                || !node.startsWith(path + "/")
                || !isRequest(node.substring(path.length() + 1))
                || node.indexOf('/', path.length() + 1) >= 0) {
            return;
        }
        if (event.getType() == EventType.NodeCreated) {
            born(node, event.getZxid(), Instant.now());
        } else if (event.getType() == EventType.NodeDataChanged) {
            changes.put(node, event.getZxid());
        } else if (event.getType() == EventType.NodeDeleted) {
            Long changed = changes.remove(node);
            died(node, changed != null && changed > 0 && changed == event.getZxid());
        }
    }

    private void died(String node, boolean released) {
        Long token = tokens.remove(node);
        if (token == null) {
            gap = gap.equals(Instant.MAX) ? gap : Instant.now();
            return;
        }
        Optional<Instant> granted = granted(token, false);
        Optional<Instant> birth = created(token);
        created.remove(token);
        End end = new End(token, released, birth, granted, Instant.now());
        lastEnds.addFirst(end);
        if (lastEnds.size() > MOST_ENDS) {
            lastEnds.removeLast();
        }
        ends.put(token, end);
        if (ends.size() > MOST_ENDS) {
            ends.remove(ends.keySet().iterator().next());
        }
    }

    /** Returns when the request's node was created, if that was seen. */
    synchronized Optional<Instant> created(long token) {
        End end = ends.get(token);
        return end == null
                ? Optional.ofNullable(created.get(token)).filter(at -> !at.equals(Instant.EPOCH))
                : end.created();
    }

    /**
     * Returns when a request that holds, or held, was granted at the latest: at its creation, or at the last end of a
     * request ahead of it. For an exclusive request that is the time of the grant.
     *
     * @param alone whether no other request can be ahead of it. If one seems to be, its end is not heard of yet
     * @return empty if events may have been missed
     */
    synchronized Optional<Instant> granted(long token, boolean alone) {
        if (alone && created.lowerKey(token) != null) {
            return Optional.empty();
        }
        Optional<Instant> ahead = lastEnds.stream()
                .filter(end -> end.token() < token)
                .map(End::at)
                .findFirst();
        return Stream.concat(created(token).stream(), ahead.stream())
                .max(Comparator.naturalOrder())
                .filter(at -> !at.isBefore(gap));
    }

    /**
     * Reads which requests are there, also those whose data this client may not read, and returns their tokens in the
     * order of the queue; none if that cannot be read. In place of a token that cannot be read it has a number below 0,
     * which is that of no other request.
     */
    List<Long> present() throws InterruptedException {
        try {
            List<String> present = readPresent();
            synchronized (this) {
                return present.stream()
                        .map(tokens::get)
                        .flatMap(token -> Optional.ofNullable(token).stream())
                        .toList();
            }
        } catch (KeeperException notReadable) {
            return List.of();
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
        try {
            handle.close();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
