// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.time.Duration;
import java.util.function.Consumer;

/** Reports of a candidate that are a sentence each. */
record ReportSentences(Consumer<String> log) implements Leadership.Reports {
    @Override
    public void mutexRefused(Throwable why, Duration pause) {
        log.accept("A candidate for a leadership was refused and does not queue. It tries again in " + pause.toMillis()
                + " ms. The refusal: " + why);
    }

    @Override
    public void bodyNotEnded(Lease lease, Duration overdue) {
        log.accept("The leader of " + lease.path() + " with epoch " + lease.token() + " was asked to end "
                + overdue.toMillis() + " ms ago, and its body has not ended. While the lease is valid"
                + " no other candidate leads. Look at the candidate's thread.");
    }

    @Override
    public void exceptionDropped(Lease lease, Throwable thrown) {
        log.accept("The leader of " + lease.path() + " with epoch " + lease.token()
                + " was asked to end, and its body threw, which changes nothing: " + thrown);
    }
}
