// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.store.ZnodeStore;
import java.io.IOException;

/** A ZooKeeper to try requests on: a real server, or the simulation. One thread, one step after the other. */
interface TestServer extends AutoCloseable {
    /** Opens a session; it is connected on return. */
    ZnodeStore open(ZnodeStore.Listener listener) throws IOException, InterruptedException;

    /** Lets everything arrive that follows from what was done. */
    void settle() throws InterruptedException;

    /** Ends the session by force; its client learns it with the next {@link #settle}. */
    void expire(ZnodeStore session) throws InterruptedException;

    /** Cuts the session's connection; its client is back after the next {@link #settle}. */
    void cut(ZnodeStore session);

    @Override
    void close();
}
