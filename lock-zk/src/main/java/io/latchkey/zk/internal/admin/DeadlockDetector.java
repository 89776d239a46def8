// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Tag;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A search for requests that wait for each other, over the queues of several paths. It removes every request that can
 * go on, until none can. A holder can, unless a request of its session waits and cannot go on, since the same thread
 * may have made both. A waiter can if the requests before it that cannot go on leave room for it. Each request that is
 * left waits, along others that are left, for itself or for a cycle of others.
 */
public final class DeadlockDetector {
    /** The session of a node that could not be read: it is not known what else that session waits for. */
    public static final long UNKNOWN = 0;

    private final Collection<Line> lines;
    private final Set<QueuedRequest> deadlocked = new HashSet<>();
    private final Map<QueuedRequest, Line> lineOf = new LinkedHashMap<>();

    /**
     * A request in the queue of a path.
     *
     * @param token increases in the order in which requests were made, over all paths
     * @param session the session that made the request
     */
    public record QueuedRequest(LockPath path, NodeName name, long token, long session, boolean holds) {
        /**
         * Returns whether one thread may hold this request and wait at {@code other}, which it asked for later. Two
         * threads of one client often meet at one path, so a request does not count as waiting for one of the same
         * path.
         */
        boolean mayWaitAt(QueuedRequest other) {
            return !other.holds
                    && session == other.session
                    && session != UNKNOWN
                    && token <= other.token
                    && !path.equals(other.path);
        }
    }

    /**
     * A queue.
     *
     * @param requests the requests, in the order of the queue
     * @param capacity the permits of a semaphore; meaningless for other locks
     */
    public record Line(List<QueuedRequest> requests, int capacity) {}

    private DeadlockDetector(Collection<Line> lines) {
        this.lines = lines;
        for (Line line : lines) {
            deadlocked.addAll(line.requests());
            line.requests().forEach(request -> lineOf.put(request, line));
        }
    }

    public static DeadlockDetector of(Collection<Line> lines) {
        DeadlockDetector detector = new DeadlockDetector(lines);
        while (detector.removeUnblocked()) {
            // Requests that waited for the removed ones may be able to go on now.
        }
        return detector;
    }

    /**
     * Removes the requests that can go on, including those of earlier rounds, since the requests before them only
     * become fewer. Returns whether any was removed.
     */
    private boolean removeUnblocked() {
        Map<Long, List<QueuedRequest>> ofSession =
                deadlocked.stream().collect(Collectors.groupingBy(QueuedRequest::session));
        Set<QueuedRequest> go = new HashSet<>();
        for (Line line : lines) {
            RequestsAhead ahead = new RequestsAhead(line.capacity());
            for (QueuedRequest request : line.requests()) {
                boolean stays = request.holds()
                        ? ofSession.getOrDefault(request.session(), List.of()).stream()
                                .anyMatch(request::mayWaitAt)
                        : ahead.blocks(request.name());
                if (stays) {
                    ahead.add(request.name());
                } else {
                    go.add(request);
                }
            }
        }
        return deadlocked.removeAll(go);
    }

    /** The requests before a waiter that cannot go on. */
    private static final class RequestsAhead {
        private final int capacity;
        private boolean anyRequest;
        private boolean writer;
        private long permits;

        RequestsAhead(int capacity) {
            this.capacity = capacity;
        }

        void add(NodeName name) {
            anyRequest = true;
            writer |= name.tag() == Tag.WRITE;
            permits += name.permits();
        }

        boolean blocks(NodeName waiting) {
            return switch (waiting.tag()) {
                case WRITE -> anyRequest;
                case READ -> writer;
                case LEASE -> anyRequest && permits + waiting.permits() > capacity;
            };
        }
    }

    /** Returns the requests that cannot go on. */
    public Set<QueuedRequest> deadlocked() {
        return Set.copyOf(deadlocked);
    }

    /**
     * Returns the cycle that {@code waiting} is part of or waits for: each of its requests waits for the next. {@code
     * waiting} must be deadlocked.
     */
    public List<QueuedRequest> cycleBehind(QueuedRequest waiting) {
        List<QueuedRequest> chain = new ArrayList<>();
        QueuedRequest at = waiting;
        while (!chain.contains(at)) {
            chain.add(at);
            at = next(at).orElseThrow();
        }
        return List.copyOf(chain.subList(chain.indexOf(at), chain.size()));
    }

    /**
     * Returns a deadlocked request for which {@code request} waits. A deadlocked waiter has a deadlocked request before
     * it, so the first of its queue is one.
     */
    private Optional<QueuedRequest> next(QueuedRequest request) {
        if (request.holds()) {
            return lineOf.keySet().stream()
                    .filter(other -> request.mayWaitAt(other) && deadlocked.contains(other))
                    .findFirst();
        }
        boolean onlyWriters = request.name().tag() == Tag.READ;
        return Objects.requireNonNull(lineOf.get(request)).requests().stream()
                .filter(other -> deadlocked.contains(other)
                        && (!onlyWriters || other.name().tag() == Tag.WRITE))
                .findFirst();
    }
}
