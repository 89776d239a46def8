// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/** ZooKeeper's own client, connected, with the states of its session in a queue. */
public final class PlainClient implements AutoCloseable {
    private final BlockingQueue<KeeperState> states = new LinkedBlockingQueue<>();
    private final CountDownLatch connected = new CountDownLatch(1);
    private final ZooKeeper zooKeeper;

    public PlainClient(String connectString, Duration sessionTimeout) throws Exception {
        zooKeeper = new ZooKeeper(connectString, (int) sessionTimeout.toMillis(), this::process);
        if (!connected.await(30, TimeUnit.SECONDS)) {
            zooKeeper.close();
            throw new AssertionError("not connected to " + connectString);
        }
        states.clear();
    }

    private void process(WatchedEvent event) {
        if (event.getPath() == null) {
            states.add(event.getState());
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        }
    }

    public ZooKeeper zooKeeper() {
        return zooKeeper;
    }

    public long session() {
        return zooKeeper.getSessionId();
    }

    public String create(String path, CreateMode mode) throws KeeperException, InterruptedException {
        return zooKeeper.create(path, new byte[] {1}, Ids.OPEN_ACL_UNSAFE, mode);
    }

    /** Waits for the session to come into this state, whatever comes before; returns the milliseconds that took. */
    public double awaitState(KeeperState wanted, Duration within) throws InterruptedException {
        long start = System.nanoTime();
        while (true) {
            long rest = within.toNanos() - (System.nanoTime() - start);
            KeeperState state = states.poll(rest, TimeUnit.NANOSECONDS);
            if (state == null) {
                throw new AssertionError("not " + wanted + " within " + within);
            }
            if (state == wanted) {
                return (System.nanoTime() - start) / 1e6;
            }
        }
    }

    @Override
    public void close() {
        try {
            zooKeeper.close(1000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
