// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import com.google.common.base.Utf8;
import com.google.common.collect.Comparators;
import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.zk.internal.threads.CallerWait;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;

/**
 * The settings with which a client opens its ZooKeeper handles.
 *
 * @param connectString the servers, with an optional chroot
 * @param sessionTimeout the session timeout to ask for
 * @param auth the credentials to present on every connection
 * @param config settings of ZooKeeper's client, such as TLS and SASL
 */
public record ZooKeeperHandles(String connectString, Duration sessionTimeout, List<Auth> auth, ZKClientConfig config) {
    private static final int PROBE_MILLIS = 1000;
    /** ZooKeeper's client sleeps for up to two seconds before each attempt to connect. */
    private static final Duration SEVERAL_ATTEMPTS = Duration.ofSeconds(10);

    /** The bytes of an ACL entry besides its texts: the rights and two lengths. */
    private static final int ACL_BYTES = 3 * Integer.BYTES;

    /** The default ACL for a client without credentials. */
    public static final List<ACL> OPEN_ACL = List.copyOf(ZooDefs.Ids.OPEN_ACL_UNSAFE);

    /** The default ACL for a client with credentials. */
    public static final List<ACL> CREATOR_ACL = List.copyOf(ZooDefs.Ids.CREATOR_ALL_ACL);

    /** The credentials for one authentication scheme. */
    @SuppressWarnings("ArrayRecordComponent") // Passed on as ZooKeeper takes it; credentials are never compared.
    public record Auth(String scheme, byte[] credentials) {}

    /** Checks the settings as far as possible before anything is sent. */
    public ZooKeeperHandles {
        ConnectStringCheck.check(connectString);
        checkWatchReset(config);
        new TlsSettings(config).check();
        auth = List.copyOf(auth);
    }

    /** Refuses a handle that does not set its watches again after a reconnect: waiters would never wake. */
    public static void checkWatchReset(ZKClientConfig config) {
        if (config.getBoolean(ZKClientConfig.DISABLE_AUTO_WATCH_RESET)) {
            throw new IllegalArgumentException(
                    "ZooKeeper's client is configured with "
                            + ZKClientConfig.DISABLE_AUTO_WATCH_RESET
                            + "=true: watches would be lost at every reconnect, and waiters would never wake. Set it to false.");
        }
    }

    /**
     * Checks that at least one server has an address.
     *
     * @throws LockServiceUnavailableException if none has
     */
    public void checkHosts() {
        List<InetSocketAddress> servers = new ConnectStringParser(connectString).getServerAddresses();
        for (InetSocketAddress server : servers) {
            try {
                InetAddress unused = InetAddress.getByName(server.getHostString());
                return;
            } catch (UnknownHostException unknown) {
                // The next host may be known; if none is, the error below names them all.
            }
        }
        throw new LockServiceUnavailableException("No host of the connect string \"" + connectString
                + "\" has a known address. Nothing was sent. Check the names.");
    }

    /** Returns whether every server's machine refuses connections at the port. Any other failure may be temporary. */
    public boolean allRefuse() {
        for (InetSocketAddress server : new ConnectStringParser(connectString).getServerAddresses()) {
            try {
                for (InetAddress address : InetAddress.getAllByName(server.getHostString())) {
                    if (!refuses(new InetSocketAddress(address, server.getPort()))) {
                        return false;
                    }
                }
            } catch (IOException unclear) {
                return false;
            }
        }
        return true;
    }

    /** Returns the error that explains by TLS why no server has accepted a session; empty if that is not the reason. */
    public Optional<LockServiceUnavailableException> explainByTls() {
        return new TlsProbe(new TlsSettings(config))
                .explain(new ConnectStringParser(connectString).getServerAddresses());
    }

    private static boolean refuses(InetSocketAddress server) throws IOException {
        try (Socket probe = new Socket()) {
            probe.connect(server, PROBE_MILLIS);
            return false;
        } catch (ConnectException refused) {
            return true;
        }
    }

    /** Opens a handle with a new session. */
    ZooKeeper open(Watcher watcher, HostProvider servers) throws IOException {
        return loggedIn(new ZooKeeper(connectString, timeoutMillis(), watcher, false, servers, config));
    }

    /** Opens a handle with the session of a former one, which is closed. */
    ZooKeeper takeOver(ZooKeeper former, Watcher watcher, HostProvider servers) throws IOException {
        return loggedIn(new ZooKeeper(
                connectString,
                timeoutMillis(),
                watcher,
                former.getSessionId(),
                former.getSessionPasswd(),
                false,
                servers,
                config));
    }

    private int timeoutMillis() {
        return (int) sessionTimeout.toMillis();
    }

    /** Returns the servers as the next handle tries them. */
    HostProvider servers(ConnectAttempts attempts, AtomicInteger attemptsSinceConnected) {
        return new PromptReconnects(
                new ConnectStringParser(connectString).getServerAddresses(), attempts, attemptsSinceConnected);
    }

    private ZooKeeper loggedIn(ZooKeeper handle) {
        for (Auth login : auth) {
            handle.addAuthInfo(login.scheme(), login.credentials());
        }
        return handle;
    }

    public boolean hasChroot() {
        return !chroot().isEmpty();
    }

    /** Returns the path that is the handle's root; empty if that is the root of the servers. */
    public String chroot() {
        String chroot = new ConnectStringParser(connectString).getChrootPath();
        return chroot == null ? "" : chroot;
    }

    /** Returns the bytes of an ACL in a request. */
    public static int bytesOf(List<ACL> acls) {
        return acls.stream()
                .mapToInt(acl -> ACL_BYTES
                        + Utf8.encodedLength(acl.getId().getScheme())
                        + Utf8.encodedLength(acl.getId().getId()))
                .sum();
    }

    /** Returns how long the creation of a missing chroot is tried, unless its caller waits for less. */
    public Duration chrootPatience() {
        return Comparators.max(sessionTimeout, SEVERAL_ATTEMPTS);
    }

    /**
     * Creates the missing chroot and the missing levels above it, through a handle of its own. All that it sends is
     * applied or refused when it returns, unless the connection is lost.
     *
     * @param longest how long it waits for the servers
     * @param wanted asked while it waits: it ends without an answer when this is false
     */
    public void createChroot(List<ACL> acl, Duration longest, BooleanSupplier wanted)
            throws IOException, InterruptedException {
        String servers = connectString.substring(0, connectString.indexOf('/'));
        long end = System.nanoTime() + longest.toNanos();
        BooleanSupplier goesOn = () -> System.nanoTime() - end < 0 && wanted.getAsBoolean();
        ZooKeeper root = loggedIn(new ZooKeeper(servers, timeoutMillis(), event -> {}, config));
        try {
            Response<?> answer = createLevel(root, chroot(), new ArrayList<>(acl), goesOn);
            if (!answer.ok()) {
                throw noChroot(answer, root.getSessionId() != 0, longest);
            }
        } finally {
            root.close();
        }
    }

    private LockException noChroot(Response<?> answer, boolean connected, Duration tried) {
        if (answer.code() == Status.NO_AUTH) {
            return new AccessDeniedException(
                    "The chroot of " + connectString
                            + " does not exist, and this client may not create it. Create it, or give this client the right to.");
        }
        if (answer.code().outcome() == Status.Outcome.REFUSED) {
            return new LockException("The server refused to create the chroot of " + connectString + " ("
                    + answer.detail() + "). Nothing is held. Create it.");
        }
        String why;
        if (answer.code() != Status.CONNECTION_LOSS) {
            why = "the servers did not carry it out (" + answer.detail() + "). Create it, or try again.";
        } else if (connected) {
            why = "it had no answer within " + tried.toMillis()
                    + " ms. Create it, or check that the servers run and have a quorum.";
        } else {
            why = "it needs a second connection, which no server accepted within " + tried.toMillis()
                    + " ms. Create it, or look for a limit of connections of one client, such as maxClientCnxns.";
        }
        return new LockServiceUnavailableException(
                "Cannot create the chroot of " + connectString + ", and nothing is held: " + why);
    }

    /**
     * Creates from the bottom up, so that an existing level needs no right to create. ZooKeeper's client fails all
     * requests whenever an attempt to connect fails, also when the next server would accept it.
     */
    private static Response<?> createLevel(ZooKeeper root, String level, List<ACL> acl, BooleanSupplier goesOn)
            throws InterruptedException {
        while (true) {
            Response<?> answer = create(root, level, acl, goesOn);
            switch (answer.code()) {
                case NODE_EXISTS -> {
                    return Response.of(true); // another client was faster, or the answer was lost
                }
                case NO_NODE -> {
                    Response<?> above = createLevel(root, level.substring(0, level.lastIndexOf('/')), acl, goesOn);
                    if (!above.ok()) {
                        return above;
                    }
                }
                case CONNECTION_LOSS, THROTTLED -> {
                    if (!goesOn.getAsBoolean()) {
                        return answer;
                    }
                    Throttling.pause();
                }
                default -> {
                    return answer;
                }
            }
        }
    }

    /** A request without an answer at the end counts as lost. */
    private static Response<?> create(ZooKeeper root, String level, List<ACL> acl, BooleanSupplier goesOn)
            throws InterruptedException {
        CompletableFuture<Response<?>> answer = new CompletableFuture<>();
        root.create(
                level,
                ZooKeeperResults.EMPTY,
                acl,
                CreateMode.PERSISTENT,
                (rc, path, ctx, name, stat) -> answer.complete(ZooKeeperResults.created(rc, name, stat)),
                null);
        boolean answered;
        do {
            answered = CallerWait.await(answer, Throttling.PAUSE);
        } while (!answered && goesOn.getAsBoolean());
        return answer.getNow(Response.failed(Status.CONNECTION_LOSS, KeeperException.Code.CONNECTIONLOSS.name()));
    }
}
