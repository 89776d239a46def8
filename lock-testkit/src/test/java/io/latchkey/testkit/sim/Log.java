// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A history as one client sees it, whose entries at other paths are nothing to it. */
final class Log {
    private final Set<String> paths;
    private final List<Entry> entries;

    /** One entry; nothing is seen of it if there are no changes. */
    private record Entry(List<Tree.Effect> changes, long high, long low) {
        static Entry of(Event event, Set<String> paths) {
            Fingerprint print = new Fingerprint();
            event.addTo(print, paths);
            return new Entry(event.at(paths), print.high(), print.low());
        }

        boolean isSeen() {
            return !changes.isEmpty();
        }
    }

    /** An empty one. */
    Log(Set<String> paths) {
        this(paths, List.of());
    }

    private Log(Set<String> paths, List<Entry> entries) {
        this.paths = paths;
        this.entries = entries;
    }

    Log and(List<Event> more) {
        List<Entry> all = new ArrayList<>(entries.size() + more.size());
        all.addAll(entries);
        more.forEach(event -> all.add(Entry.of(event, paths)));
        return new Log(paths, all);
    }

    /** Where it is when from {@code place} on so many entries are applied that are seen. */
    int after(int place, int applied) {
        int at = place;
        for (int left = applied; left > 0; at++) {
            left -= entries.get(at).isSeen() ? 1 : 0;
        }
        return at;
    }

    /** How many entries are seen from {@code place} on. */
    int seenFrom(int place) {
        int seen = 0;
        for (int i = place; i < entries.size(); i++) {
            seen += entries.get(i).isSeen() ? 1 : 0;
        }
        return seen;
    }

    /** Adds so many entries that are seen from {@code place} on. */
    void addTo(Fingerprint print, int place, int count) {
        int left = count;
        for (int i = place; left > 0; i++) {
            Entry entry = entries.get(i);
            if (entry.isSeen()) {
                print.add(entry.high());
                print.add(entry.low());
                left--;
            }
        }
    }

    /** Whether one of these watches fires when what comes from {@code place} on is applied. */
    boolean fires(int place, Set<SimulatedPort.Watch> watches) {
        for (int i = place; i < entries.size() && !watches.isEmpty(); i++) {
            for (Tree.Effect change : entries.get(i).changes()) {
                if (SimulatedPort.fires(watches, change)) {
                    return true;
                }
            }
        }
        return false;
    }
}
