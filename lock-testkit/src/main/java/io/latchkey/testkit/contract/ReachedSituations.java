// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import io.latchkey.testkit.contract.LockFixture.Situation;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * How often each {@link Situation} was really observed. A test that covers a fault counts it where it sees it, so that
 * a fault which never struck does not pass for one that was withstood. Thread-safe.
 */
final class ReachedSituations {
    private final Map<Situation, Integer> counts = new EnumMap<>(Situation.class);

    /** Counts an observation of the situation. */
    synchronized void count(Situation situation) {
        counts.merge(situation, 1, Integer::sum);
    }

    /**
     * Checks that all of these were observed.
     *
     * @param claimed what was claimed to be covered
     * @throws AssertionError if one of them never was, with the list of those and with all counts
     */
    synchronized void assertAll(Collection<Situation> claimed) {
        Set<Situation> missing = EnumSet.noneOf(Situation.class);
        missing.addAll(claimed);
        missing.removeAll(counts.keySet());
        if (!missing.isEmpty()) {
            throw new AssertionError(
                    "never reached, though tests claim to cover it: " + missing + "; reached: " + this);
        }
    }

    @Override
    public synchronized String toString() {
        return counts.toString();
    }
}
