// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import com.google.common.base.Utf8;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.HostProvider;
import org.jspecify.annotations.Nullable;

/**
 * The handles of one client, one after another. Used on the client's serial executor.
 *
 * <p>ZooKeeper's client gives its session up when it has not heard of a server for four thirds of the timeout. The
 * servers may keep that session for longer, as after an outage, which gives every session its whole timeout again. Then
 * the client would wait for its own former nodes. So the next handle takes the former session over and closes it, or
 * learns that it has ended; only then is a handle with a new session opened.
 */
public final class SuccessiveHandles implements ZooKeeperStore.Opener {
    private final ZooKeeperHandles handles;
    private final Duration sessionTimeout;
    private final AtomicInteger attemptsSinceConnected = new AtomicInteger();
    private @Nullable Opened last;

    private record Opened(ZooKeeper handle, ConnectAttempts attempts, boolean takesOver, SessionNodes nodes) {}

    public SuccessiveHandles(ZooKeeperHandles handles) {
        this.handles = handles;
        this.sessionTimeout = handles.sessionTimeout();
    }

    @Override
    public ZooKeeper open(Watcher watcher, ConnectAttempts attempts) throws IOException {
        Optional<Opened> former = Optional.ofNullable(last).filter(this::gaveUp);
        HostProvider servers = handles.servers(attempts, attemptsSinceConnected);
        ZooKeeper opened = former.isPresent()
                ? handles.takeOver(former.get().handle(), watcher, servers)
                : handles.open(watcher, servers);
        SessionNodes nodes = former.map(Opened::nodes)
                .orElseGet(() -> SessionNodes.ofNewSession(Utf8.encodedLength(handles.chroot())));
        last = new Opened(opened, attempts, former.isPresent(), nodes);
        return opened;
    }

    @Override
    public SessionNodes nodes() {
        return Objects.requireNonNull(last, "no handle was opened").nodes();
    }

    @Override
    public boolean takesOver() {
        return last != null && last.takesOver();
    }

    /**
     * Returns whether the handle's session may still live at the servers. A server that says that it has ended sets the
     * timeout to zero. A handle that takes over has no timeout before it is connected; if it tried for as long as a
     * session lasts, it may have given up without an answer.
     */
    private boolean gaveUp(Opened opened) {
        ZooKeeper handle = opened.handle();
        if (handle.getState().isAlive()) {
            return false;
        }
        boolean connected = handle.getSessionTimeout() > 0;
        return opened.takesOver() ? !connected && opened.attempts().age().compareTo(sessionTimeout) >= 0 : connected;
    }
}
