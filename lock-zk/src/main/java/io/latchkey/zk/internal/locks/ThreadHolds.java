// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.threads.ThreadIdentity;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The locks that each thread holds through {@link java.util.concurrent.locks.Lock} views, with their depths. */
final class ThreadHolds {
    private final Map<Key, Hold> holds = new ConcurrentHashMap<>();

    private record Key(String lock, ThreadIdentity thread) {}

    /** The sides of a read-write lock; a mutex has only one. */
    enum Side {
        READ,
        WRITE
    }

    /** One thread's hold, by one lease, of one side or both. Confined to that thread. */
    static final class Hold {
        private final Map<Side, Integer> depths = new EnumMap<>(Side.class);
        private ZkLease lease;

        private Hold(ZkLease lease) {
            this.lease = lease;
        }

        ZkLease lease() {
            return lease;
        }

        /** Replaces the lease, after a downgrade. */
        void replaceLease(ZkLease next) {
            lease = next;
        }

        boolean has(Side side) {
            return depths.containsKey(side);
        }

        void enter(Side side) {
            depths.merge(side, 1, Math::addExact);
        }

        /** Reduces the depth by one. */
        void leave(Side side) {
            depths.computeIfPresent(side, (which, depth) -> depth == 1 ? null : depth - 1);
        }

        boolean isOver() {
            return depths.isEmpty();
        }
    }

    Optional<Hold> mine(String lock) {
        return Optional.ofNullable(holds.get(key(lock)));
    }

    void begin(String lock, ZkLease lease, Side side) {
        Hold hold = new Hold(lease);
        hold.enter(side);
        holds.put(key(lock), hold);
    }

    void end(String lock) {
        holds.remove(key(lock));
    }

    private static Key key(String lock) {
        return new Key(lock, ThreadIdentity.current());
    }
}
