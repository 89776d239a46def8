// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the steps of one client have led to, in all histories: what has been played is not played again. */
final class Passages {
    private final boolean remembers;
    private final Map<Key, Passage> known = new HashMap<>();

    /**
     * A step, the state in which it is made, and what it depends on of the entries that the server has yet to apply.
     *
     * @param entries how many of them
     */
    private record Key(long high, long low, int step, int entries) {
        static Key of(Situation from, Log log, int step, int entries, Passage.Reach reach) {
            Fingerprint print = new Fingerprint();
            print.add(from.state.high);
            print.add(from.state.low);
            print.add(reach == Passage.Reach.ALL ? 1 : 0);
            log.addTo(print, from.applied, entries);
            return new Key(print.high(), print.low(), step, entries);
        }

        @Override
        public int hashCode() {
            return Long.hashCode(high) + step;
        }
    }

    /** @param remembers whether it keeps any */
    Passages(boolean remembers) {
        this.remembers = remembers;
    }

    Optional<Passage> find(Situation from, Log log, int step) {
        return remembers ? Optional.ofNullable(look(from, log, step)) : Optional.empty();
    }

    private @Nullable Passage look(Situation from, Log log, int step) {
        int all = log.seenFrom(from.applied);
        Passage found = known.get(Key.of(from, log, step, all, Passage.Reach.ALL));
        int most = Move.move(step) == Move.APPLY ? all : 0;
        for (int entries = 0; found == null && entries <= most; entries++) {
            found = known.get(Key.of(from, log, step, entries, Passage.Reach.APPLIED));
        }
        return found;
    }

    void add(Situation from, Log log, int step, Passage passage) {
        if (remembers) {
            boolean all = passage.reach() == Passage.Reach.ALL;
            int entries = all ? log.seenFrom(from.applied) : passage.applied();
            known.put(Key.of(from, log, step, entries, passage.reach()), passage);
        }
    }
}
