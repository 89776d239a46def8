// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.zk.Layout;
import io.latchkey.zk.ZkLockClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.PathUtils;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/**
 * Connection options, common to all commands. Their variables of the environment are no {@code defaultValue}: picocli
 * would replace each {@code $} of the value.
 */
final class ConnectionOptions {
    /** The environment variable with the login, which is not passed on to commands. */
    static final String LOGIN = "LATCHKEY_AUTH";

    private static final String SERVERS = "LATCHKEY_CONNECT";
    private static final String CLIENT_CONFIG = "LATCHKEY_CLIENT_CONFIG";
    /** All variables of the environment that are read here. */
    static final List<String> VARIABLES = List.of(SERVERS, LOGIN, CLIENT_CONFIG);

    @Option(
            names = "--connect",
            paramLabel = "SERVERS",
            description = "The servers, as host:port[,host:port...][/chroot]. If not given: LATCHKEY_CONNECT of the"
                    + " environment.")
    private @Nullable String servers;

    @Option(
            names = "--session-timeout",
            paramLabel = "TIME",
            defaultValue = "10s",
            converter = Span.class,
            description = "How long the servers wait for a silent client before its locks are free. If not"
                    + " given: ${DEFAULT-VALUE}.")
    private Duration sessionTimeout = Duration.ZERO;

    @Option(
            names = "--connect-timeout",
            paramLabel = "TIME",
            converter = Span.class,
            description =
                    "How long to wait for a server that responds. If not given: as long as --session-timeout, but not"
                            + " where every server refuses the connection.")
    private @Nullable Duration connectTimeout;

    @Option(
            names = "--auth",
            paramLabel = "SCHEME:CREDENTIALS",
            converter = Login.Converter.class,
            description = "A login, such as digest:user:password. If not given: LATCHKEY_AUTH of the environment, where"
                    + " other users of the machine cannot read it.")
    private @Nullable Login login;

    @Option(
            names = "--client-config",
            paramLabel = "FILE",
            description = "A properties file with settings of ZooKeeper's client, for TLS or SASL. If not given:"
                    + " LATCHKEY_CLIENT_CONFIG of the environment.")
    private @Nullable Path clientConfig;

    @Option(
            names = "--creator-only",
            description = "What this command creates is for its own login only. With --auth that is so anyway; with a"
                    + " login by TLS or SASL all clients have all rights unless this is given.")
    private boolean creatorOnly;

    @Option(
            names = LogOfZooKeeper.OPTION,
            description = "Show the log of ZooKeeper's client on standard error, and the causes of an error.")
    private boolean verbose;

    /**
     * Checks a path before connecting.
     *
     * @throws io.latchkey.lock.BadPathException if the path cannot name a lock
     */
    static void checkPath(String path) {
        var unused = ZkLockClient.builder().basePath(path);
    }

    /** Checks a path where a list begins: any path of ZooKeeper. */
    static void checkRoot(String path) {
        try {
            PathUtils.validatePath(path);
        } catch (IllegalArgumentException wrong) {
            // The same words as for the path of a lock.
            checkPath(path);
            throw wrong;
        }
    }

    /** Connects a client with this label. */
    ZkLockClient client(String label, Layout layout) throws InterruptedException {
        if (verbose) {
            Terminal.complain("connecting to " + servers());
        }
        return builder(servers()).ownerLabel(label).layout(layout).build();
    }

    /** Connects a client that does not create the chroot, which is mistyped where it does not exist. */
    ZkLockClient lookingClient(String label) throws InterruptedException {
        Optional<String> missing = missingChroot();
        if (missing.isPresent()) {
            throw new StatusException(
                    ExitStatus.MISCONFIGURED,
                    "the chroot " + missing.get() + " of the connect string does not exist. Nothing was done. Check its"
                            + " name. The first 'latchkey run' or 'latchkey ping' creates it.");
        }
        return client(label, Layout.LATCHKEY);
    }

    private ZkLockClient.Builder builder(String connectString) {
        ZkLockClient.Builder builder =
                ZkLockClient.builder().connectString(connectString).sessionTimeout(sessionTimeout);
        ZKClientConfig config = config();
        if (config != null) {
            builder.clientConfig(config);
        }
        if (creatorOnly) {
            builder.acl(ZooDefs.Ids.CREATOR_ALL_ACL);
        }
        Duration patience = connectTimeout;
        if (patience != null && patience.isZero()) {
            throw new IllegalArgumentException("--connect-timeout takes a time above 0.");
        } else if (patience != null) {
            builder.connectTimeout(patience);
        }
        Login presented = login();
        if (presented != null) {
            builder.auth(presented.scheme(), presented.bytes());
        }
        return builder;
    }

    /** Returns the chroot of the connect string if it does not exist: a client creates it when it connects. */
    Optional<String> missingChroot() throws InterruptedException {
        String all = servers();
        int end = all.indexOf('/');
        if (end < 0 || all.indexOf(',', end) >= 0) {
            // None, or malformed: then the client says what is wrong.
            return Optional.empty();
        }
        String chroot = all.substring(end);
        try {
            PathUtils.validatePath(chroot);
        } catch (IllegalArgumentException malformed) {
            return Optional.empty();
        }
        String root = all.substring(0, end);
        // A client says best why it cannot connect.
        builder(root).build().close();
        ZooKeeper handle = handle(root);
        try {
            return handle.exists(chroot, false) == null ? Optional.of(chroot) : Optional.empty();
        } catch (KeeperException.NoAuthException hidden) {
            return Optional.empty();
        } catch (KeeperException failed) {
            throw new LockServiceUnavailableException(
                    "No server answered whether the chroot " + chroot + " exists: " + failed.getMessage());
        } finally {
            handle.close();
        }
    }

    /** Opens a handle of ZooKeeper's own, for what the lock client does not offer. */
    ZooKeeper handle() throws InterruptedException {
        return handle(servers());
    }

    /**
     * The handle is connected: before that, one server that refuses the connection makes all fail that was sent, also
     * if the next server takes it.
     */
    private ZooKeeper handle(String connectString) throws InterruptedException {
        ZKClientConfig config = config();
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper handle;
        try {
            handle = new ZooKeeper(
                    connectString,
                    (int) sessionTimeout.toMillis(),
                    event -> {
                        if (event.getState() == KeeperState.SyncConnected) {
                            connected.countDown();
                        }
                    },
                    config == null ? new ZKClientConfig() : config);
        } catch (IOException cannot) {
            throw new LockServiceUnavailableException(
                    "Cannot open a second connection to " + connectString + ": " + cannot);
        }
        Login presented = login();
        if (presented != null) {
            handle.addAuthInfo(presented.scheme(), presented.bytes());
        }
        Duration patience = Objects.requireNonNullElse(connectTimeout, sessionTimeout);
        boolean isConnected = false;
        try {
            isConnected = connected.await(TimeUnit.NANOSECONDS.convert(patience), TimeUnit.NANOSECONDS);
        } finally {
            if (!isConnected) {
                handle.close();
            }
        }
        if (!isConnected) {
            throw new LockServiceUnavailableException(
                    "No server took a second connection within " + Span.text(patience) + ".");
        }
        return handle;
    }

    /** Returns how the client logs in, for people. */
    String loginText() {
        Login given = login();
        if (given != null) {
            return given.scheme() + ", accepted or not asked for by the server";
        }
        // A section of JAAS for the client may have a login as well.
        return configFile() == null ? "none by --auth" : "as --client-config says";
    }

    private @Nullable Login login() {
        String variable = System.getenv(LOGIN);
        if (login != null || variable == null) {
            return login;
        }
        try {
            return new Login.Converter().convert(variable);
        } catch (TypeConversionException malformed) {
            throw new IllegalArgumentException(LOGIN + ": " + malformed.getMessage() + ". Nothing was sent.");
        }
    }

    private @Nullable Path configFile() {
        String variable = System.getenv(CLIENT_CONFIG);
        return clientConfig != null || variable == null ? clientConfig : Path.of(variable);
    }

    private @Nullable ZKClientConfig config() {
        Path file = configFile();
        return file == null ? null : ClientConfigFile.read(file);
    }

    private String servers() {
        String given = servers == null ? System.getenv(SERVERS) : servers;
        if (given == null || given.isBlank()) {
            throw new IllegalArgumentException(
                    "No servers are given. Set " + SERVERS
                            + " in the environment, or give --connect, as host:port[,host:port...][/chroot]. Nothing was sent.");
        }
        return given;
    }
}
