// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.boot;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.SessionState;
import io.latchkey.lock.SessionStatus;
import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.Version;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Two lines of the start: one while no server answers, one at the first connection. */
final class StartLog implements LockObserver {
    private static final Logger LOG = LoggerFactory.getLogger("io.latchkey.spring.boot.connection");
    /** A start with servers is faster. */
    private static final Duration SILENT = Duration.ofSeconds(1);

    private final String servers;
    private final boolean tls;
    private final Duration longest;
    private final CompletableFuture<LockClient> client = new CompletableFuture<>();
    private final AtomicBoolean logged = new AtomicBoolean();

    StartLog(String servers, boolean tls, Duration longest) {
        this.servers = servers;
        this.tls = tls;
        this.longest = longest;
    }

    interface Opener {
        LockClient open() throws InterruptedException;
    }

    /** Opens a client, and logs that the application waits for its servers if that takes long. */
    LockClient whileWaiting(Opener opening) throws InterruptedException {
        CountDownLatch open = new CountDownLatch(1);
        Callable<Boolean> waiting = () -> {
            boolean inTime = open.await(SILENT.toNanos(), TimeUnit.NANOSECONDS);
            if (!inTime) {
                LOG.info(
                        "The start waits for ZooKeeper at {}, for {} s at most (latchkey.connect-timeout)",
                        servers,
                        longest.toMillis() / 1000.0);
            }
            return inTime;
        };
        FutureTask<Boolean> task = new FutureTask<>(waiting);
        Thread thread = new Thread(task, "latchkey-start");
        thread.setDaemon(true);
        thread.start();
        EndOfRuntime end = new EndOfRuntime();
        end.begin();
        try {
            return opening.open();
        } finally {
            open.countDown();
            end.over();
        }
    }

    /**
     * Interrupts the opening thread when the runtime ends, by SIGTERM for example. The hook of Spring closes the
     * context, and waits for its start until then.
     */
    private static final class EndOfRuntime {
        private final Thread opener = Thread.currentThread();
        private final Thread hook = new Thread(this::interrupt, "latchkey-start-end");
        private boolean over;

        void begin() {
            try {
                Runtime.getRuntime().addShutdownHook(hook);
            } catch (IllegalStateException ending) {
                interrupt();
            }
        }

        private synchronized void interrupt() {
            if (!over) {
                opener.interrupt();
            }
        }

        synchronized void over() {
            over = true;
            try {
                boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException ending) {
                // The hook runs, or has run.
            }
        }
    }

    /** Takes the client, which may be connected. */
    void opened(LockClient opened) {
        if (opened.session().isConnected()) {
            connected(opened);
        } else {
            LOG.info(
                    "Connecting to ZooKeeper at {} in the background. Until then requests wait, within their timeouts",
                    servers);
        }
        client.complete(opened);
    }

    @Override
    public void sessionChanged(SessionState state) {
        if (state == SessionState.CONNECTED && !logged.get()) {
            var unused = client.thenAccept(this::connected);
        }
    }

    private void connected(LockClient opened) {
        if (logged.compareAndSet(false, true)) {
            SessionStatus session = opened.session();
            String version = ZkLockClient.class.getPackage().getImplementationVersion();
            LOG.info(
                    "Connected to ZooKeeper at {}{}: session 0x{}, session timeout {} ms. Latchkey{}, ZooKeeper client {}",
                    servers,
                    tls ? " by TLS" : "",
                    Long.toHexString(session.id()),
                    session.timeout().toMillis(),
                    version == null ? "" : " " + version,
                    Version.getVersion());
        }
    }
}
