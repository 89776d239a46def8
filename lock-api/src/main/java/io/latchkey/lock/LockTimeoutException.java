// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.time.Duration;

/**
 * Thrown by {@link Acquirable#acquire(Duration)}, and the failure of {@link Acquirable#acquireAsync(Duration)}, when
 * the time has passed without a grant. The call holds nothing, and its request is withdrawn. {@link #reason} has what
 * was true when the time ended:
 *
 * <ul>
 *   <li>{@link LockException.Reason#HELD_BY_OTHERS}: a server answered, and other requests were ahead. Wait longer, or
 *       look at {@link Acquirable#queue}. With local turns, a request that waits behind another one of its client asks
 *       no server, and has this reason while the client believes to be connected.
 *   <li>{@link LockException.Reason#NO_ANSWER}: no server had answered, or the connection was lost when the time ended.
 *       The holders, if there are any, have no part in it. Check the servers and the network; the client keeps trying
 *       to connect.
 *   <li>{@link LockException.Reason#THROTTLED}: the servers put the request off, as they had too many.
 * </ul>
 *
 * Later versions may add reasons, so a {@code switch} over them should have a {@code default}.
 */
public class LockTimeoutException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Constructs the exception.
     *
     * @param message the path, the time, and the state when it ended
     * @param reason the reason
     */
    public LockTimeoutException(String message, Reason reason) {
        super(message, reason);
    }
}
