// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import io.latchkey.lock.Mutex;
import io.latchkey.lock.OnLoss;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;

/** The examples of docs/stopping.md. */
final class Stopping {
    private Stopping() {}

    interface Jobs {
        void waitForInput() throws InterruptedException;

        Report write(long token);
    }

    record Report(long token) {}

    static Report nightly(Mutex mutex, Jobs jobs) throws InterruptedException {
        return mutex.call(OnLoss.INTERRUPT, lease -> {
            jobs.waitForInput(); // interrupted when the lease is lost
            return jobs.write(lease.token());
        });
    }

    static String export(Mutex mutex, ExecutorService pool, Callable<String> job) throws Exception {
        return mutex.<String, Exception>call(OnLoss.INTERRUPT, lease -> {
            Future<String> work = pool.submit(job);
            try {
                return work.get();
            } catch (InterruptedException lost) {
                work.cancel(true);
                throw lost;
            }
        });
    }
}
