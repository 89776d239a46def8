// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.check;

import io.latchkey.testkit.history.LockClaim;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Several paths; an action acquires or releases all that it names or none. Each path behaves as a read-write lock, of
 * which a mutex is the part without readers, or as a semaphore, if its first claim is of permits.
 */
final class MultiLockModel implements SequentialModel<MultiLockModel.Paths> {
    private static final ReadWriteModel LOCK = new ReadWriteModel();

    private final Map<String, SemaphoreModel> semaphores = new HashMap<>();

    /**
     * The initial state, without holders.
     *
     * @param capacities how many permits each of the paths has that are semaphores
     */
    public MultiLockModel(Map<String, Integer> capacities) {
        capacities.forEach((path, capacity) -> semaphores.put(path, new SemaphoreModel(capacity)));
    }

    /**
     * The state of every path that is not as it was at the beginning.
     *
     * @param locks paths of mutexes and read-write locks
     * @param semaphores paths of semaphores
     */
    public record Paths(Map<String, ReadWriteModel.Holds> locks, Map<String, SemaphoreModel.Holds> semaphores) {}

    @Override
    public Paths initial() {
        return new Paths(Map.of(), Map.of());
    }

    @Override
    public Optional<Paths> after(Paths now, Action action) {
        if (action instanceof Action.Acquire acquire) {
            return onEach(now, acquire.claims(), one -> new Action.Acquire(acquire.holder(), one));
        } else if (action instanceof Action.Release release) {
            return onEach(now, release.claims(), one -> new Action.Release(release.holder(), one));
        } else if (action instanceof Action.Refuse refuse) {
            boolean fits = onEach(now, refuse.claims(), one -> new Action.Acquire("", one))
                    .isPresent();
            return fits ? Optional.empty() : Optional.of(now);
        } else if (action instanceof Action.Downgrade downgrade) {
            return on(now, downgrade.path(), downgrade);
        } else if (action instanceof Action.Resize resize) {
            return on(now, resize.path(), resize);
        }
        return Optional.empty();
    }

    private interface Part {
        Action of(List<LockClaim> one);
    }

    private Optional<Paths> onEach(Paths now, List<LockClaim> claims, Part part) {
        Optional<Paths> paths = Optional.of(now);
        for (LockClaim claim : claims) {
            paths = paths.flatMap(before -> on(before, claim.path(), part.of(List.of(claim))));
        }
        return paths;
    }

    private Optional<Paths> on(Paths now, String path, Action action) {
        SemaphoreModel semaphore = semaphores.get(path);
        if (semaphore != null) {
            return semaphore
                    .after(now.semaphores().getOrDefault(path, semaphore.initial()), action)
                    .map(after -> new Paths(now.locks(), changed(now.semaphores(), path, after, semaphore.initial())));
        }
        return LOCK.after(now.locks().getOrDefault(path, LOCK.initial()), action)
                .map(after -> new Paths(changed(now.locks(), path, after, LOCK.initial()), now.semaphores()));
    }

    private static <S> Map<String, S> changed(Map<String, S> states, String path, S after, S initial) {
        Map<String, S> changed = new HashMap<>(states);
        if (after.equals(initial)) {
            changed.remove(path);
        } else {
            changed.put(path, after);
        }
        return changed;
    }
}
