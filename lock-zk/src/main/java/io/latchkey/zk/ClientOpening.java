// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import com.google.common.base.Utf8;
import io.latchkey.lock.LockException.Reason;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.client.LocalHandOff;
import io.latchkey.zk.internal.context.ClientConfig;
import io.latchkey.zk.internal.events.ObserverDispatcher;
import io.latchkey.zk.internal.locks.EngineLockClient;
import io.latchkey.zk.internal.queue.Owner;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/** Opens a client by its settings: its handle or a borrowed one, its threads, its engine. */
final class ClientOpening {
    private static final AtomicInteger NUMBER = new AtomicInteger();
    /** An allowance, since a borrowed handle does not expose its chroot. */
    private static final int UNKNOWN_CHROOT_BYTES = 100;

    private final ClientSettings settings;

    private record Started(EngineLockClient client, FirstContact contact) {}

    ClientOpening(ClientSettings settings) {
        this.settings = settings;
    }

    /** Opens the client as {@link ZkLockClient.Builder#build} says. */
    EngineLockClient open() {
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

    private EngineLockClient borrow(ZooKeeper handle) {
        ZooKeeperHandles.checkWatchReset(handle.getClientConfig());
        List<ACL> acls = effectiveAcl();
        Duration timeout = handle.getSessionTimeout() > 0
                ? Duration.ofMillis(handle.getSessionTimeout())
                : settings.sessionTimeout;
        return start(
                        new ClientConfig.Source.Borrowed(listener -> ZooKeeperStore.borrow(handle, acls, listener)),
                        timeout,
                        "the borrowed handle's servers",
                        () -> false,
                        memberBytes(acls, UNKNOWN_CHROOT_BYTES))
                .client();
    }

    private EngineLockClient connect(String servers) {
        ZooKeeperHandles handles =
                new ZooKeeperHandles(servers, settings.sessionTimeout, settings.auth, settings.clientConfig);
        if (settings.connectTimeout == null) {
            handles.checkHosts();
        }
        List<ACL> acls = effectiveAcl();
        SuccessiveHandles sessions = new SuccessiveHandles(handles);
        Started started;
        try {
            started = start(
                    new ClientConfig.Source.Own(listener -> ZooKeeperStore.open(sessions, acls, listener)),
                    settings.sessionTimeout,
                    servers,
                    handles::allRefuse,
                    memberBytes(acls, Utf8.encodedLength(handles.chroot())));
        } catch (LockUnavailableException late) {
            if (late.reason() != Reason.INTERRUPTED) {
                // The names were looked up at each attempt: that none has an address explains more than a timeout.
                handles.checkHosts();
            }
            throw late;
        }
        try {
            if (!Duration.ZERO.equals(settings.connectTimeout)) {
                started.contact().checkLoginAndChroot(handles, acls);
            }
        } catch (RuntimeException | Error failed) {
            started.client().close();
            throw failed;
        }
        return started.client();
    }

    /** Returns the bytes of a member of a multi-lock in a request, besides its path and the owner. */
    private static int memberBytes(List<ACL> acls, int chrootBytes) {
        return 2 * ZooKeeperHandles.bytesOf(acls) + 3 * chrootBytes;
    }

    private Started start(
            ClientConfig.Source source, Duration timeout, String servers, BooleanSupplier allRefuse, int memberBytes) {
        int number = NUMBER.incrementAndGet();
        Clock time = new SystemClock("latchkey-timer-" + number, timeout);
        CallbackThreads callbackThreads =
                new CallbackThreads("latchkey-callback-" + number, Optional.ofNullable(settings.callbacks), time);
        ExecutorService relief = DaemonThreads.pool(1, "latchkey-relief-" + number);
        SecureRandom seed = new SecureRandom();
        SplittableRandom ids = new SplittableRandom(seed.nextLong());
        Optional<ObserverDispatcher> dispatcher =
                settings.observer.map(each -> new ObserverDispatcher(each, "latchkey-observer-" + number));
        int hidden = settings.basePath.length();
        Owner owner = new Owner(hostName(), ProcessHandle.current().pid(), settings.label);
        Engine engine = new Engine(new ClientConfig(
                source,
                timeout,
                settings.validityMargin,
                owner,
                ids::nextLong,
                time,
                callbackThreads,
                relief,
                path -> path.substring(hidden),
                settings.layout.naming(),
                dispatcher));
        Runnable threadsEnd = () -> {
            callbackThreads.close();
            relief.shutdown();
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
            contact.awaitConnection(patience, () -> settings.connectTimeout == null && allRefuse.getAsBoolean());
        } catch (RuntimeException | Error failed) {
            client.close();
            throw failed;
        } catch (IOException failed) {
            client.close();
            throw new LockUnavailableException("Cannot open a ZooKeeper handle to " + servers + ": " + failed);
        } catch (InterruptedException interrupted) {
            client.close();
            Thread.currentThread().interrupt();
            throw new LockUnavailableException("Interrupted while connecting to " + servers + ".", Reason.INTERRUPTED);
        }
        return new Started(client, contact);
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException unnamed) {
            return "";
        }
    }
}
