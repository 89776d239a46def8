// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.lock.LockException;
import io.latchkey.lock.LockObserver;
import java.time.Duration;
import java.util.Optional;

/** The log of single requests, at debug. Lost leases are logged by {@link LossLog}. */
record RequestLog(ClientLog log) implements LockObserver {
    @Override
    public void granted(Request about, long token, Duration waited) {
        log.debugRequest("Granted: {}, token {}", about, token);
    }

    @Override
    public void notGranted(
            Request about, AcquireFailure failure, Optional<LockException.Reason> reason, Duration waited) {
        String why = reason.map(one -> ", " + one).orElse("");
        log.debugRequest("Not granted: {}, {}{}", about, failure, why);
    }

    @Override
    public void released(Request about, long token, Duration held) {
        log.debugRequest("Released: {}, token {}", about, token);
    }
}
