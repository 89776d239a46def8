// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.admin;

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
 * The requests that wait for each other, found in the queues of several paths. Whoever can go on is taken away until
 * nobody can: a holder can unless a request of its session waits in vain, since it may be that one's thread that holds;
 * who waits can when those before it that cannot would leave it room. Whoever is left waits, along others that are left,
 * for itself or for a circle of others.
 */
public final class DeadlockDetector {
    /** The session of a node that could not be read: nothing is known of what else it waits for. */
    public static final long UNKNOWN = 0;

    private final Collection<Line> lines;
    private final Set<Seat> stuck = new HashSet<>();
    private final Map<Seat, Line> lineOf = new LinkedHashMap<>();

    /**
     * A request in the queue of a path.
     *
     * @param token grows with the order in which requests were made, over all paths
     * @param session whose it is
     */
    public record Seat(String path, NodeName name, long token, long session, boolean holds) {
        /**
         * Whether the thread that holds this may be the one that waits there: one that holds asks later. Threads of one client
         * that meet at one path are too common to be taken for one that waits for itself.
         */
        boolean mayWaitAt(Seat other) {
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
     * @param seats first come first
     * @param capacity the permits of a semaphore; of no meaning for others
     */
    public record Line(List<Seat> seats, int capacity) {}

    private DeadlockDetector(Collection<Line> lines) {
        this.lines = lines;
        for (Line line : lines) {
            stuck.addAll(line.seats());
            line.seats().forEach(seat -> lineOf.put(seat, line));
        }
    }

    public static DeadlockDetector of(Collection<Line> lines) {
        DeadlockDetector standstill = new DeadlockDetector(lines);
        while (standstill.takeAway()) {
            // Those that waited for the ones taken away may go on now.
        }
        return standstill;
    }

    /**
     * Takes away the requests that can go on, among them all that were taken away before, since those ahead only become
     * fewer. Returns whether any is new.
     */
    private boolean takeAway() {
        Map<Long, List<Seat>> ofSession = stuck.stream().collect(Collectors.groupingBy(Seat::session));
        Set<Seat> go = new HashSet<>();
        for (Line line : lines) {
            Ahead ahead = new Ahead(line.capacity());
            for (Seat seat : line.seats()) {
                boolean stays = seat.holds()
                        ? ofSession.getOrDefault(seat.session(), List.of()).stream()
                                .anyMatch(seat::mayWaitAt)
                        : ahead.blocks(seat.name());
                if (stays) {
                    ahead.add(seat.name());
                } else {
                    go.add(seat);
                }
            }
        }
        return stuck.removeAll(go);
    }

    /** Those before one that cannot go on. */
    private static final class Ahead {
        private final int capacity;
        private boolean anybody;
        private boolean writer;
        private long permits;

        Ahead(int capacity) {
            this.capacity = capacity;
        }

        void add(NodeName name) {
            anybody = true;
            writer |= name.tag() == Tag.WRITE;
            permits += name.permits();
        }

        boolean blocks(NodeName waiting) {
            return switch (waiting.tag()) {
                case WRITE -> anybody;
                case READ -> writer;
                case LEASE -> anybody && permits + waiting.permits() > capacity;
            };
        }
    }

    /** Those that cannot go on. */
    public Set<Seat> stuck() {
        return Set.copyOf(stuck);
    }

    /** The circle that {@code waiting}, which cannot go on, is in or behind: each waits for the next. */
    public List<Seat> circleBehind(Seat waiting) {
        List<Seat> way = new ArrayList<>();
        Seat at = waiting;
        while (!way.contains(at)) {
            way.add(at);
            at = next(at).orElseThrow();
        }
        return List.copyOf(way.subList(way.indexOf(at), way.size()));
    }

    /**
     * A request for which {@code seat} waits and which cannot go on. A waiter that cannot go on has one before it, so the
     * first in its queue is that.
     */
    private Optional<Seat> next(Seat seat) {
        if (seat.holds()) {
            return lineOf.keySet().stream()
                    .filter(other -> seat.mayWaitAt(other) && stuck.contains(other))
                    .findFirst();
        }
        boolean onlyWriters = seat.name().tag() == Tag.READ;
        return Objects.requireNonNull(lineOf.get(seat)).seats().stream()
                .filter(other ->
                        stuck.contains(other) && (!onlyWriters || other.name().tag() == Tag.WRITE))
                .findFirst();
    }
}
