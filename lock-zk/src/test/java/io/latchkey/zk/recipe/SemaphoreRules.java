// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.recipe;

/** The semaphore's rule with another border between certificates and a line, so that small worlds have both. */
public final class SemaphoreRules {
    private SemaphoreRules() {}

    public static Rule withCertificatesUpTo(int capacity) {
        return new SemaphoreRule(capacity);
    }
}
