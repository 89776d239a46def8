// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * Thrown when the client is closed, or is being closed, before or during the call.
 *
 * <p>The call holds nothing. During the grace of {@link LockClient#close(java.time.Duration)} the leases that the
 * client holds stay valid; otherwise they are lost with {@link LossCause#CLIENT_CLOSED}. To continue, create a new
 * client.
 */
public class ClientClosedException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Constructs the exception.
     *
     * @param message the operation that found the client closed
     */
    public ClientClosedException(String message) {
        super(message, Reason.CLIENT_CLOSED);
    }
}
