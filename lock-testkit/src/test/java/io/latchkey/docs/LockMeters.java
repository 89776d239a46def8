// SPDX-License-Identifier: Apache-2.0
package io.latchkey.docs;

import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;

/** The binding that docs/observing.md shows. */
final class LockMeters {
    private LockMeters() {}

    static LockObserver of(MeterRegistry meters) {
        return new LockObserver() {
            @Override
            public void granted(Request request, long token, Duration waited) {
                meters.timer("lock.wait", "lock", request.lock()).record(waited);
            }

            @Override
            public void notGranted(Request request, AcquireFailure failure, Duration waited) {
                meters.counter("lock.not.granted", "failure", failure.name()).increment();
            }

            @Override
            public void released(Request request, long token, Duration held) {
                meters.timer("lock.hold", "lock", request.lock()).record(held);
            }

            @Override
            public void lost(Request request, long token, LossCause cause, Duration held) {
                meters.counter("lock.lost", "cause", cause.name()).increment();
            }
        };
    }
}
