// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The requests under a path, in the order in which they are served. Children that are not requests are left out.
 * Requests with an overflowed number are behind all others, since they never hold. On a path that is shared with other
 * libraries, requests have the order that those libraries use: there a negative number is before all others.
 */
public final class Queue {
    private final List<NodeName> requests;
    /** The number of requests whose sequence number has not overflowed. */
    private final int numbered;

    private final PathData purpose;
    private final Naming naming;
    private final List<String> others;
    /** The sum of the permits requested before each position, of meaning for a semaphore. */
    private final long[] permitsBefore;

    private Queue(List<NodeName> requests, int numbered, PathData purpose, Naming naming, List<String> others) {
        this.requests = requests;
        this.numbered = numbered;
        this.purpose = purpose;
        this.naming = naming;
        this.others = others;
        this.permitsBefore = sums(requests);
    }

    private static long[] sums(List<NodeName> requests) {
        long[] sums = new long[requests.size()];
        for (int place = 1; place < sums.length; place++) {
            sums[place] = sums[place - 1] + requests.get(place - 1).permits();
        }
        return sums;
    }

    /** Returns the queue of a path that is not a semaphore. */
    public static Queue of(Collection<String> children) {
        return of(children, PathData.MUTEX);
    }

    /**
     * Returns the queue of a path.
     *
     * @param children the names under the path, in any order
     * @param purpose the path's data at the time when these were its children
     */
    public static Queue of(Collection<String> children, PathData purpose) {
        return of(children, purpose, Namings.LATCHKEY);
    }

    /**
     * Returns the queue of a path.
     *
     * @param children the names under the path, in any order
     * @param purpose the use of the path
     * @param naming the naming of requests there
     */
    public static Queue of(Collection<String> children, PathData purpose, Naming naming) {
        List<NodeName> ordered = new ArrayList<>(children.size());
        List<NodeName> overflowed = new ArrayList<>(0);
        List<String> others = new ArrayList<>(0);
        for (String child : children) {
            Optional<NodeName> name = request(child, purpose, naming);
            if (name.isEmpty()) {
                others.add(child);
            } else {
                boolean behind = name.get().overflowed() && !naming.isShared();
                (behind ? overflowed : ordered).add(name.get());
            }
        }
        ordered.sort(NodeName.QUEUE_ORDER);
        int numbered = ordered.size();
        ordered.addAll(overflowed);
        return new Queue(List.copyOf(ordered), numbered, purpose, naming, List.copyOf(others));
    }

    private static Optional<NodeName> request(String child, PathData purpose, Naming naming) {
        return naming.parse(child).filter(name -> naming.isOf(name, purpose.kind()));
    }

    public List<NodeName> requests() {
        return requests;
    }

    /** Returns the use of the path, with its capacity. */
    public PathData purpose() {
        return purpose;
    }

    /**
     * Returns the other use of the path that a child shows if it is not in a queue of this kind; empty if none does.
     */
    public Optional<OtherUse> otherUse() {
        for (String child : others) {
            Optional<OtherUse> use = naming.otherUse(purpose.kind(), child);
            if (use.isPresent()) {
                return use;
            }
        }
        return Optional.empty();
    }

    public Optional<NodeName> withId(String id) {
        return requests.stream().filter(name -> name.id().equals(id)).findFirst();
    }

    public boolean contains(NodeName request) {
        return place(request) >= 0;
    }

    /** Returns the index of the request, or a negative number if it is not in the queue. */
    private int place(NodeName request) {
        return request.overflowed()
                ? requests.indexOf(request)
                : Collections.binarySearch(requests.subList(0, numbered), request, NodeName.QUEUE_ORDER);
    }

    /** Returns the requests before {@code me}, oldest first. */
    public List<NodeName> before(NodeName me) {
        int place = place(me);
        if (place < 0) {
            throw new IllegalArgumentException(me.text() + " is not in " + this);
        }
        return requests.subList(0, place);
    }

    /** Returns the sum of the permits requested before {@code me}, in the queue of a semaphore. */
    public long permitsBefore(NodeName me) {
        return permitsBefore[before(me).size()];
    }

    /** Returns the successor of {@code me}. */
    public Optional<NodeName> behind(NodeName me) {
        int next = before(me).size() + 1;
        return next < requests.size() ? Optional.of(requests.get(next)) : Optional.empty();
    }

    /** Returns whether {@code children} contains exactly the requests of this queue. */
    public boolean isOf(Collection<String> children) {
        Set<String> mine = new HashSet<>();
        requests.forEach(request -> mine.add(request.text()));
        int found = 0;
        for (String child : children) {
            if (mine.contains(child)) {
                found++;
            } else if (request(child, purpose, naming).isPresent()) {
                return false;
            }
        }
        return found == requests.size();
    }

    @Override
    public String toString() {
        return requests.stream().map(NodeName::text).toList().toString();
    }
}
