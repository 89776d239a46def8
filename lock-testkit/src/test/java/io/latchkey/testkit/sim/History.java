// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** What the leader has carried out, in order, and what the clients may have come to by its end. */
final class History {
    final List<Event> events;
    /** The nodes that are there. */
    final SortedSet<String> nodes;
    /** What operators did. */
    final int deletions;

    /** The same as each client sees it. */
    private final List<Log> logs;

    final List<Spread> spreads = new ArrayList<>();
    /** The longer ones, by what comes next; and who has come to them. */
    final Map<String, History> next = new LinkedHashMap<>();

    final List<Situation> arrived = new ArrayList<>();
    /** How many of the last events came together. */
    final int added;

    /** @param paths those that each client uses */
    History(List<Set<String>> paths) {
        this(List.of(), paths.stream().map(Log::new).toList(), new TreeSet<>(), 0, 0);
    }

    private History(List<Event> events, List<Log> logs, SortedSet<String> nodes, int deletions, int added) {
        this.events = events;
        this.logs = logs;
        this.nodes = nodes;
        this.deletions = deletions;
        this.added = added;
    }

    int length() {
        return events.size();
    }

    /** The one in which this happens next. */
    History then(int author, List<List<Tree.Effect>> changes) {
        List<Event> more = changes.stream().map(each -> Event.of(author, each)).toList();
        StringBuilder name = new StringBuilder();
        more.forEach(event -> name.append(event.name()).append(';'));
        return next.computeIfAbsent(name.toString(), key -> longer(more));
    }

    private History longer(List<Event> more) {
        List<Event> all = new ArrayList<>(events);
        all.addAll(more);
        TreeSet<String> present = new TreeSet<>(nodes);
        int deleted = deletions;
        for (Event event : more) {
            deleted += event.author() == Event.OPERATOR ? 1 : 0;
            for (Tree.Effect change : event.changes()) {
                if (change instanceof Tree.Effect.Created created) {
                    present.add(created.path());
                } else if (change instanceof Tree.Effect.Deleted) {
                    present.remove(change.path());
                }
            }
        }
        List<Log> longer = logs.stream().map(log -> log.and(more)).toList();
        return new History(List.copyOf(all), longer, present, deleted, more.size());
    }

    /** Who made the last entry. */
    int author() {
        return events.isEmpty() ? Event.OPERATOR : events.get(events.size() - 1).author();
    }

    /** Whether the client has made one. */
    boolean hasHeard(int client) {
        return events.stream().anyMatch(event -> event.author() == client);
    }

    /** What of the last entries concerns these paths. */
    List<Tree.Effect> newsAt(Set<String> paths) {
        List<Tree.Effect> seen = new ArrayList<>();
        for (Event event : events.subList(events.size() - added, events.size())) {
            seen.addAll(event.at(paths));
        }
        return seen;
    }

    /** As the client sees it. */
    Log log(int client) {
        return logs.get(client);
    }

    /** By which entry the node came, counted from 1. */
    int placeOf(String node) {
        for (int i = events.size() - 1; i >= 0; i--) {
            for (Tree.Effect change : events.get(i).changes()) {
                if (change instanceof Tree.Effect.Created && change.path().equals(node)) {
                    return i + 1;
                }
            }
        }
        throw new IllegalStateException("no node " + node);
    }

    /** The client's nodes below the path that are there. */
    List<String> nodesOf(int client, String path) {
        List<String> own = new ArrayList<>();
        for (Event event : events) {
            for (Tree.Effect change : event.changes()) {
                if (event.author() == client
                        && change instanceof Tree.Effect.Created
                        && Tree.parent(change.path()).equals(path)
                        && nodes.contains(change.path())) {
                    own.add(change.path());
                }
            }
        }
        return own;
    }

    /**
     * All of it that counts for what can come: in two histories that have the same everybody can go on in the same
     * ways, and is judged in the same ways.
     */
    Fingerprint fingerprint() {
        Fingerprint print = new Fingerprint();
        print.add(deletions);
        nodes.forEach(print::add);
        for (int i = 0; i < spreads.size(); i++) {
            print.add(hasHeard(i) ? 1 : 0);
            spreads.get(i).addTo(print, logs.get(i), this);
        }
        return print;
    }

    /** How many of the nodes that are there came before, or with it: of those that come later all are newer. */
    int rank(Granted granted) {
        int rank = 0;
        for (String node : nodes) {
            boolean isBeside = Tree.parent(node).equals(granted.member().path());
            rank += isBeside && placeOf(node) <= granted.node() ? 1 : 0;
        }
        return rank;
    }

    /** The faults that it cannot have come to without. */
    int faults() {
        int faults = deletions;
        for (Spread spread : spreads) {
            faults += spread.least().faults;
        }
        return faults;
    }

    /** Of each client a situation with as few faults as can be. */
    List<Situation> least() {
        List<Situation> least = new ArrayList<>();
        spreads.forEach(spread -> least.add(spread.least()));
        return least;
    }
}
