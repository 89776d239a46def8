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
import io.latchkey.zk.internal.threads.Waiting;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.zookeeper.data.ACL;

/**
 * The first contact of a client with its servers: the wait for a connection, and the check of login and chroot. Its
 * errors say what to check, since a wrong address, a refused login and a missing chroot look alike from outside.
 */
final class FirstContact {
    private static final Duration QUICK_CONNECT = Duration.ofSeconds(1);
    /** Enough for several reconnects of ZooKeeper's client, which take one to two seconds each. */
    private static final Duration LOGIN_TIMEOUT = Duration.ofSeconds(10);

    private final Engine engine;
    private final Servers servers;

    /** The servers, as far as they can be looked at while there is no connection. */
    interface Servers {
        /** Returns the connect string, for error texts. */
        String named();

        /** Returns whether all servers refuse connections, so that the address is wrong. */
        boolean allRefuse();

        /** Returns the error that explains why there is no session; empty if none but the servers' state does. */
        Optional<LockServiceUnavailableException> explain();
    }

    FirstContact(Engine engine, Servers servers) {
        this.engine = engine;
        this.servers = servers;
    }

    /**
     * Waits for the first connection.
     *
     * @param patience how long it waits at most; zero for not at all
     */
    void awaitConnection(Duration patience) throws InterruptedException {
        if (patience.isZero()) {
            return;
        }
        Duration first = Comparators.min(patience, QUICK_CONNECT);
        if (engine.awaitConnection(first)) {
            return;
        }
        if (servers.allRefuse()) {
            throw new LockServiceUnavailableException("No ZooKeeper server listens at " + servers.named()
                    + ": every connection is refused. Nothing was sent. Check the connect string, and that the"
                    + " servers run. To wait for servers that start later, give a connectTimeout,"
                    + " or --connect-timeout on the command line.");
        }
        if (!engine.awaitConnection(patience.minus(first))) {
            Optional<LockServiceUnavailableException> explained = servers.explain();
            if (explained.isPresent()) {
                throw explained.get();
            }
            throw new LockServiceUnavailableException("No connection to ZooKeeper at " + servers.named() + " within "
                    + patience.toMillis() + " ms. Nothing was sent. Check the connect string, and that the servers"
                    + " run and have a quorum: a server without one refuses clients that write, or is read-only.");
        }
    }

    /**
     * Sends a request after connecting, since the server refuses credentials, and reports a missing chroot, only in
     * response to one. Creates a missing chroot.
     */
    void checkLoginAndChroot(ZooKeeperHandles handles, List<ACL> acl) throws InterruptedException {
        if (handles.auth().isEmpty() && !handles.hasChroot()) {
            return;
        }
        try {
            CompletableFuture<Status> asked = askForRoot();
            if (!Waiting.await(asked, LOGIN_TIMEOUT)) {
                throw new LockServiceUnavailableException("No answer within " + LOGIN_TIMEOUT.toMillis()
                        + " ms to the question whether the chroot of " + handles.connectString()
                        + " exists. Nothing was changed. Try again.");
            }
            Status code = Waiting.valueOf(asked);
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
                handles.createChroot(acl);
            }
        } catch (ExecutionException failed) {
            throw Errors.toCaller(failed);
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
