// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import com.google.common.base.Utf8;
import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * The handles of one client, one after another. Each is opened on a thread of its own: one may be late, and is of no use
 * once the next is being opened.
 *
 * <p>ZooKeeper's client gives its session up when it has not heard of a server for four thirds of the timeout. The
 * servers may keep that session for longer, as after an outage, which gives every session its whole timeout again. Then
 * the client would wait for its own former nodes. So the next handle takes the former session over and closes it, or
 * learns that it has ended; only then is a handle with a new session opened.
 */
public final class SuccessiveHandles implements HandleOpener {
    private final ZooKeeperHandles handles;
    private final Duration sessionTimeout;
    private final AtomicInteger attemptsSinceConnected = new AtomicInteger();
    private final AtomicLong openings = new AtomicLong();
    /** The handle of the latest of the openings that are done. */
    private final AtomicReference<@Nullable OpenHandle> last = new AtomicReference<>();
    /** Those who wait while the chroot is being created. Guarded by itself. */
    private final List<RootWaiter> awaitRoot = new ArrayList<>(0);

    private record OpenHandle(long opening, ZooKeeper handle, ConnectAttempts attempts, boolean takesOver) {}

    /** @param wanted whether the chroot is created for this one */
    private record RootWaiter(BooleanSupplier wanted, Consumer<Response<Boolean>> then) {}

    public SuccessiveHandles(ZooKeeperHandles handles) {
        this.handles = handles;
        this.sessionTimeout = handles.sessionTimeout();
    }

    @Override
    public Opened open(Watcher watcher, ConnectAttempts attempts) throws IOException {
        long opening = openings.incrementAndGet();
        Optional<OpenHandle> former = Optional.ofNullable(last.get()).filter(this::gaveUp);
        HostProvider servers = handles.servers(attempts, attemptsSinceConnected);
        ZooKeeper opened = former.isPresent()
                ? handles.takeOver(former.get().handle(), watcher, servers)
                : handles.open(watcher, servers);
        OpenHandle next = new OpenHandle(opening, opened, attempts, former.isPresent());
        var unused = last.accumulateAndGet(
                next, (before, after) -> before != null && before.opening() > opening ? before : after);
        return new Opened(opened, former.isPresent(), SessionNodes.ofNewSession(Utf8.encodedLength(handles.chroot())));
    }

    /** Creates the chroot once for all that ask at a time. */
    @Override
    public void makeRoot(List<ACL> acl, Executor on, BooleanSupplier wanted, Consumer<Response<Boolean>> then) {
        if (!handles.hasChroot()) {
            HandleOpener.super.makeRoot(acl, on, wanted, then);
            return;
        }
        synchronized (awaitRoot) {
            awaitRoot.add(new RootWaiter(wanted, then));
            if (awaitRoot.size() > 1) {
                return;
            }
        }
        on.execute(() -> rootMade(made(acl)));
    }

    @Override
    public void onceNoRootIsMade(Runnable then) {
        synchronized (awaitRoot) {
            if (!awaitRoot.isEmpty()) {
                awaitRoot.add(new RootWaiter(() -> false, answer -> then.run()));
                return;
            }
        }
        then.run();
    }

    private boolean isRootWanted() {
        synchronized (awaitRoot) {
            return awaitRoot.stream().anyMatch(waiter -> waiter.wanted().getAsBoolean());
        }
    }

    private Response<Boolean> made(List<ACL> acl) {
        if (!isRootWanted()) {
            return Response.failed(Status.CONNECTION_LOSS, "The chroot is not created for a session that is closed");
        }
        try {
            handles.createChroot(acl, handles.chrootPatience(), this::isRootWanted);
            return Response.of(true);
        } catch (AccessDeniedException refused) {
            return Response.failed(Status.NO_AUTH, KeeperException.Code.NOAUTH.name());
        } catch (LockServiceUnavailableException | IOException lost) {
            return Response.failed(Status.CONNECTION_LOSS, String.valueOf(lost.getMessage()));
        } catch (LockException refused) {
            return Response.failed(Status.OTHER, String.valueOf(refused.getMessage()));
        } catch (InterruptedException cannotHappenHere) {
            Thread.currentThread().interrupt();
            return Response.failed(Status.CONNECTION_LOSS, String.valueOf(cannotHappenHere));
        } catch (Throwable noThread) {
            // A lack of threads or memory may pass, and all who wait for the chroot get this answer.
            return Response.failed(Status.CONNECTION_LOSS, String.valueOf(noThread));
        }
    }

    private void rootMade(Response<Boolean> answer) {
        List<RootWaiter> waiting;
        synchronized (awaitRoot) {
            waiting = List.copyOf(awaitRoot);
            awaitRoot.clear();
        }
        waiting.forEach(each -> each.then().accept(answer));
    }

    /**
     * Returns whether the handle's session may still live at the servers. A server that says that it has ended sets the
     * timeout to zero. A handle that takes over has no timeout before it is connected; if it tried for as long as a
     * session lasts, it may have given up without an answer.
     */
    private boolean gaveUp(OpenHandle opened) {
        ZooKeeper handle = opened.handle();
        if (handle.getState().isAlive()) {
            return false;
        }
        boolean connected = handle.getSessionTimeout() > 0;
        return opened.takesOver() ? !connected && opened.attempts().age().compareTo(sessionTimeout) >= 0 : connected;
    }
}
