// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import com.google.common.collect.Comparators;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockException.Reason;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.zk.internal.client.Engine;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.Throttling;
import io.latchkey.zk.internal.store.ZooKeeperHandles;
import io.latchkey.zk.internal.threads.CallerWait;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * The first contact of a client with its servers: the wait for a connection, and the check of login and chroot. Its
 * errors say what to check, since a wrong address, a refused login and a missing chroot look alike from outside.
 */
final class FirstContact {
    private static final Duration QUICK_CONNECT = Duration.ofSeconds(1);
    /** Enough for several reconnects of ZooKeeper's client, which take one to two seconds each. */
    private static final Duration LOGIN_TIMEOUT = Duration.ofSeconds(10);

    private final Engine engine;
    /** Opens the handles; null if the handle is borrowed: its servers are not known. */
    private final @Nullable ZooKeeperHandles handles;
    /** How long it waits at most, as the user has set it; null for the default. */
    private final @Nullable Duration given;

    private final Duration patience;
    private final long begun = System.nanoTime();

    /**
     * @param given how long it waits at most; zero for not at all; null for {@code otherwise}, and no longer once all
     *     servers refuse connections, so that the address is wrong
     */
    FirstContact(Engine engine, @Nullable ZooKeeperHandles handles, @Nullable Duration given, Duration otherwise) {
        this.engine = engine;
        this.handles = handles;
        this.given = given;
        this.patience = given == null ? otherwise : given;
    }

    /**
     * Waits for the first connection, and checks login and chroot. Creates a missing chroot.
     *
     * @param acl the rights to it
     */
    void await(List<ACL> acl) throws InterruptedException {
        if (!patience.isZero()) {
            awaitConnection();
            checkLoginAndChroot(acl);
        }
    }

    /** Returns the time that is left for login and chroot: by default enough, however late the connection came. */
    private Duration left() {
        Duration left = patience.minusNanos(System.nanoTime() - begun);
        return Comparators.max(given == null ? LOGIN_TIMEOUT : Duration.ZERO, left);
    }

    /** Returns the servers, for error texts. */
    String named() {
        return handles == null ? "the borrowed handle's servers" : handles.connectString();
    }

    private void awaitConnection() throws InterruptedException {
        Duration first = Comparators.min(patience, QUICK_CONNECT);
        if (engine.awaitConnection(first)) {
            return;
        }
        if (given == null && handles != null && handles.allRefuse()) {
            throw new LockServiceUnavailableException("No ZooKeeper server listens at " + named()
                    + ": every connection is refused. Nothing was sent. Check the connect string, and that the"
                    + " servers run. To wait for servers that start later, give a connectTimeout,"
                    + " or --connect-timeout on the command line.");
        }
        if (!engine.awaitConnection(patience.minus(first))) {
            if (handles != null) {
                // The names were looked up at each attempt: that none has an address explains more than a timeout.
                handles.checkHosts();
                Optional<LockServiceUnavailableException> explained = handles.explainByTls();
                if (explained.isPresent()) {
                    throw explained.get();
                }
            }
            throw new LockServiceUnavailableException("No connection to ZooKeeper at " + named() + " within "
                    + patience.toMillis() + " ms. Nothing was sent. Check the connect string, and that the servers"
                    + " run and have a quorum: a server without one refuses clients that write, or is read-only.");
        }
    }

    /**
     * Sends a request after connecting, since the server refuses credentials, and reports a missing chroot, only in
     * response to one.
     */
    private void checkLoginAndChroot(List<ACL> acl) throws InterruptedException {
        if (handles == null || (handles.auth().isEmpty() && !handles.hasChroot())) {
            return;
        }
        try {
            CompletableFuture<Status> asked = askForRoot();
            Duration longest = Comparators.min(left(), LOGIN_TIMEOUT);
            if (!CallerWait.await(asked, longest)) {
                throw new LockServiceUnavailableException("No answer within " + longest.toMillis()
                        + " ms to the question whether the chroot of " + handles.connectString()
                        + " exists. Nothing was changed. Try again.");
            }
            Status code = Errors.valueOf(asked);
            if (code == Status.LOGIN_REFUSED) {
                throw Errors.loginRefused();
            }
            if (code == Status.SESSION_EXPIRED) {
                throw new LockServiceUnavailableException(
                        "The first session at " + handles.connectString()
                                + " expired before the server answered its login. Nothing is held. Give a longer sessionTimeout.",
                        Reason.NO_SESSION);
            }
            if (code == Status.NO_NODE) {
                handles.createChroot(acl, Comparators.min(left(), handles.chrootPatience()), () -> true);
            }
        } catch (IOException failed) {
            throw new LockException("Cannot check that the chroot of " + handles.connectString() + " exists", failed);
        }
    }

    /**
     * Reads the root. A server that refuses credentials may close the connection before its refusal is read; then the
     * next server's response counts.
     */
    private CompletableFuture<Status> askForRoot() {
        return engine.queries()
                .<Status>inSession((session, then) ->
                        session.connection().store().read("/", answer -> then.complete(answer.code())))
                .thenCompose(code -> switch (code) {
                    case CONNECTION_LOSS -> askForRoot();
                    case THROTTLED -> askForRootLater();
                    default -> CompletableFuture.completedFuture(code);
                });
    }

    private CompletableFuture<Status> askForRootLater() {
        CompletableFuture<Status> later = new CompletableFuture<>();
        engine.context().clock().after(Throttling.PAUSE, () -> later.complete(Status.THROTTLED));
        return later.thenCompose(throttled -> askForRoot());
    }
}
