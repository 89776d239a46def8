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
    private final int capacity;

    private Queue(List<NodeName> requests, int capacity) {
        this.requests = requests;
        this.capacity = capacity;
        this.places = new HashMap<>(requests.size() * 2);
        for (NodeName request : requests) {
            places.put(request, places.size());
        }
    }

    /** The queue of a path that is no semaphore. */
    public static Queue of(Collection<String> children) {
        return of(children, 1);
    }

    /**
     * The queue of a path.
     *
     * @param children the names under the path, in any order
     * @param capacity the path's capacity at the moment when these were its children
     */
    public static Queue of(Collection<String> children, int capacity) {
        List<NodeName> ordered = new ArrayList<>(children.size());
        List<NodeName> overflowed = new ArrayList<>(0);
        for (String child : children) {
            NodeName.parse(child).ifPresent(name -> (name.overflowed() ? overflowed : ordered).add(name));
        }
        ordered.sort(NodeName.QUEUE_ORDER);
        ordered.addAll(overflowed);
        return new Queue(List.copyOf(ordered), capacity);
    }

    public List<NodeName> requests() {
        return requests;
    }

    /** The permits that can be held at a time. */
    public int capacity() {
        return capacity;
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

    @Override
    public String toString() {
        return requests.stream().map(NodeName::text).toList().toString();
    }
}
