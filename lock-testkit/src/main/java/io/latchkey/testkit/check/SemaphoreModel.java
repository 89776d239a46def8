// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.history.LockClaim;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A semaphore with weights. A change to fewer permits revokes none. It does not model the order of requests. */
final class SemaphoreModel implements SequentialModel<SemaphoreModel.Holds> {
    private final int capacity;

    /**
     * The initial state, without holders.
     *
     * @param capacity the initial number of permits
     */
    public SemaphoreModel(int capacity) {
        this.capacity = capacity;
    }

    /**
     * The holders and their permits.
     *
     * @param capacity how many there are
     * @param permits how many each hold has
     */
    public record Holds(int capacity, Map<String, Integer> permits) {
        private boolean fits(int more) {
            int held = 0;
            for (int each : permits.values()) {
                held += each;
            }
            return held + more <= capacity;
        }
    }

    @Override
    public Holds initial() {
        return new Holds(capacity, Map.of());
    }

    @Override
    public Optional<Holds> after(Holds now, Action action) {
        if (action instanceof Action.Acquire acquire) {
            int more = permits(acquire.claims());
            if (!now.fits(more)) {
                return Optional.empty();
            }
            Map<String, Integer> holds = new HashMap<>(now.permits());
            holds.put(acquire.holder(), more);
            return Optional.of(new Holds(now.capacity(), holds));
        } else if (action instanceof Action.Release release) {
            Map<String, Integer> holds = new HashMap<>(now.permits());
            return holds.remove(release.holder()) == null
                    ? Optional.empty()
                    : Optional.of(new Holds(now.capacity(), holds));
        } else if (action instanceof Action.Refuse refuse) {
            return now.fits(permits(refuse.claims())) ? Optional.empty() : Optional.of(now);
        } else if (action instanceof Action.Resize resize) {
            return Optional.of(new Holds(resize.capacity(), now.permits()));
        }
        return Optional.empty();
    }

    private static int permits(List<LockClaim> claims) {
        return claims.get(0) instanceof LockClaim.Permits some ? some.permits() : 1;
    }
}
