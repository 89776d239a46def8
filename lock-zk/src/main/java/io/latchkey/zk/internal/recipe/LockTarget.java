// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.recipe;

import io.latchkey.zk.internal.queue.LockPath;
import java.time.Duration;
import java.util.Optional;

/**
 * The lock that a request asks for at one path.
 *
 * @param recipe the way of sharing the path
 * @param path the path whose children are the requests
 * @param label the label of the request; empty for that of its client
 * @param limit the longest time from the grant for which the lease is held
 */
public record LockTarget(Recipe recipe, LockPath path, String label, Optional<Duration> limit) {
    public LockTarget(Recipe recipe, LockPath path) {
        this(recipe, path, "", Optional.empty());
    }

    public LockTarget labelled(String text) {
        return new LockTarget(recipe, path, text, limit);
    }

    /** Returns the same target with the smaller of its limit and {@code other}. */
    public LockTarget heldAtMost(Duration other) {
        Duration smaller = limit.filter(own -> own.compareTo(other) < 0).orElse(other);
        return new LockTarget(recipe, path, label, Optional.of(smaller));
    }

    /** Returns the same target without a limit. */
    public LockTarget unlimited() {
        return new LockTarget(recipe, path, label, Optional.empty());
    }

    /** Returns the same target with another way of sharing the path. */
    public LockTarget as(Recipe other) {
        return new LockTarget(other, path, label, limit);
    }
}
