// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import io.latchkey.lock.Leadership;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;

/** The examples of docs/recipes/leadership.md. */
final class Leading {
    private Leading() {}

    interface Billing {
        void runUntilInterrupted(long epoch) throws InterruptedException;
    }

    interface Consumer {
        void resume(long epoch);

        void pause();
    }

    static Leadership bill(LockClient locks, Billing billing) {
        return Leadership.start(locks.mutex("/billing/leader"), lease -> {
            billing.runUntilInterrupted(lease.token()); // the epoch, for every store that is written to
            return Leadership.Next.CANDIDATE; // stepped down: queue again, behind the others
        });
    }

    static Leadership follow(Mutex mutex, Consumer switchboard) {
        return Leadership.start(mutex, new Leadership.Listener() {
            @Override
            public void elected(Lease lease) {
                switchboard.resume(lease.token());
            }

            @Override
            public void over(Lease lease) {
                switchboard.pause(); // the mutex is released after this, or is lost already
            }
        });
    }
}
