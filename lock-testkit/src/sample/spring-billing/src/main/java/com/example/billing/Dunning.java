// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import io.latchkey.spring.leadership.LeaderElectedEvent;
import io.latchkey.spring.leadership.LeaderTermOverEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Component;

/** The work of the leader: here a line in the log. */
@Component
class Dunning {
    private static final Logger LOG = LoggerFactory.getLogger(Dunning.class);

    @EventListener
    void begin(LeaderElectedEvent elected) {
        LOG.info("leader of {}", elected.role());
    }

    @EventListener
    void end(LeaderTermOverEvent over) {
        LOG.info("no longer leader of {}", over.role());
    }
}
