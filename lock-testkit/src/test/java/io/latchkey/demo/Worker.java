// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import java.util.concurrent.ThreadLocalRandom;
import org.apache.zookeeper.KeeperException;

/** Does a job that takes one permit or more. */
record Worker(Jobs jobs) implements Role {
    @Override
    public boolean once(Client client, String job) throws KeeperException, InterruptedException {
        int permits = ThreadLocalRandom.current().nextInt(1, Jobs.PERMITS + 1);
        return client.turn(locks -> Jobs.lock(locks).permits(permits), hold -> {
            hold.write(jobs.beginning(job, permits));
            Pause.think();
            hold.enter(job, jobs.ending(job, permits));
            return true;
        });
    }
}
