// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All that one client may have come to by the end of one history. As long as others make the history, what was stays
 * possible, so only what is new is kept, and which of what was still has steps that the longer history changes.
 */
final class Spread {
    private final @Nullable Spread before;
    private final Map<Key, Integer> known = new HashMap<>();

    /** Whose server has nothing to apply that they would see. */
    final List<Situation> upToDate = new ArrayList<>();
    /** Who may write to the leader. */
    final List<Situation> writing = new ArrayList<>();
    /** Whose session's end is to be tried. */
    final List<Situation> roots = new ArrayList<>();
    /** Who has no step left, as long as nobody else makes one. */
    final List<Situation> ends = new ArrayList<>();
    /** Who has nothing on its way, and only what a worker may do by itself. */
    final List<Situation> resting = new ArrayList<>();
    /** For everything that may be held, who holds it with the fewest faults. */
    final Map<Hold, Situation> holds = new LinkedHashMap<>();
    /** The same for what was granted so far, and for what was granted only now. */
    final Map<List<Granted>, Situation> granted = new LinkedHashMap<>();

    final Map<Granted, Situation> news = new LinkedHashMap<>();

    /** Of a state, and how much of the history its server has applied. */
    private record Key(long high, long low, int applied) {
        static Key of(Situation situation) {
            return new Key(situation.state.high, situation.state.low, situation.applied);
        }

        @Override
        public int hashCode() {
            return Long.hashCode(high) + applied;
        }
    }

    Spread(@Nullable Spread before) {
        this.before = before;
    }

    /** Says whether it was not there, nor with fewer faults. */
    boolean add(Situation situation) {
        Key key = Key.of(situation);
        for (Spread at = this; at != null; at = at.before) {
            Integer faults = at.known.get(key);
            if (faults != null && faults <= situation.faults) {
                return false;
            }
        }
        known.put(key, situation.faults);
        note(situation);
        return true;
    }

    /** What it was before, and how few faults that took. */
    void note(Situation situation) {
        keepBest(holds, situation.state.hold, situation);
        keepBest(granted, situation.granted, situation);
        if (situation.news != null) {
            keepBest(news, situation.news, situation);
        }
    }

    private static <T> void keepBest(Map<T, Situation> best, T what, Situation situation) {
        Situation present = best.get(what);
        if (present == null || present.faults > situation.faults) {
            best.put(what, situation);
        }
    }

    /** All that counts for what can come. */
    void addTo(Fingerprint print, Log log, History history) {
        for (List<Situation> all : List.of(upToDate, writing, roots, ends, resting)) {
            print.addAll(all, (situation, each) -> {
                each.add(situation.state.high);
                each.add(situation.state.low);
                log.addTo(each, situation.applied, log.seenFrom(situation.applied));
                each.add(situation.faults);
                add(situation.granted, each, history);
            });
        }
        print.addAll(holds.entrySet(), (entry, each) -> {
            entry.getKey().nodes().forEach(each::add);
            each.add(entry.getValue().faults);
        });
        print.addAll(granted.entrySet(), (entry, each) -> {
            add(entry.getKey(), each, history);
            each.add(entry.getValue().faults);
        });
    }

    private static void add(List<Granted> granted, Fingerprint print, History history) {
        print.addAll(granted, (one, each) -> {
            each.add(one.member().path());
            each.add(one.member().recipe().tag().name());
            each.add(history.rank(one));
        });
    }

    /** The fewest faults by which it can come so far. */
    Situation least() {
        Situation least = null;
        for (Situation situation : granted.values()) {
            if (least == null || situation.faults < least.faults) {
                least = situation;
            }
        }
        if (least == null) {
            throw new IllegalStateException("nothing leads here");
        }
        return least;
    }

    int size() {
        return known.size();
    }
}
