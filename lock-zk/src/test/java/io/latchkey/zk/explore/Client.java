// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.explore;

import io.latchkey.zk.acquire.State;
import io.latchkey.zk.explore.Ask.Data;
import io.latchkey.zk.explore.Ask.Kind;
import io.latchkey.zk.explore.Ask.Want;
import io.latchkey.zk.queue.NodeName;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * All there is of one session, as a value: its requests' machines and what the shell remembers, its two pipes, and its
 * watches at the server.
 *
 * @param session its number
 * @param machines of each request
 * @param granted requests that were granted and whose nodes may be there
 * @param lanes of each path
 * @param places what the members of requests listen to
 * @param watched what the session watches, as far as it knows
 * @param out asked and not taken by the server
 * @param in told and not taken by the session
 * @param armed the watches at the server
 */
record Client(
        int session,
        List<Machine> machines,
        Set<Integer> granted,
        List<Lane> lanes,
        Map<At, Place> places,
        Map<Target, Watched> watched,
        List<Ask> out,
        List<Tell> in,
        Set<Armed> armed) {
    /** A member of a request. */
    record At(int request, int member) {}

    /**
     * What the session knows of a path, and who is there (Lane and QueueReader of the shell).
     *
     * @param since the version that was seen last, whether or not it is still known what it says
     */
    record Lane(
            Optional<Data> data,
            int since,
            boolean listing,
            List<Want> wants,
            Map<NodeName, At> present,
            Map<NodeName, List<At>> followers) {
        static final Lane NEW = new Lane(Optional.empty(), 0, false, List.of(), Map.of(), Map.of());

        Lane data(Optional<Data> other) {
            return new Lane(other, other.map(Data::version).orElse(since), listing, wants, present, followers);
        }

        Lane listing(boolean now) {
            return new Lane(data, since, now, wants, present, followers);
        }

        Lane wants(List<Want> others) {
            return new Lane(data, since, listing, others, present, followers);
        }

        Lane present(Map<NodeName, At> others) {
            return new Lane(data, since, listing, wants, others, followers);
        }

        Lane followers(Map<NodeName, List<At>> others) {
            return new Lane(data, since, listing, wants, present, others);
        }
    }

    /**
     * What one member listens to (Place of the shell).
     *
     * @param created since when those ahead are there, as far as that was seen
     * @param orLead the queue in which it leads, should the one that it follows be older than the path's data
     * @param leading the queue in which it led those that wait
     */
    record Place(
            List<NodeName> ahead,
            Map<NodeName, Integer> created,
            Optional<List<NodeName>> orLead,
            boolean capacity,
            boolean own,
            Optional<List<NodeName>> leading) {
        static final Place NEW = new Place(List.of(), Map.of(), Optional.empty(), false, false, Optional.empty());

        Place ahead(List<NodeName> others) {
            return new Place(others, created, orLead, capacity, own, leading);
        }

        Place created(Map<NodeName, Integer> since) {
            return new Place(ahead, since, orLead, capacity, own, leading);
        }

        Place orLead(Optional<List<NodeName>> seen) {
            return new Place(ahead, created, seen, capacity, own, leading);
        }

        Place capacity(boolean listens) {
            return new Place(ahead, created, orLead, listens, own, leading);
        }

        Place own(boolean listens) {
            return new Place(ahead, created, orLead, capacity, listens, leading);
        }

        Place leading(Optional<List<NodeName>> seen) {
            return new Place(ahead, created, orLead, capacity, own, seen);
        }
    }

    /** A target that members listen to (Watches of the shell). */
    record Watched(List<At> listeners, Set<Kind> armed, int generation) {}

    /** A watch at the server. */
    record Armed(Target target, Kind kind) {}

    /**
     * Whether nothing is on its way to it or from it, nor about to be decided. A holder's release is not on its way:
     * the holder may as well hold on for as long as it likes.
     */
    boolean isQuiet() {
        return (out.isEmpty() || holdsOn())
                && in.isEmpty()
                && machines.stream().noneMatch(machine -> machine.state() == State.CONFIRMING);
    }

    private boolean holdsOn() {
        return !granted.isEmpty() && isOver() && out.stream().allMatch(ask -> ask instanceof Ask.Delete);
    }

    /** Whether it asks next for what it knows, or for what it will ask again before it matters. */
    boolean asksForATrifle(Server server) {
        if (out.isEmpty() || server.budget().resizes() > 0) {
            return false;
        }
        Ask next = out.get(0);
        if (next instanceof Ask.Read read) {
            return read.heldBack().isEmpty() && machines.size() == 1 && armed.isEmpty();
        } else if (next instanceof Ask.Watch watch
                && watch.kind() == Kind.DATA
                && watch.target().node().isEmpty()) {
            int path = watch.target().path();
            return lanes.get(path)
                    .data()
                    .equals(Optional.of(server.trees().get(path).data()));
        }
        return false;
    }

    boolean isOver() {
        return machines.stream().allMatch(machine -> machine.state() == State.ENDED);
    }

    boolean isIn(State state) {
        return machines.stream().anyMatch(machine -> machine.state() == state);
    }
}
