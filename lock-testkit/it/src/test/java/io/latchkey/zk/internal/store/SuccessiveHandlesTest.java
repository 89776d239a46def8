// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.proxy.FastReconnects;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.zk.internal.validity.ClockReading;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The handles of a client while no server answers. A handle that is closed then is as one that gave up: the servers
 * keep its session, and have reported no end of it.
 */
@Timeout(30)
class SuccessiveHandlesTest {
    private static final Duration SESSION = Duration.ofSeconds(20);

    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
    /** Handles are closed without their sleeps. */
    private final FastReconnects fast = FastReconnects.of(server.connectString());

    private final SuccessiveHandles handles = new SuccessiveHandles(
            new ZooKeeperHandles(server.connectString(), SESSION, List.of(), new ZKClientConfig()));
    private final List<ZooKeeper> opened = new ArrayList<>();
    private volatile ClockReading now = new ClockReading(0, 0);
    private long former;

    private ZooKeeper open(Watcher watcher) throws IOException {
        ZooKeeper handle = handles.open(watcher, new ConnectAttempts(() -> now));
        opened.add(handle);
        return handle;
    }

    private ZooKeeper open() throws IOException {
        return open(event -> {});
    }

    @BeforeEach
    void giveUpTheFirstSession() throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper first = open(event -> connected.countDown());
        assertTrue(connected.await(10, TimeUnit.SECONDS));
        assertFalse(handles.takesOver());
        former = first.getSessionId();
        server.stop();
        first.close();
    }

    @AfterEach
    void close() throws InterruptedException {
        for (ZooKeeper handle : opened) {
            handle.close();
        }
        fast.close();
        server.close();
    }

    @Test
    void formerSessionIsTakenOverAgain_whenTheHandleThatWasToCloseItGaveUp() throws Exception {
        ZooKeeper second = open();
        assertTrue(handles.takesOver());
        assertEquals(former, second.getSessionId());
        now = now.plus(SESSION);
        second.close();
        ZooKeeper third = open();
        assertTrue(handles.takesOver());
        assertEquals(former, third.getSessionId());
    }

    /** Such a handle cannot have given up: a server has ended its session, or it was closed for another cause. */
    @Test
    void newSessionIsOpened_whenTheHandleThatTookOverEndedBeforeASessionTimeout() throws Exception {
        ZooKeeper second = open();
        assertTrue(handles.takesOver());
        now = now.plus(SESSION.minusNanos(1));
        second.close();
        ZooKeeper third = open();
        assertFalse(handles.takesOver());
        assertEquals(0, third.getSessionId());
    }
}
