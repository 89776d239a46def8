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
import io.latchkey.zk.internal.store.SessionNodes;
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
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/** Opens a client by its settings: its handle or a borrowed one, its threads, its engine. */
final class ClientOpening {
    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static final int CALLBACK_THREADS = 4;
    /** Threads of bodies whose interruption may be stuck at the same time, and one more. */
    private static final int MOST_ALARMS = 64;
    /** Handles that may be closing at the same time, and one that opens. */
    private static final int MOST_HANDLES = 8;

    private final ClientSettings settings;

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
                acls,
                null);
    }

    private EngineLockClient connect(String servers) throws InterruptedException {
        ZooKeeperHandles handles =
                new ZooKeeperHandles(servers, settings.sessionTimeout, settings.auth, settings.clientConfig);
        if (settings.connectTimeout == null) {
            handles.checkHosts();
        }
        List<ACL> acls = effectiveAcl();
        SuccessiveHandles sessions = new SuccessiveHandles(handles);
        return start(
                closing -> new ClientConfig.Source.Own(listener -> new CountedStore(
                        ZooKeeperStore.open(sessions, acls, closing, listener), settings.sessionNodeBytes)),
                settings.sessionTimeout,
                acls,
                handles);
    }

    /** @param threads takes those of the exits, but the observer's, which ends itself */
    private Outbox outbox(int number, Clock time, List<DaemonThreads> threads) {
        DaemonThreads lines = new DaemonThreads(1, "latchkey-log-" + number, time);
        ClientLog log = new ClientLog(lines);
        DaemonThreads alarms = DaemonThreads.prompt(MOST_ALARMS, "latchkey-alarm-" + number, time);
        DaemonThreads callbacks = new DaemonThreads(CALLBACK_THREADS, "latchkey-callback-" + number, time);
        DaemonThreads handles = DaemonThreads.prompt(MOST_HANDLES, "latchkey-handle-" + number, time);
        threads.addAll(List.of(alarms, callbacks, handles, lines)); // lines that come after the close are still written
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
                settings.observer.map(observer -> observer(observer, number, time, log)));
    }

    private static ObserverDispatcher observer(LockObserver observer, int number, Clock time, ClientLog log) {
        DaemonThreads thread = new DaemonThreads(1, "latchkey-observer-" + number, time);
        return new ObserverDispatcher(observer, thread, log, thread::close);
    }

    /** Returns the bytes of a member of a multi-lock in a request, besides its path and the owner. */
    private static int memberBytes(List<ACL> acls, int chrootBytes) {
        return 2 * ZooKeeperHandles.bytesOf(acls) + 3 * chrootBytes;
    }

    /** @param handles opens the handles; null if the handle is borrowed */
    private EngineLockClient start(
            Function<Executor, ClientConfig.Source> source,
            Duration timeout,
            List<ACL> acls,
            @Nullable ZooKeeperHandles handles)
            throws InterruptedException {
        int number = NUMBER.incrementAndGet();
        Clock time = new SystemClock(DaemonThreads.factory("latchkey-timer-" + number), timeout);
        DaemonThreads relief = new DaemonThreads(1, "latchkey-relief-" + number, time);
        List<DaemonThreads> threads = new ArrayList<>(List.of(relief));
        Outbox outbox = outbox(number, time, threads);
        SecureRandom seed = new SecureRandom();
        SplittableRandom ids = new SplittableRandom(seed.nextLong());
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
                settings.layout.naming()));
        int chroot = handles == null ? SessionNodes.UNKNOWN_CHROOT : Utf8.encodedLength(handles.chroot());
        EngineLockClient client = new EngineLockClient(
                engine,
                settings.basePath,
                () -> threads.forEach(DaemonThreads::close),
                settings.turnBounds.map(bounds -> new LocalHandOff(engine, bounds.most(), bounds.longest())),
                owner.data().length + memberBytes(acls, chroot));
        FirstContact contact = new FirstContact(engine, handles, settings.connectTimeout, timeout);
        try {
            engine.start();
            contact.await(acls);
        } catch (RuntimeException | Error | InterruptedException failed) {
            client.close();
            throw failed;
        } catch (IOException failed) {
            client.close();
            throw new LockServiceUnavailableException(
                    "Cannot open a ZooKeeper handle to " + contact.named() + ": " + failed);
        }
        return client;
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException unnamed) {
            return "";
        }
    }
}
