// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LossCause;
import io.latchkey.lock.SessionState;
import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/**
 * The log of lost leases, a line each, which users look for after a failure. If many are lost with one session, the
 * first lines and the number of the rest are enough, and thousands of lines would delay other notices of loss. So a few
 * are written per time span; the rest are counted.
 */
final class LossLog implements LockObserver {
    /** The number of lines per time span. */
    static final int LINES = 20;

    private static final String LINE = "Lost the lease on {} (token {}): {}, held for {} ms";

    static final Duration SPAN = Duration.ofSeconds(5);

    private final ClientLog log;
    private final Clock time;
    /** Of the client, for requests without one. */
    private final String label;

    private final Map<LossCause, Integer> unwritten = new EnumMap<>(LossCause.class);
    private int lines;
    private long spanBegan;

    LossLog(ClientLog log, Clock time, String label) {
        this.log = log;
        this.time = time;
        this.label = label;
    }

    @Override
    public void lost(Request about, long token, LossCause cause, Duration held) {
        String holder = about.label().isEmpty() ? label : about.label();
        String path = about.path() + (holder.isEmpty() ? "" : " for " + holder);
        if (!mayWrite(cause)) {
            log.debug(LossLog.class, LINE, path, token, cause, held.toMillis());
        } else if (cause == LossCause.CLIENT_CLOSED) {
            log.info(
                    LossLog.class,
                    "Lease on {} (token {}) ended with its client after {} ms",
                    path,
                    token,
                    held.toMillis());
        } else {
            log.warn(LossLog.class, LINE, path, token, cause, held.toMillis());
        }
    }

    private synchronized boolean mayWrite(LossCause cause) {
        long now = time.nanos();
        if (lines > 0 && now - spanBegan >= SPAN.toNanos()) {
            lines = 0;
        }
        if (lines == 0) {
            spanBegan = now;
        }
        if (lines < LINES) {
            lines++;
            return true;
        }
        if (unwritten.isEmpty()) {
            var unused = time.after(Duration.ofNanos(Math.max(0, spanBegan + SPAN.toNanos() - now)), this::sumUp);
        }
        unwritten.merge(cause, 1, Integer::sum);
        return false;
    }

    private synchronized void sumUp() {
        unwritten.forEach((cause, leases) -> {
            if (cause == LossCause.CLIENT_CLOSED) {
                log.info(LossLog.class, "{} more leases ended with their client", leases);
            } else {
                log.warn(LossLog.class, "Lost {} more leases: {}; each is logged at debug", leases, cause);
            }
        });
        unwritten.clear();
    }

    /** Writes the count of the last span, since the timer ends with the client. */
    @Override
    public void sessionChanged(SessionState state) {
        if (state == SessionState.CLOSED) {
            sumUp();
        }
    }
}
