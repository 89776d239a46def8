// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxn;
import org.apache.zookeeper.util.ServiceUtils;

/** The server's connections, not registered with JMX, and good guests of the test's process. */
final class QuietConnections {
    private QuietConnections() {}

    /**
     * ZooKeeper's class, when it is loaded, replaces the process-wide handler of uncaught exceptions by one that only
     * logs, which would hide the failures of tests: it is put back. So this class must not be a subclass of that one:
     * it would be loaded before the first line here. One at a time, or the second of two first servers could take
     * ZooKeeper's handler for the test's. And a server that fails beyond repair ends the process: not here.
     */
    static synchronized NIOServerCnxnFactory make() {
        Thread.UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();
        NIOServerCnxnFactory made = new UnregisteredFactory();
        Thread.setDefaultUncaughtExceptionHandler(handler);
        ServiceUtils.setSystemExitProcedure(ServiceUtils.LOG_ONLY);
        return made;
    }

    private static final class UnregisteredFactory extends NIOServerCnxnFactory {
        @Override
        public void registerConnection(ServerCnxn connection) {}

        @Override
        public void unregisterConnection(ServerCnxn connection) {}
    }
}
