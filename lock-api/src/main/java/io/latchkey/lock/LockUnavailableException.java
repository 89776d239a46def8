// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * The question could not be answered: no server was reached, or the connection broke before the answer, or the session is
 * over and the next one is not connected yet. A call that reads the state of a lock throws this also if its thread is
 * interrupted while it waits. {@link #reason} tells these apart.
 *
 * <p>The call holds nothing. A request that may have reached the server is taken back by the client when it is
 * connected again, or goes with the session. The client goes on trying to connect. Call again later, or acquire with a
 * time-out, which waits for the connection. If it lasts, check the connect string and the ensemble.
 */
public class LockUnavailableException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception, with {@link LockException.Reason#NO_ANSWER}.
     *
     * @param message what was out of reach, and for how long
     */
    public LockUnavailableException(String message) {
        this(message, Reason.NO_ANSWER);
    }

    /**
     * Makes the exception.
     *
     * @param message what was out of reach, and for how long
     * @param reason which case it is
     */
    public LockUnavailableException(String message, Reason reason) {
        super(message, reason);
    }
}
