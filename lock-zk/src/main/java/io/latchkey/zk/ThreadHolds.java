package io.latchkey.zk;

import io.latchkey.zk.session.ZkLease;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Which thread holds which path through a {@link java.util.concurrent.locks.Lock} view, and how often. */
final class ThreadHolds {
    private final Map<Key, Hold> holds = new ConcurrentHashMap<>();

    private record Key(String path, Thread thread) {}

    /** One thread's hold; touched by that thread alone. */
    static final class Hold {
        private final ZkLease lease;
        private int depth = 1;

        private Hold(ZkLease lease) {
            this.lease = lease;
        }

        ZkLease lease() {
            return lease;
        }

        void enter() {
            depth = Math.addExact(depth, 1);
        }
    }

    Optional<Hold> mine(String path) {
        return Optional.ofNullable(holds.get(key(path)));
    }

    void begin(String path, ZkLease lease) {
        holds.put(key(path), new Hold(lease));
    }

    /** Takes one level off; the lease is over when none is left. */
    boolean leave(String path, Hold hold) {
        hold.depth--;
        return hold.depth == 0 && holds.remove(key(path), hold);
    }

    private static Key key(String path) {
        return new Key(path, Thread.currentThread());
    }
}
