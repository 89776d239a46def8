// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import java.time.Duration;
import java.util.List;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** A job that one instance at a time does: a statement for each account. It stops between two statements. */
@Component
public class Statements {
    private static final Logger LOG = LoggerFactory.getLogger(Statements.class);

    private final Accounts accounts;
    private final Duration printTime;
    private volatile boolean stopping;

    Statements(Accounts accounts, @Value("${billing.statements.print-time}") Duration printTime) {
        this.accounts = accounts;
        this.printTime = printTime;
    }

    @Scheduled(fixedDelayString = "${billing.statements.every}")
    @SchedulerLock(name = "statements", lockAtMostFor = "10m", lockAtLeastFor = "${billing.statements.at-least}")
    public void write() throws InterruptedException {
        List<String> all = accounts.all();
        int done = 0;
        for (String account : all) {
            if (stopping) {
                LOG.info("statements: stopped after {} of {}", done, all.size());
                return;
            }
            LOG.info("statement of {}: {}", account, accounts.balance(account));
            Thread.sleep(printTime.toMillis()); // a slow printer
            done++;
        }
        LOG.info("statements: all {} written", done);
    }

    /** The first thing that happens when the service stops. */
    @EventListener(ContextClosedEvent.class)
    void stop() {
        stopping = true;
    }
}
