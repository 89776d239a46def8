// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ServerNode;
import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.PathData;
import io.latchkey.zk.internal.queue.Queue;
import io.latchkey.zk.internal.recipe.Recipe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * Polls the server for the requests at the head of each queue, and measures how long a request that could hold waits
 * for its grant. This distinguishes a slow lock from one that waits for sessions that have not expired yet.
 *
 * <p>Clients are expected to make one request at a time: all nodes of a session are of one request.
 */
final class GrantDelays extends Thread {
    /** What a path waits for. Of several reasons the first counts. */
    enum Head {
        /** A session that was struck: its node goes when the server ends it. */
        STRUCK_SESSION,
        /** A session that expired without a fault, because its client got too little processor time. */
        LOST_SESSION,
        /** A request that could hold and has not been granted. */
        WAKE_UP,
        /** A granted request. */
        HOLDER,
        /** No request. */
        EMPTY
    }

    /** The state of a session's client. */
    interface Clients {
        /** Whether a fault has been struck at the session. */
        boolean isStruck(long session);

        /** Whether no client has the session any more. */
        boolean isLost(long session);

        /** Whether the session's client waits for a grant. */
        boolean waits(long session);
    }

    private static final Duration PAUSE = Duration.ofMillis(10);

    private final EmbeddedZooKeeper server;
    private final String base;
    private final Clients clients;
    private final Map<Head, Long> looks = new EnumMap<>(Head.class);
    private final Map<Head, Long> looksOfRound = new ConcurrentHashMap<>();
    private final Map<Long, Long> waitingSince = new HashMap<>();
    private final List<Duration> waits = new ArrayList<>();
    private volatile boolean over;

    GrantDelays(EmbeddedZooKeeper server, String base, Clients clients) {
        super("wake-ups");
        this.server = server;
        this.base = base;
        this.clients = clients;
        setDaemon(true);
    }

    @Override
    public void run() {
        while (!over) {
            look(new Picture());
            RandomLocks.pause((int) PAUSE.toMillis());
        }
    }

    /** Ends the looking. */
    void end() throws InterruptedException {
        over = true;
        join();
    }

    /** Returns the longest observed wait of a request that could hold. Call it after the end. */
    Duration longest() {
        return waits.stream().max(Duration::compareTo).orElse(Duration.ZERO);
    }

    /** Shares of what the paths waited for, and how long the wake-ups took. Ask after the end. */
    @Override
    public String toString() {
        long slow = waits.stream()
                .filter(wait -> wait.compareTo(Duration.ofMillis(100)) > 0)
                .count();
        return heads(looks) + ", wake-ups seen: " + waits.size() + ", longer than 100 ms: " + slow + ", longest "
                + longest().toMillis() + " ms";
    }

    /** From now on it is another round. */
    void startRound() {
        looksOfRound.clear();
    }

    /** For which share of the present round the paths have waited for sessions that were struck. */
    double struckOfRound() {
        Map<Head, Long> counts = new TreeMap<>(looksOfRound);
        long all = counts.values().stream().mapToLong(Long::longValue).sum();
        return all == 0 ? 0 : (double) counts.getOrDefault(Head.STRUCK_SESSION, 0L) / all;
    }

    /** Shares of what the paths have waited for in the present round. */
    String ofRound() {
        return heads(new TreeMap<>(looksOfRound));
    }

    private static String heads(Map<Head, Long> counts) {
        long all = counts.values().stream().mapToLong(Long::longValue).sum();
        return counts.entrySet().stream()
                .map(head -> String.format("%s %.1f %%", head.getKey(), 100.0 * head.getValue() / all))
                .collect(Collectors.joining(", ", "at the head of the paths: ", ""));
    }

    private void look(Picture now) {
        for (String path : now.queues.keySet()) {
            Head head = now.head(path, new HashSet<>());
            looks.merge(head, 1L, Long::sum);
            looksOfRound.merge(head, 1L, Long::sum);
        }
        long nanos = System.nanoTime();
        Set<Long> waiting = now.waiting();
        waiting.forEach(session -> waitingSince.putIfAbsent(session, nanos));
        waitingSince.entrySet().removeIf(entry -> {
            boolean told = !waiting.contains(entry.getKey());
            if (told) {
                waits.add(Duration.ofNanos(nanos - entry.getValue()));
            }
            return told;
        });
    }

    /** The server's nodes at one moment. */
    private final class Picture {
        private final Map<String, Queue> queues = new HashMap<>();
        private final Map<Long, List<ServerNode>> bySession = new HashMap<>();

        Picture() {
            Map<String, PathData> purposes = new HashMap<>();
            Map<String, List<String>> names = new HashMap<>();
            for (ServerNode node : server.nodesUnder(base)) {
                if (node.isEphemeral()) {
                    names.computeIfAbsent(parent(node), path -> new ArrayList<>())
                            .add(node.name());
                    bySession
                            .computeIfAbsent(node.session(), session -> new ArrayList<>())
                            .add(node);
                } else {
                    PathData.parse(node.data()).ifPresent(purpose -> {
                        purposes.put(node.path(), purpose);
                        names.computeIfAbsent(node.path(), path -> new ArrayList<>());
                    });
                }
            }
            // A path's own node comes before its children: a path without one was deleted in between.
            purposes.forEach((path, purpose) -> queues.put(path, Queue.of(names.get(path), purpose)));
        }

        private boolean mayHold(ServerNode node) {
            NodeName name = NodeName.parse(node.name()).orElseThrow();
            Queue queue = queues.get(parent(node));
            return queue != null && Recipe.ruleFor(name.tag()).decide(queue, name) instanceof Decision.Hold;
        }

        private boolean mayHold(long session) {
            return bySession.get(session).stream().allMatch(this::mayHold);
        }

        Set<Long> waiting() {
            Set<Long> waiting = new HashSet<>();
            for (long session : bySession.keySet()) {
                boolean ending = clients.isStruck(session) || clients.isLost(session);
                if (!ending && clients.waits(session) && mayHold(session)) {
                    waiting.add(session);
                }
            }
            return waiting;
        }

        /** Through multi-locks, which wait at the head of one path for another, to what they wait for in the end. */
        Head head(String path, Set<String> seen) {
            Head first = Head.EMPTY;
            if (!seen.add(path)) {
                return first;
            }
            for (List<ServerNode> nodes : bySession.values()) {
                for (ServerNode node : nodes) {
                    if (parent(node).equals(path) && mayHold(node)) {
                        Head head = head(node.session(), nodes, seen);
                        first = head.compareTo(first) < 0 ? head : first;
                    }
                }
            }
            return first;
        }

        private Head head(long session, List<ServerNode> nodes, Set<String> seen) {
            if (clients.isStruck(session)) {
                return Head.STRUCK_SESSION;
            }
            if (clients.isLost(session)) {
                return Head.LOST_SESSION;
            }
            if (!mayHold(session)) {
                return nodes.stream()
                        .filter(node -> !mayHold(node))
                        .map(node -> head(parent(node), seen))
                        .min(Head::compareTo)
                        .orElse(Head.EMPTY);
            }
            return clients.waits(session) ? Head.WAKE_UP : Head.HOLDER;
        }
    }

    private static String parent(ServerNode node) {
        return node.path().substring(0, node.path().lastIndexOf('/'));
    }
}
