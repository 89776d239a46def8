// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * Thrown when the client borrows its session from a ZooKeeper handle and that session has ended.
 *
 * <p>The call holds nothing, all leases of the client are lost, and the client can no longer be used: the handle
 * belongs to the application, and an expired handle cannot be reopened. Close the client, and create a new one with a
 * new handle. A client that owns its session opens a new one by itself and never throws this exception.
 */
public class SessionExpiredException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Constructs the exception.
     *
     * @param message the operation that found the session ended
     */
    public SessionExpiredException(String message) {
        super(message, Reason.SESSION_EXPIRED);
    }
}
