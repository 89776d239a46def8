// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import java.time.Duration;
import java.util.Optional;

/** How long a caller waits for other holders. */
public sealed interface WaitPolicy {
    /** Waits for the server, but not for other holders. */
    record Never() implements WaitPolicy {}

    record AtMost(Duration timeout) implements WaitPolicy {}

    record Forever() implements WaitPolicy {}

    /** Returns the policy of a timed try. Without any time it does not wait for other holders. */
    static WaitPolicy of(Duration timeout) {
        return timeout.isZero() ? new Never() : new AtMost(timeout);
    }

    /**
     * Returns the time within which the call must return. A try that does not wait for holders gives the server one
     * session timeout.
     */
    default Optional<Duration> limit(Duration sessionTimeout) {
        if (this instanceof AtMost atMost) {
            return Optional.of(atMost.timeout());
        }
        return this instanceof Never ? Optional.of(sessionTimeout) : Optional.empty();
    }
}
