package io.latchkey.testkit;

import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxn;
import org.apache.zookeeper.util.ServiceUtils;

/** The server's connections, not registered with JMX, and good guests of the test's process. */
final class QuietConnections extends NIOServerCnxnFactory {
    private QuietConnections() {}

    /**
     * ZooKeeper's class, when it is loaded, replaces the process-wide handler of uncaught exceptions by one that only logs, which
     * would hide the failures of tests: it is put back. And a server that fails beyond repair ends the process: not here.
     */
    static QuietConnections make() {
        Thread.UncaughtExceptionHandler handler = Thread.getDefaultUncaughtExceptionHandler();
        QuietConnections made = new QuietConnections();
        Thread.setDefaultUncaughtExceptionHandler(handler);
        ServiceUtils.setSystemExitProcedure(ServiceUtils.LOG_ONLY);
        return made;
    }

    @Override
    public void registerConnection(ServerCnxn connection) {}

    @Override
    public void unregisterConnection(ServerCnxn connection) {}
}
