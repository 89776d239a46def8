// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import java.time.Duration;
import java.util.Optional;

/** How long a caller is ready to wait for others. */
public sealed interface WaitPolicy {
    /** Waits for the server, but for no other holder. */
    record Never() implements WaitPolicy {}

    record AtMost(Duration timeout) implements WaitPolicy {}

    record Forever() implements WaitPolicy {}

    /** The patience of a timed try: with no time at all it is now or never. */
    static WaitPolicy of(Duration timeout) {
        return timeout.isZero() ? new Never() : new AtMost(timeout);
    }

    /** When the caller must be answered, whatever happens. A now-or-never try gives the server one session time-out. */
    default Optional<Duration> limit(Duration sessionTimeout) {
        if (this instanceof AtMost atMost) {
            return Optional.of(atMost.timeout());
        }
        return this instanceof Never ? Optional.of(sessionTimeout) : Optional.empty();
    }
}
