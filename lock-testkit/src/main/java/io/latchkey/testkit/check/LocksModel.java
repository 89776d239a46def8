// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.history.LockClaim;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Locks at any number of paths; an action acquires or releases all that it names or none. A path behaves as a
 * read-write lock, of which a mutex is the part without readers, or as a semaphore, if its claims are of permits. A
 * change to fewer permits revokes none. It does not model the order of requests.
 */
final class LocksModel implements SequentialModel<LocksModel.State> {
    private final Map<String, Integer> capacities;

    /**
     * The initial state, without holders.
     *
     * @param capacities how many permits each of the paths has that are semaphores
     */
    LocksModel(Map<String, Integer> capacities) {
        this.capacities = Map.copyOf(capacities);
    }

    /**
     * The hold of one path.
     *
     * @param holder the name of the hold
     * @param claim what
     */
    record Hold(String holder, LockClaim claim) {
        @Override
        public String toString() {
            return holder + " on " + claim;
        }
    }

    /**
     * The state of all paths.
     *
     * @param holds all there are
     * @param resized how many permits the paths have whose number was changed
     */
    record State(Set<Hold> holds, Map<String, Integer> resized) {}

    @Override
    public State initial() {
        return new State(Set.of(), Map.of());
    }

    @Override
    public Optional<State> after(State now, Action action) {
        if (action instanceof Action.Acquire acquire) {
            return fits(now, acquire.claims())
                    ? changed(now, Set.of(), holds(acquire.holder(), acquire.claims()))
                    : Optional.empty();
        } else if (action instanceof Action.Release release) {
            return changed(now, holds(release.holder(), release.claims()), Set.of());
        } else if (action instanceof Action.Refuse refuse) {
            return fits(now, refuse.claims()) ? Optional.empty() : Optional.of(now);
        } else if (action instanceof Action.Downgrade downgrade) {
            return changed(
                    now,
                    Set.of(new Hold(downgrade.from(), LockClaim.exclusive(downgrade.path()))),
                    Set.of(new Hold(downgrade.to(), LockClaim.shared(downgrade.path()))));
        } else if (action instanceof Action.Resize resize) {
            Map<String, Integer> resized = new HashMap<>(now.resized());
            resized.put(resize.path(), resize.capacity());
            return Optional.of(new State(now.holds(), resized));
        }
        return Optional.empty();
    }

    private static Set<Hold> holds(String holder, List<LockClaim> claims) {
        Set<Hold> holds = new HashSet<>();
        claims.forEach(claim -> holds.add(new Hold(holder, claim)));
        return holds;
    }

    /** The state with other holds; empty if those that end are not there. */
    private static Optional<State> changed(State now, Set<Hold> ended, Set<Hold> begun) {
        if (!now.holds().containsAll(ended)) {
            return Optional.empty();
        }
        Set<Hold> holds = new HashSet<>(now.holds());
        holds.removeAll(ended);
        holds.addAll(begun);
        return Optional.of(new State(holds, now.resized()));
    }

    private boolean fits(State now, List<LockClaim> claims) {
        return claims.stream().allMatch(claim -> {
            List<LockClaim> held = now.holds().stream()
                    .map(Hold::claim)
                    .filter(other -> other.path().equals(claim.path()))
                    .toList();
            int capacity = capacities.getOrDefault(claim.path(), 0);
            return fits(claim, held, now.resized().getOrDefault(claim.path(), capacity));
        });
    }

    /** Whether a claim can be held beside others of its path, if that has so many permits. */
    static boolean fits(LockClaim claim, Collection<LockClaim> held, int capacity) {
        if (claim instanceof LockClaim.Permits some) {
            return some.permits()
                            + held.stream()
                                    .mapToLong(other -> other instanceof LockClaim.Permits more ? more.permits() : 0)
                                    .sum()
                    <= capacity;
        }
        return held.stream()
                .noneMatch(other -> other instanceof LockClaim.Exclusive
                        || (other instanceof LockClaim.Shared && !(claim instanceof LockClaim.Shared)));
    }
}
