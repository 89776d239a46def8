// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/** A way to open handles of sessions that the client owns. Called on several threads at a time. */
@FunctionalInterface
public interface HandleOpener {
    /**
     * Opens a handle.
     *
     * @param attempts to be notified of attempts to connect
     */
    Opened open(Watcher watcher, ConnectAttempts attempts) throws IOException;

    /**
     * An open handle.
     *
     * @param takesOver whether it has a former session, which is only to be closed
     * @param nodes the ledger for the nodes of its session
     */
    record Opened(ZooKeeper handle, boolean takesOver, SessionNodes nodes) {
        /** Returns a handle with a new session, and without a chroot. */
        public static Opened withNewSession(ZooKeeper handle) {
            return new Opened(handle, false, SessionNodes.ofNewSession(0));
        }
    }

    /**
     * Creates the chroot of its handles again, as {@link ZnodeStore#makeRoot}, on a thread of {@code on}.
     *
     * @param wanted asked on that thread whether the caller still waits
     */
    default void makeRoot(List<ACL> acl, Executor on, BooleanSupplier wanted, Consumer<Response<Boolean>> then) {
        then.accept(Response.failed(Status.NO_NODE, KeeperException.Code.NONODE.name()));
    }

    /** Runs {@code then} once no chroot is being created, here or on the thread that does it. */
    default void onceNoRootIsMade(Runnable then) {
        then.run();
    }
}
