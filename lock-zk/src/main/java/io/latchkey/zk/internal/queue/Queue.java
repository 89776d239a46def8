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
 * The requests under a path in the order in which they are served. Foreign children are not in it; requests whose
 * number says nothing (the counter's overflow) stand behind all others, since they never hold. On a path that is shared
 * with other clients they stand where these take them to stand: a negative number is before all others there.
 */
public final class Queue {
    private final List<NodeName> requests;
    /** So many have numbers that say something. */
    private final int numbered;

    private final PathData purpose;
    private final Naming naming;
    private final List<String> others;
    /** Of a semaphore: how many permits the requests before each place ask for together. */
    private final long[] permitsBefore;

    private Queue(List<NodeName> requests, int numbered, PathData purpose, Naming naming, List<String> others) {
        this.requests = requests;
        this.numbered = numbered;
        this.purpose = purpose;
        this.naming = naming;
        this.others = others;
        this.permitsBefore = purpose.kind() == Kind.SEMAPHORE ? sums(requests) : new long[0];
    }

    private static long[] sums(List<NodeName> requests) {
        long[] sums = new long[requests.size()];
        for (int place = 1; place < sums.length; place++) {
            sums[place] = sums[place - 1] + requests.get(place - 1).permits();
        }
        return sums;
    }

    /** The queue of a path that is no semaphore. */
    public static Queue of(Collection<String> children) {
        return of(children, PathData.MUTEX);
    }

    /**
     * The queue of a path.
     *
     * @param children the names under the path, in any order
     * @param purpose the path's data at the moment when these were its children
     */
    public static Queue of(Collection<String> children, PathData purpose) {
        return of(children, purpose, Namings.LATCHKEY);
    }

    /**
     * The queue of a path.
     *
     * @param children the names under the path, in any order
     * @param purpose what the path is for
     * @param naming how requests are named there
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

    /** What the path is for, and with what capacity. */
    public PathData purpose() {
        return purpose;
    }

    /** What else the path is used for, as a child tells that is in no queue of this kind; empty if none does. */
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

    /** Where it stands, counted from 0; less if it is not here. */
    private int place(NodeName request) {
        return request.overflowed()
                ? requests.indexOf(request)
                : Collections.binarySearch(requests.subList(0, numbered), request, NodeName.QUEUE_ORDER);
    }

    /** The requests before {@code me}, oldest first. */
    public List<NodeName> before(NodeName me) {
        int place = place(me);
        if (place < 0) {
            throw new IllegalArgumentException(me.text() + " is not in " + this);
        }
        return requests.subList(0, place);
    }

    /** How many permits the requests before {@code me} ask for together, in the queue of a semaphore. */
    public long permitsBefore(NodeName me) {
        return permitsBefore[before(me).size()];
    }

    /** The request right behind {@code me}. */
    public Optional<NodeName> behind(NodeName me) {
        int next = before(me).size() + 1;
        return next < requests.size() ? Optional.of(requests.get(next)) : Optional.empty();
    }

    /** Whether the same requests are among {@code children}, and no others. */
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
