// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.event.EventListener;
import org.springframework.integration.leader.event.OnGrantedEvent;
import org.springframework.integration.leader.event.OnRevokedEvent;
import org.springframework.stereotype.Component;

/** The work of the leader: here a line in the log. */
@Component
class Dunning {
    private static final Logger LOG = LoggerFactory.getLogger(Dunning.class);

    @EventListener
    void begin(OnGrantedEvent granted) {
        LOG.info("leader of {}", granted.getRole());
    }

    @EventListener
    void end(OnRevokedEvent revoked) {
        LOG.info("no longer leader of {}", revoked.getRole());
    }
}
