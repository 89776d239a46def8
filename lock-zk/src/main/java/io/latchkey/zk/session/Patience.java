// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.session;

import java.time.Duration;
import java.util.Optional;

/** How long a caller is ready to wait for others. */
public sealed interface Patience {
    /** Waits for the server, but for no other holder. */
    record Never() implements Patience {}

    record AtMost(Duration timeout) implements Patience {}

    record Forever() implements Patience {}

    /** The patience of a timed try: with no time at all it is now or never. */
    static Patience of(Duration timeout) {
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
