// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import java.util.Objects;

/**
 * A request that the holder of a lease release it; see {@link Lease#releaseRequested}.
 *
 * @param by the client that asks
 */
public record ReleaseRequest(Owner by) {
    /**
     * Makes a release request.
     *
     * @param by the client that asks
     */
    public ReleaseRequest {
        Objects.requireNonNull(by, "by");
    }
}
