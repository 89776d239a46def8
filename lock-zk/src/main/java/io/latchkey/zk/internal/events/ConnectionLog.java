// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs one client's losses of its connection and its returns, a line each. Of a connection that is lost again and again one loss is
 * logged in each span of time, with the number of those before. Confined to the serial executor.
 */
public final class ConnectionLog {
    static final Duration SPAN = Duration.ofSeconds(10);
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionLog.class);

    private final Clock time;
    private boolean away;
    private boolean newSession;
    /** Whether the present absence is logged. */
    private boolean logged;
    /** Losses since the last that was logged, that included. */
    private int losses;

    private long lostAt;
    private long loggedAt;

    public ConnectionLog(Clock time) {
        this.time = time;
    }

    /**
     * The connection is lost, or an attempt to connect again has failed.
     *
     * @param leases how many are held
     * @param left how long these stay valid
     */
    void lost(int leases, Duration left) {
        long now = time.nanos();
        leave(now);
        boolean justLogged = losses > 1 && now - loggedAt < SPAN.toNanos();
        if (logged || justLogged) {
            return;
        }
        logged = true;
        loggedAt = now;
        String times = losses > 1 ? ", " + (losses - 1) + " times since this was logged last" : "";
        losses = 1;
        if (leases > 0) {
            LOG.warn(
                    "Connection to ZooKeeper lost{}. {} leases are suspect, and lost in {} ms unless it is back by then",
                    times,
                    leases,
                    left.toMillis());
        } else {
            LOG.info("Connection to ZooKeeper lost{}. No lease is held", times);
        }
    }

    /** The session is over, and the engine has logged that. */
    void sessionOver() {
        leave(time.nanos());
        logged = true;
        newSession = true;
    }

    private void leave(long now) {
        if (!away) {
            away = true;
            logged = false;
            lostAt = now;
            losses++;
        }
    }

    void connected() {
        if (away && logged) {
            LOG.info(
                    "Connected to ZooKeeper again after {} ms, in {} session",
                    Duration.ofNanos(time.nanos() - lostAt).toMillis(),
                    newSession ? "a new" : "the same");
        }
        away = false;
        newSession = false;
    }

    /** The server gives another session time-out than the one that was asked for, or was given before. */
    void timeoutChanged(Duration before, Duration now) {
        LOG.info(
                "The session timeout is {} ms by the server's settings, instead of {} ms",
                now.toMillis(),
                before.toMillis());
    }
}
