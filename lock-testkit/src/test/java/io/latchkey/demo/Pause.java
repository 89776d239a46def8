// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The time between what a client reads and what it writes: the time in which others can come between. */
final class Pause {
    private static final long THINKS_AT_LEAST = TimeUnit.MILLISECONDS.toNanos(3);
    private static final long THINKS_AT_MOST = TimeUnit.MILLISECONDS.toNanos(9);
    private static final int HESITATES_ONCE_IN = 50;
    private static final long HESITATES = TimeUnit.MILLISECONDS.toNanos(400);

    private Pause() {}

    /** Some milliseconds; now and then so long that the session may be gone. */
    static void think() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        LockSupport.parkNanos(
                random.nextInt(HESITATES_ONCE_IN) == 0 ? HESITATES : random.nextLong(THINKS_AT_LEAST, THINKS_AT_MOST));
    }
}
