// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import io.latchkey.zk.ZkLockClient;

/**
 * Changes settings of the lock client that the starter makes. Beans of this type are called in their order, after the
 * properties are applied and before the client is built.
 */
@FunctionalInterface
public interface LatchkeyClientCustomizer {
    /**
     * Changes settings.
     *
     * @param builder the builder of the client
     */
    void customize(ZkLockClient.Builder builder);
}
