// SPDX-License-Identifier: Apache-2.0
package io.latchkey.cli;

import io.latchkey.zk.Layout;
import io.latchkey.zk.ZkLockClient;
import java.time.Duration;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Connection options, common to all commands. */
final class ConnectionOptions {
    /** The environment variable with the login, which is not passed on to commands. */
    static final String LOGIN = "LATCHKEY_AUTH";

    @Option(
            names = "--connect",
            paramLabel = "SERVERS",
            required = true,
            defaultValue = "${env:LATCHKEY_CONNECT}",
            description = "The servers, as host:port[,host:port...][/chroot]. If not given: LATCHKEY_CONNECT of the"
                    + " environment.")
    private String servers = "";

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
            defaultValue = "${env:" + LOGIN + "}",
            converter = Login.Converter.class,
            description = "A login, such as digest:user:password. If not given: LATCHKEY_AUTH of the environment, where"
                    + " other users of the machine cannot read it.")
    private @Nullable Login login;

    @Option(
            names = "--client-config",
            paramLabel = "FILE",
            defaultValue = "${env:LATCHKEY_CLIENT_CONFIG}",
            converter = ClientConfigFile.class,
            description = "A properties file with settings of ZooKeeper's client, for TLS or SASL. If not given:"
                    + " LATCHKEY_CLIENT_CONFIG of the environment.")
    private ZKClientConfig clientConfig = new ZKClientConfig();

    @Option(
            names = "--creator-only",
            description = "What this command creates is for its own login only. With --auth that is so anyway; with a"
                    + " login by TLS or SASL all clients have all rights unless this is given.")
    private boolean creatorOnly;

    /**
     * Checks a path before connecting.
     *
     * @throws io.latchkey.lock.BadPathException if the path cannot name a lock
     */
    static void checkPath(String path) {
        var unused = ZkLockClient.builder().basePath(path);
    }

    /** Connects a client with this label. */
    ZkLockClient client(String label, Layout layout) throws InterruptedException {
        ZkLockClient.Builder builder = ZkLockClient.builder()
                .connectString(servers)
                .sessionTimeout(sessionTimeout)
                .ownerLabel(label)
                .clientConfig(clientConfig)
                .layout(layout);
        if (creatorOnly) {
            builder.acl(ZooDefs.Ids.CREATOR_ALL_ACL);
        }
        Duration patience = connectTimeout;
        if (patience != null) {
            builder.connectTimeout(patience);
        }
        Login presented = login;
        if (presented != null) {
            builder.auth(presented.scheme(), presented.bytes());
        }
        return builder.build();
    }
}
