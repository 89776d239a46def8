// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException;

/** A client that works on shared data. Its work is the same with and without locks. */
interface Client {
    /** What to do in a turn. */
    interface Work {
        /**
         * Does it.
         *
         * @return whether there is more to do
         */
        boolean during(Hold hold) throws KeeperException, InterruptedException;
    }

    /** A name, different for every client. */
    String name();

    /**
     * Does a piece of work. If the client loses the lock during it, the work stays incomplete.
     *
     * @param lock the lock to hold during the work
     * @return whether there is more to do: neither did the work end nor is it closing time
     */
    boolean turn(Function<LockClient, Acquirable> lock, Work work) throws KeeperException, InterruptedException;
}
