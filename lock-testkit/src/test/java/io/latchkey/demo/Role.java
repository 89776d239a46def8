// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import java.util.concurrent.Callable;
import org.apache.zookeeper.KeeperException;

/** What a client does, again and again. */
interface Role {
    /**
     * Does it once.
     *
     * @param name what to call this time: different from all others, those of other clients too
     * @return whether there is more to do
     */
    boolean once(Client client, String name) throws KeeperException, InterruptedException;

    /** To do it until there is no more to do. */
    default Callable<Void> playedBy(Client client) {
        return () -> {
            int number = 1;
            while (once(client, client.name() + "-turn-" + number)) {
                number++;
            }
            return null;
        };
    }
}
