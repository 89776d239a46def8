// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import io.latchkey.lock.Lease;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The leases of the locked methods that each thread is in, the innermost first. */
final class ThreadLeases {
    /** Of one application: a static one would keep its classes after a restart by devtools. */
    @SuppressWarnings("ThreadLocalUsage")
    private final ThreadLocal<@Nullable HeldLease> innermost = new ThreadLocal<>();

    private record HeldLease(Lease lease, @Nullable HeldLease outer) {}

    interface Body {
        @Nullable
        Object proceed() throws Throwable;
    }

    /** Returns the innermost lease of this thread. */
    Optional<Lease> find() {
        return Optional.ofNullable(innermost.get()).map(HeldLease::lease);
    }

    /** Returns whether this thread is in a method that holds the lock at a path. */
    boolean holds(String path) {
        for (HeldLease each = innermost.get(); each != null; each = each.outer()) {
            if (each.lease().path().equals(path)) {
                return true;
            }
        }
        return false;
    }

    /** Runs a body that finds the lease. */
    @Nullable
    Object with(Lease lease, Body body) throws Throwable {
        HeldLease outer = innermost.get();
        innermost.set(new HeldLease(lease, outer));
        try {
            return body.proceed();
        } finally {
            if (outer == null) {
                innermost.remove();
            } else {
                innermost.set(outer);
            }
        }
    }
}
