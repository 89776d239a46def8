// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import io.latchkey.lock.LockClient;
import java.time.Duration;

/** The example of docs/shutting-down.md. */
final class ShuttingDown {
    private ShuttingDown() {}

    static Thread onExit(LockClient locks) {
        return new Thread(() -> locks.close(Duration.ofSeconds(20)));
    }
}
