// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import io.latchkey.lock.Acquirable;
import java.time.Duration;

/** What holds for all locked methods. */
interface LockedSettings {
    /** How long a call waits whose annotation has no timeout. */
    Duration timeout();

    /**
     * Returns a lock whose waits and holds are observed, if the application observes.
     *
     * @param lock the lock
     * @param name the path without the key
     */
    Acquirable observed(Acquirable lock, String name);
}
