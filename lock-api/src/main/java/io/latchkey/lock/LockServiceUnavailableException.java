// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * Thrown when no server has answered: none was reached, the connection broke before the answer, or the session has
 * ended and the next one is not connected yet. It says nothing about the lock, which may be free or held. {@link
 * #reason} distinguishes the cases. When a client is built it also tells of TLS that cannot come about, with the
 * failed handshake as the cause; trying again is then of no use before a side is corrected.
 *
 * <p>A call that acquires holds nothing, and its request is removed when the client has reconnected, or with the
 * session. A call that changes something else, such as {@link Semaphore#resize}, may or may not have had its effect.
 * The client keeps trying to connect. Call again later, or acquire with a timeout, which waits for the connection. If
 * the condition persists, check the connect string and the ensemble.
 */
public class LockServiceUnavailableException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Constructs the exception with {@link LockException.Reason#NO_ANSWER}.
     *
     * @param message the server that did not respond, and for how long
     */
    public LockServiceUnavailableException(String message) {
        this(message, Reason.NO_ANSWER);
    }

    /**
     * Constructs the exception.
     *
     * @param message the server that did not respond, and for how long
     * @param reason the reason
     */
    public LockServiceUnavailableException(String message, Reason reason) {
        super(message, reason);
    }
}
