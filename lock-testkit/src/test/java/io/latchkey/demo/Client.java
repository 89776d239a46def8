// SPDX-License-Identifier: Apache-2.0
package io.latchkey.demo;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException;

/** One of those who work on the same data. What it does is the same whether it takes locks or not. */
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
     * Does a piece of work. If the client loses the lock on the way, the work is left where it was.
     *
     * @param lock what to hold meanwhile
     * @return whether there is more to do: neither did the work end nor is it closing time
     */
    boolean turn(Function<LockClient, Acquirable> lock, Work work) throws KeeperException, InterruptedException;
}
