// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.session;

import io.latchkey.zk.internal.client.Engine;

/** Whether a client waits for a heartbeat, which users do not see. */
public final class AwaitedProof {
    private AwaitedProof() {}

    /**
     * Returns whether a request of this client only waits for a proof of its session: that the validity period has not
     * ended, or that leases would survive the loss of the connection. Not to be called by a task of the client.
     */
    public static boolean isAwaitedBy(Engine client) {
        return client.queries()
                .<Boolean>inSession((session, then) -> {
                    Heartbeat heartbeat = session.heartbeat();
                    then.complete(!heartbeat.confirming.isEmpty() || !heartbeat.risky.isEmpty());
                })
                .exceptionally(withoutSession -> false)
                .join();
    }
}
