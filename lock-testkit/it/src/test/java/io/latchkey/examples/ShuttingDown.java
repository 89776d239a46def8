// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import io.latchkey.lock.Leadership;
import io.latchkey.lock.LockClient;
import java.time.Duration;

/** The examples of docs/shutting-down.md. */
final class ShuttingDown {
    private ShuttingDown() {}

    static Thread onExit(LockClient locks) {
        return new Thread(() -> locks.close(Duration.ofSeconds(20)));
    }

    static Thread onExit(Leadership candidate, LockClient locks) {
        return new Thread(() -> {
            candidate.close(Duration.ofSeconds(10)); // then the mutex is released for a body that has not ended
            locks.close();
        });
    }
}
