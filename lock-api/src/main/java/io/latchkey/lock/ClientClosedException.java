// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * The client was closed, before the call or while it waited.
 *
 * <p>The call holds nothing, and neither does the client: its leases are lost with {@link LossCause#CLIENT_CLOSED}. To
 * go on, make a new client.
 */
public class ClientClosedException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes the exception.
     *
     * @param message what was asked for when the client was closed
     */
    public ClientClosedException(String message) {
        super(message, Reason.CLIENT_CLOSED);
    }
}
