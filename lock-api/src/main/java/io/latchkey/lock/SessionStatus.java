// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/**
 * The session of a client at one moment, as the client knows it; see {@link LockClient#session}.
 *
 * @param state the state of the session; {@link SessionState#DISCONNECTED} also before the first connection
 * @param id the id of the session, which servers' logs show in hexadecimal: of the present one, or the last one after
 *     its end; 0 before the first connection
 * @param since when the client found this state, by the clock of this machine
 * @param timeout the session timeout that the server granted last; until it has granted one, that which the client asks
 *     for
 */
public record SessionStatus(SessionState state, long id, Instant since, Duration timeout) {
    /**
     * Makes a status.
     *
     * @param state the state
     * @param id the id of the session
     * @param since when the client found this state
     * @param timeout the session timeout
     */
    public SessionStatus {
        Objects.requireNonNull(state, "state");
        Objects.requireNonNull(since, "since");
        Objects.requireNonNull(timeout, "timeout");
    }

    /** {@return whether the client is connected} */
    public boolean isConnected() {
        return state == SessionState.CONNECTED;
    }

    @Override
    public String toString() {
        return state + " since " + since + (id == 0 ? "" : ", session 0x" + Long.toHexString(id)) + ", session timeout "
                + timeout.toMillis() + " ms";
    }
}
