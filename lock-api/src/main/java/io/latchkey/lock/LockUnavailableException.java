// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * Thrown when a call got no response from a server: no server was reached, the connection broke before the response, or
 * the session has ended and the next one is not connected yet. A call that reads the state of a lock also throws it if
 * its thread is interrupted while it waits. {@link #reason} distinguishes these cases.
 *
 * <p>The call holds nothing. A request that may have reached the server is removed by the client when it has
 * reconnected, or with the session. The client keeps trying to connect. Call again later, or acquire with a timeout,
 * which waits for the connection. If the condition persists, check the connect string and the ensemble.
 */
public class LockUnavailableException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Constructs the exception with {@link LockException.Reason#NO_ANSWER}.
     *
     * @param message the server that did not respond, and for how long
     */
    public LockUnavailableException(String message) {
        this(message, Reason.NO_ANSWER);
    }

    /**
     * Constructs the exception.
     *
     * @param message the server that did not respond, and for how long
     * @param reason the reason
     */
    public LockUnavailableException(String message, Reason reason) {
        super(message, reason);
    }
}
