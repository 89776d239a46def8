// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.SessionState;
import io.latchkey.lock.SessionStatus;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * The health of the lock client: up while its session is connected, out of service while it reconnects, down after its
 * end. Asks no server.
 */
final class LocksHealthIndicator extends AbstractHealthIndicator {
    private final LockClient client;

    LocksHealthIndicator(LockClient client) {
        super("the state of the lock client is unknown");
        this.client = client;
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        SessionStatus session = client.session();
        if (session.isConnected()) {
            health.up();
        } else if (session.state() == SessionState.CLOSED) {
            health.down();
        } else {
            health.outOfService();
        }
        health.withDetail("state", session.state())
                .withDetail("since", session.since())
                .withDetail("sessionTimeout", session.timeout());
    }
}
