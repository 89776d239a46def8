// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * The client borrows its session from a ZooKeeper handle, and that session has ended for good.
 *
 * <p>The call holds nothing, all leases of the client are lost, and the client is of no more use: the handle belongs to
 * somebody else, and an expired handle cannot be opened again. Close the client, and make a new one with a new handle.
 * A client that owns its session makes a new one by itself and never throws this.
 */
public class SessionExpiredException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param message what was asked for when the session was gone
     */
    public SessionExpiredException(String message) {
        super(message, Reason.SESSION_EXPIRED);
    }
}
