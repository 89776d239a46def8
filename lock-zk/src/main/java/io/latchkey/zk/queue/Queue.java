package io.latchkey.zk.queue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The requests under a path in the order in which they are served. Foreign children are not in it; requests whose
 * number says nothing (the counter's overflow) stand behind all others, since they never hold.
 */
public final class Queue {
    private final List<NodeName> requests;
    private final Map<NodeName, Integer> places;
    private final PathData purpose;

    private Queue(List<NodeName> requests, PathData purpose) {
        this.requests = requests;
        this.purpose = purpose;
        this.places = new HashMap<>(requests.size() * 2);
        for (NodeName request : requests) {
            places.put(request, places.size());
        }
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
        List<NodeName> ordered = new ArrayList<>(children.size());
        List<NodeName> overflowed = new ArrayList<>(0);
        for (String child : children) {
            NodeName.parse(child).ifPresent(name -> (name.overflowed() ? overflowed : ordered).add(name));
        }
        ordered.sort(NodeName.QUEUE_ORDER);
        ordered.addAll(overflowed);
        return new Queue(List.copyOf(ordered), purpose);
    }

    public List<NodeName> requests() {
        return requests;
    }

    /** What the path is for, and with what capacity. */
    public PathData purpose() {
        return purpose;
    }

    public Optional<NodeName> withId(String id) {
        return requests.stream().filter(name -> name.id().equals(id)).findFirst();
    }

    public boolean contains(NodeName request) {
        return places.containsKey(request);
    }

    /** The requests before {@code me}, oldest first. */
    public List<NodeName> before(NodeName me) {
        Integer place = places.get(me);
        if (place == null) {
            throw new IllegalArgumentException(me.text() + " is not in " + this);
        }
        return requests.subList(0, place);
    }

    /** The request right behind {@code me}. */
    public Optional<NodeName> behind(NodeName me) {
        int next = before(me).size() + 1;
        return next < requests.size() ? Optional.of(requests.get(next)) : Optional.empty();
    }

    /** Whether the same requests are among {@code children}, and no others. */
    public boolean isOf(Collection<String> children) {
        return requests.equals(of(children, purpose).requests);
    }

    @Override
    public String toString() {
        return requests.stream().map(NodeName::text).toList().toString();
    }
}
