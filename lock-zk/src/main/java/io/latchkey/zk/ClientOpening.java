// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import com.google.common.base.Utf8;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.client.LocalHandOff;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.events.ClientLog;
import io.latchkey.zk.internal.events.ObserverDispatcher;
import io.latchkey.zk.internal.events.Outbox;
import io.latchkey.zk.internal.locks.EngineLockClient;
import io.latchkey.zk.internal.queue.OwnerData;
import io.latchkey.zk.internal.store.CountedStore;
import io.latchkey.zk.internal.store.SuccessiveHandles;
import io.latchkey.zk.internal.store.ZooKeeperHandles;
import io.latchkey.zk.internal.store.ZooKeeperStore;
import io.latchkey.zk.internal.threads.CallbackThreads;
import io.latchkey.zk.internal.threads.DaemonThreads;
import io.latchkey.zk.internal.validity.Clock;
import io.latchkey.zk.internal.validity.SystemClock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/** Opens a client by its settings: its handle or a borrowed one, its threads, its engine. */
final class ClientOpening {
    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static final int CALLBACK_THREADS = 4;
    /** Threads of bodies whose interruption may be stuck at the same time, and one more. */
    private static final int MOST_ALARMS = 64;
    /** Handles that may be closing at the same time, and one that opens. */
    private static final int MOST_HANDLES = 8;
    /** An allowance, since a borrowed handle does not expose its chroot. */
    private static final int UNKNOWN_CHROOT_BYTES = 100;

    private final ClientSettings settings;

    private record StartedClient(EngineLockClient client, FirstContact contact) {}

    /**
     * The servers of a connect string.
     *
     * @param mayGiveUp whether it is an error at once that all of them refuse connections
     */
    private record NamedServers(ZooKeeperHandles handles, boolean mayGiveUp) implements FirstContact.Servers {
        @Override
        public String named() {
            return handles.connectString();
        }

        @Override
        public boolean allRefuse() {
            return mayGiveUp && handles.allRefuse();
        }

        @Override
        public Optional<LockServiceUnavailableException> explain() {
            return handles.explainByTls();
        }
    }

    /** The servers of a handle that the caller owns, which are not known. */
    private record BorrowedServers() implements FirstContact.Servers {
        @Override
        public String named() {
            return "the borrowed handle's servers";
        }

        @Override
        public boolean allRefuse() {
            return false;
        }

        @Override
        public Optional<LockServiceUnavailableException> explain() {
            return Optional.empty();
        }
    }

    ClientOpening(ClientSettings settings) {
        this.settings = settings;
    }

    /** Opens the client as {@link ZkLockClient.Builder#build} says. */
    EngineLockClient open() throws InterruptedException {
        String servers = settings.connectString;
        ZooKeeper handle = settings.borrowed;
        if (servers != null && handle == null) {
            return connect(servers);
        }
        if (handle == null || servers != null) {
            throw new IllegalStateException("Give either connectString(...) or using(zooKeeper), not both.");
        }
        if (!settings.auth.isEmpty()) {
            throw new IllegalStateException(
                    "A borrowed handle has its own credentials: pass them to its addAuthInfo(...), and set the ACL here.");
        }
        return borrow(handle);
    }

    private List<ACL> effectiveAcl() {
        if (settings.acl != null) {
            return settings.acl;
        }
        return settings.auth.isEmpty() ? ZooKeeperHandles.OPEN_ACL : ZooKeeperHandles.CREATOR_ACL;
    }

    private EngineLockClient borrow(ZooKeeper handle) throws InterruptedException {
        ZooKeeperHandles.checkWatchReset(handle.getClientConfig());
        List<ACL> acls = effectiveAcl();
        Duration timeout = handle.getSessionTimeout() > 0
                ? Duration.ofMillis(handle.getSessionTimeout())
                : settings.sessionTimeout;
        return start(
                        handles -> new ClientConfig.Source.Borrowed(listener -> new CountedStore(
                                ZooKeeperStore.borrow(handle, acls, handles, listener), settings.sessionNodeBytes)),
                        timeout,
                        new BorrowedServers(),
                        memberBytes(acls, UNKNOWN_CHROOT_BYTES))
                .client();
    }

    private EngineLockClient connect(String servers) throws InterruptedException {
        ZooKeeperHandles handles =
                new ZooKeeperHandles(servers, settings.sessionTimeout, settings.auth, settings.clientConfig);
        if (settings.connectTimeout == null) {
            handles.checkHosts();
        }
        List<ACL> acls = effectiveAcl();
        SuccessiveHandles sessions = new SuccessiveHandles(handles);
        StartedClient started;
        try {
            started = start(
                    closing -> new ClientConfig.Source.Own(listener -> new CountedStore(
                            ZooKeeperStore.open(sessions, acls, closing, listener), settings.sessionNodeBytes)),
                    settings.sessionTimeout,
                    new NamedServers(handles, settings.connectTimeout == null),
                    memberBytes(acls, Utf8.encodedLength(handles.chroot())));
        } catch (LockServiceUnavailableException late) {
            // The names were looked up at each attempt: that none has an address explains more than a timeout.
            handles.checkHosts();
            throw late;
        }
        try {
            if (!Duration.ZERO.equals(settings.connectTimeout)) {
                started.contact().checkLoginAndChroot(handles, acls);
            }
        } catch (RuntimeException | Error | InterruptedException failed) {
            started.client().close();
            throw failed;
        }
        return started.client();
    }

    private Outbox outbox(int number, Clock time) {
        DaemonThreads lines = new DaemonThreads(1, "latchkey-log-" + number, time);
        ClientLog log = new ClientLog(lines, lines::close);
        DaemonThreads alarms = DaemonThreads.prompt(MOST_ALARMS, "latchkey-alarm-" + number, time);
        DaemonThreads callbacks = new DaemonThreads(CALLBACK_THREADS, "latchkey-callback-" + number, time);
        DaemonThreads handles = DaemonThreads.prompt(MOST_HANDLES, "latchkey-handle-" + number, time);
        Executor given = settings.callbacks;
        return new Outbox(
                alarms,
                given == null
                        ? callbacks
                        : new CallbackThreads(
                                callbacks,
                                given,
                                refused -> log.warn(
                                        CallbackThreads.class,
                                        "The callback executor {} refused a task, which runs on a thread of the lock"
                                                + " client instead. Logged once.",
                                        given,
                                        refused)),
                handles,
                log,
                settings.observer.map(observer -> observer(observer, number, time, log)),
                () -> {
                    alarms.close();
                    callbacks.close();
                    handles.close();
                    log.close();
                });
    }

    private static ObserverDispatcher observer(LockObserver observer, int number, Clock time, ClientLog log) {
        DaemonThreads thread = new DaemonThreads(1, "latchkey-observer-" + number, time);
        return new ObserverDispatcher(observer, thread, log, thread::close);
    }

    /** Returns the bytes of a member of a multi-lock in a request, besides its path and the owner. */
    private static int memberBytes(List<ACL> acls, int chrootBytes) {
        return 2 * ZooKeeperHandles.bytesOf(acls) + 3 * chrootBytes;
    }

    private StartedClient start(
            Function<Executor, ClientConfig.Source> source,
            Duration timeout,
            FirstContact.Servers servers,
            int memberBytes)
            throws InterruptedException {
        int number = NUMBER.incrementAndGet();
        Clock time = new SystemClock(DaemonThreads.factory("latchkey-timer-" + number), timeout);
        DaemonThreads relief = new DaemonThreads(1, "latchkey-relief-" + number, time);
        Outbox outbox = outbox(number, time);
        SecureRandom seed = new SecureRandom();
        SplittableRandom ids = new SplittableRandom(seed.nextLong());
        int hidden = settings.basePath.length();
        OwnerData owner = new OwnerData(hostName(), ProcessHandle.current().pid(), settings.label);
        Engine engine = new Engine(new ClientConfig(
                source.apply(outbox.handles()),
                timeout,
                settings.validityMargin,
                owner,
                ids::nextLong,
                time,
                outbox,
                relief,
                path -> path.substring(hidden),
                settings.layout.naming()));
        Runnable threadsEnd = () -> {
            outbox.end().run();
            relief.close();
        };
        EngineLockClient client = new EngineLockClient(
                engine,
                settings.basePath,
                threadsEnd,
                settings.turnBounds.map(bounds -> new LocalHandOff(engine, bounds.most(), bounds.longest())),
                owner.data().length + memberBytes);
        FirstContact contact = new FirstContact(engine, servers);
        Duration patience = settings.connectTimeout == null ? timeout : settings.connectTimeout;
        try {
            engine.start();
            contact.awaitConnection(patience);
        } catch (RuntimeException | Error | InterruptedException failed) {
            client.close();
            throw failed;
        } catch (IOException failed) {
            client.close();
            throw new LockServiceUnavailableException(
                    "Cannot open a ZooKeeper handle to " + servers.named() + ": " + failed);
        }
        return new StartedClient(client, contact);
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException unnamed) {
            return "";
        }
    }
}
