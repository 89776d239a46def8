// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.DataTree.ProcessTxnResult;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestProcessor;
import org.apache.zookeeper.server.SessionTracker.Session;
import org.apache.zookeeper.server.SessionTrackerImpl;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;

/**
 * The server with two levers: expiry by time can be held back, and requests of the server's own can be put into its
 * pipeline. Nothing is registered with JMX, so that servers of one process do not meet there.
 */
final class EmbeddedServer extends ZooKeeperServer {
    private final AtomicBoolean holdsExpiry;
    private final Set<Long> ending = ConcurrentHashMap.newKeySet();

    EmbeddedServer(
            FileTxnSnapLog files,
            int tickMillis,
            int minSessionMillis,
            int maxSessionMillis,
            AtomicBoolean holdsExpiry) {
        super(files, tickMillis, minSessionMillis, maxSessionMillis, -1, new ZKDatabase(files), "");
        this.holdsExpiry = holdsExpiry;
    }

    /** The head of the request pipeline, through which the server's own requests go. */
    RequestProcessor pipeline() {
        return firstProcessor;
    }

    @Override
    protected void createSessionTracker() {
        sessionTracker = new Tracker(this);
    }

    @Override
    protected void registerJMX() {}

    @Override
    protected void unregisterJMX() {}

    /**
     * Whether the session lives or its end is still being worked on: ZooKeeper first forgets the session and then
     * deletes its nodes, one by one.
     */
    boolean hasSession(long sessionId) {
        return getZKDatabase().getSessionWithTimeOuts().containsKey(sessionId) || ending.contains(sessionId);
    }

    @Override
    public ProcessTxnResult processTxn(Request request) {
        if (request.type != OpCode.closeSession) {
            return super.processTxn(request);
        }
        ending.add(request.sessionId);
        try {
            return super.processTxn(request);
        } finally {
            ending.remove(request.sessionId);
        }
    }

    /** Called by the tracker's thread when a session was not heard of for its timeout. */
    @Override
    public void expire(Session session) {
        if (!((Tracker) sessionTracker).spared(session)) {
            super.expire(session);
        }
    }

    /**
     * ZooKeeper's tracker marks a session as closing and then has it expired, both on its own thread. While expiry is
     * held, the first step renews the session instead, and the second is skipped.
     */
    private static final class Tracker extends SessionTrackerImpl {
        private final EmbeddedServer server;
        private long sparedSession;

        Tracker(EmbeddedServer server) {
            super(
                    server,
                    server.getZKDatabase().getSessionWithTimeOuts(),
                    server.getTickTime(),
                    1,
                    server.getZooKeeperServerListener());
            this.server = server;
            setDaemon(true);
        }

        @Override
        public synchronized void setSessionClosing(long sessionId) {
            if (Thread.currentThread() == this && server.holdsExpiry.get() && renewed(sessionId)) {
                sparedSession = sessionId;
            } else {
                super.setSessionClosing(sessionId);
            }
        }

        private boolean renewed(long sessionId) {
            Integer timeout = sessionsWithTimeout.get(sessionId);
            return timeout != null && touchSession(sessionId, timeout);
        }

        private synchronized boolean spared(Session session) {
            boolean spared = session.getSessionId() == sparedSession;
            sparedSession = 0;
            return spared;
        }
    }
}
