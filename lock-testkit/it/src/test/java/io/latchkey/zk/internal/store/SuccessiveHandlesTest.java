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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher;
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

    private final SuccessiveHandles handles =
            new SuccessiveHandles(new ZooKeeperHandles(server.connectString(), SESSION, List.of(), new LateConfig()));
    private final List<HandleOpener.Opened> opened = new CopyOnWriteArrayList<>();
    /** What the constructor of a handle waits for on each thread. */
    private final ThreadLocal<Runnable> whileOpening = ThreadLocal.withInitial(() -> () -> {});

    private volatile ClockReading now = new ClockReading(0, 0);
    private long former;

    /** ZooKeeper's client reads its settings in the constructor of a handle. */
    private final class LateConfig extends ZKClientConfig {
        @Override
        public String getProperty(String key) {
            if (whileOpening != null) { // not in the constructor of the settings
                whileOpening.get().run();
            }
            return super.getProperty(key);
        }
    }

    private HandleOpener.Opened open(Watcher watcher) throws IOException {
        HandleOpener.Opened next = handles.open(watcher, new ConnectAttempts(() -> now));
        opened.add(next);
        return next;
    }

    private HandleOpener.Opened open() throws IOException {
        return open(event -> {});
    }

    @BeforeEach
    void giveUpTheFirstSession() throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        HandleOpener.Opened first = open(event -> connected.countDown());
        assertTrue(connected.await(10, TimeUnit.SECONDS));
        assertFalse(first.takesOver());
        former = first.handle().getSessionId();
        server.stop();
        first.handle().close();
    }

    @AfterEach
    void close() throws InterruptedException {
        for (HandleOpener.Opened each : opened) {
            each.handle().close();
        }
        fast.close();
        server.close();
    }

    @Test
    void formerSessionIsTakenOverAgain_whenTheHandleThatWasToCloseItGaveUp() throws Exception {
        HandleOpener.Opened second = open();
        assertTrue(second.takesOver());
        assertEquals(former, second.handle().getSessionId());
        now = now.plus(SESSION);
        second.handle().close();
        HandleOpener.Opened third = open();
        assertTrue(third.takesOver());
        assertEquals(former, third.handle().getSessionId());
    }

    /** Such a handle cannot have given up: a server has ended its session, or it was closed for another cause. */
    @Test
    void newSessionIsOpened_whenTheHandleThatTookOverEndedBeforeASessionTimeout() throws Exception {
        HandleOpener.Opened second = open();
        assertTrue(second.takesOver());
        now = now.plus(SESSION.minusNanos(1));
        second.handle().close();
        HandleOpener.Opened third = open();
        assertFalse(third.takesOver());
        assertEquals(0, third.handle().getSessionId());
    }

    /** A core that has failed may still open its handle while the next one opens several. */
    @Test
    void newSessionStaysNew_whenTheFormerOneIsTakenOverLater() throws Exception {
        CompletableFuture<Void> begun = new CompletableFuture<>();
        CompletableFuture<Void> goesOn = new CompletableFuture<>();
        FutureTask<HandleOpener.Opened> late = new FutureTask<>(() -> {
            whileOpening.set(() -> {
                begun.complete(null);
                goesOn.join();
            });
            return open();
        });
        new Thread(late).start();
        begun.join();
        open().handle().close();
        HandleOpener.Opened third = open();
        goesOn.complete(null);
        HandleOpener.Opened overtaken = late.get();
        assertTrue(overtaken.takesOver());
        assertEquals(former, overtaken.handle().getSessionId());
        assertFalse(third.takesOver());
        assertEquals(0, third.handle().getSessionId());
        now = now.plus(SESSION);
        overtaken.handle().close();
        third.handle().close();
        assertFalse(open().takesOver(), "the latest handle has had no session");
    }
}
