// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.context;

import io.latchkey.lock.LossCause;
import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.recipe.LockTarget;
import io.latchkey.zk.internal.threads.ThreadIdentity;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The leases of an engine that have not ended, also by the thread that waited for each. They are known apart from the
 * engine's state, which says nothing any more once a step has failed; and a look costs the same however many requests
 * wait. Thread-safe.
 */
public final class HeldLeases {
    private final Set<HeldLease> all = ConcurrentHashMap.newKeySet();
    private final Map<ThreadIdentity, OfThread> byThread = new ConcurrentHashMap<>();
    /** The key of each lease in {@link #byThread}. The lease's own identity of a thread that is gone finds nothing. */
    private final Map<HeldLease, ThreadIdentity> keys = new ConcurrentHashMap<>();

    private volatile boolean granted;

    /** The leases of a thread, and their key. */
    private record OfThread(ThreadIdentity key, Set<HeldLease> leases) {}

    /** A lease. */
    public interface HeldLease {
        /** Returns whether it has ended. */
        boolean hasEnded();

        /** Ends it as lost, without a notice; returns whether it had not ended before. */
        boolean end(LossCause cause);

        /** Notifies its owner of that loss. */
        void notifyOwner(LossCause cause);

        /** Returns a future that completes when its owner is notified of a loss. */
        CompletableFuture<@Nullable Void> notified();

        /** Returns the events of its owner. */
        RequestEvents events();
    }

    /** Adds a lease that is granted. */
    public void add(HeldLease lease) {
        granted = true;
        all.add(lease);
    }

    /** Returns whether there has been one. */
    public boolean hasGranted() {
        return granted;
    }

    /** Notes that the thread that asked for the lease has waited for it. */
    public void received(HeldLease lease) {
        byThread.compute(lease.events().caller(), (caller, present) -> {
            OfThread more = present == null ? new OfThread(caller, ConcurrentHashMap.newKeySet()) : present;
            more.leases().add(lease);
            keys.put(lease, more.key());
            return more;
        });
        if (lease.hasEnded()) {
            remove(lease);
        }
    }

    /** Removes a lease that has ended. */
    public void remove(HeldLease ended) {
        all.remove(ended);
        ThreadIdentity key = keys.remove(ended);
        if (key != null) {
            byThread.computeIfPresent(key, (same, of) -> {
                of.leases().remove(ended);
                return of.leases().isEmpty() ? null : of;
            });
        }
    }

    /** Returns the leases that have not ended. */
    public List<HeldLease> all() {
        return List.copyOf(all);
    }

    /** Returns whether this thread has waited for one of them. */
    public boolean anyOf(ThreadIdentity thread) {
        return byThread.containsKey(thread);
    }

    /**
     * Returns the lease by which the thread that waits for {@code waiting} blocks itself, if there is one.
     *
     * <p>A lease is known as that of a thread only if the thread has waited for it. A semaphore may have room beside the
     * permits that the thread itself holds. At any other path, a request that waits although its thread holds is behind
     * that lease, or behind a request that is.
     *
     * @param knownCapacity returns the capacity of a semaphore that was resized
     */
    Optional<RequestEvents> blocking(RequestEvents waiting, Function<LockPath, Optional<Integer>> knownCapacity) {
        if (!waiting.isAwaited()) {
            return Optional.empty();
        }
        OfThread callers = byThread.get(waiting.caller());
        Set<HeldLease> held = callers == null ? Set.of() : callers.leases();
        for (LockTarget wanted : waiting.members()) {
            int permits = 0;
            for (HeldLease one : held) {
                for (LockTarget member : one.events().members()) {
                    permits += member.path().equals(wanted.path())
                            ? member.recipe().permits()
                            : 0;
                }
                int capacity = knownCapacity
                        .apply(wanted.path())
                        .orElse(wanted.recipe().purpose().capacity());
                if (permits > 0 && permits > capacity - wanted.recipe().permits()) {
                    return Optional.of(one.events());
                }
            }
        }
        return Optional.empty();
    }
}
