// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.events;

import io.latchkey.lock.LockObserver;
import io.latchkey.lock.SessionState;
import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;

/**
 * The log of one client's connection losses and reconnects, a line each. If the connection is lost repeatedly, one loss
 * is logged per time span, with the number of losses before it. Called under the monitor of
 * {@link ClientEvents}.
 */
final class ConnectionLog implements LockObserver {
    static final Duration SPAN = Duration.ofSeconds(10);

    private final ClientLog log;
    private final Clock time;
    private boolean away;
    private boolean newSession;
    /** Whether the current loss was logged. */
    private boolean logged;
    /** The number of losses since the last line, including the one that it reported. */
    private int losses;

    private long lostAt;
    private long loggedAt;

    ConnectionLog(ClientLog log, Clock time) {
        this.log = log;
        this.time = time;
    }

    /**
     * Notes that the connection is lost, or that an attempt to reconnect failed.
     *
     * @param leases the number of leases held
     * @param left how long they stay valid
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
            log.warn(
                    ConnectionLog.class,
                    "Connection to ZooKeeper lost{}. {} leases are suspect, and lost in {} ms unless it is back by then",
                    times,
                    leases,
                    left.toMillis());
        } else {
            log.info(ConnectionLog.class, "Connection to ZooKeeper lost{}. No lease is held", times);
        }
    }

    @Override
    public void sessionChanged(SessionState state) {
        if (state == SessionState.CONNECTED) {
            connected();
        } else if (state == SessionState.EXPIRED) {
            // The engine has logged it.
            leave(time.nanos());
            logged = true;
            newSession = true;
        }
    }

    private void leave(long now) {
        if (!away) {
            away = true;
            logged = false;
            lostAt = now;
            losses++;
        }
    }

    private void connected() {
        if (away && logged) {
            log.info(
                    ConnectionLog.class,
                    "Connected to ZooKeeper again after {} ms, in {} session",
                    Duration.ofNanos(time.nanos() - lostAt).toMillis(),
                    newSession ? "a new" : "the same");
        }
        away = false;
        newSession = false;
    }

    /** Notes that the server granted another session timeout than was asked for, or granted before. */
    void timeoutChanged(Duration before, Duration now) {
        log.info(
                ConnectionLog.class,
                "The session timeout is {} ms by the server's settings, instead of {} ms",
                now.toMillis(),
                before.toMillis());
    }
}
