// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.latchkey.testkit.server.StandaloneServer;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A certificate authority, what it has signed, and the mistakes that are made with it: a server that takes TLS only and
 * accepts the certificates of this authority, and the settings of clients.
 */
public final class TlsSite implements AutoCloseable {
    private static final String PASSWORD = "changeit";
    private static final String NETTY = "org.apache.zookeeper.ClientCnxnSocketNetty";
    private static final String KEYS = "zookeeper.ssl.keyStore.location";
    private static final String SECURE = "zookeeper.client.secure";
    private static final String SOCKET = "zookeeper.clientCnxnSocket";

    private final Path folder;
    private final List<StandaloneServer> servers = new ArrayList<>();

    /** What a client of a mistake connects to, and with which settings. */
    public enum Mistake {
        FOREIGN_AUTHORITY,
        EXPIRED,
        NO_CERTIFICATE,
        SERVER_NOT_TRUSTED,
        WRONG_HOST,
        WRONG_PASSWORD,
        MISSING_STORE,
        NIO_SOCKET,
        NO_SOCKET,
        NOT_SECURE,
        PLAIN_AT_TLS,
        TLS_AT_PLAIN
    }

    private TlsSite(Path folder) {
        this.folder = folder;
    }

    /**
     * Makes keys and certificates in a folder, and starts the server: enough for clients without a mistake, of a
     * foreign authority, or without TLS.
     */
    public static TlsSite in(Path folder) throws Exception {
        TlsSite site = new TlsSite(folder);
        site.authority("authority");
        site.authority("foreign");
        site.signed("server", "authority", "san=ip:127.0.0.1,dns:localhost", "-validity", "30");
        site.signed("client", "authority", "san=dns:client", "-validity", "30");
        site.signed("stranger", "foreign", "san=dns:client", "-validity", "30");
        site.imports("trusted", "authority");
        site.servers.add(site.server("server"));
        return site;
    }

    /** The same for all mistakes, with a server whose certificate names another host and one without TLS. */
    static TlsSite withAllMistakes(Path folder) throws Exception {
        TlsSite site = in(folder);
        site.signed("elsewhere", "authority", "san=dns:zk.example.com", "-validity", "30");
        site.signed("late", "authority", "san=dns:client", "-validity", "1", "-startdate", "-10d");
        site.imports("untrusting", "foreign");
        site.servers.add(site.server("elsewhere"));
        site.servers.add(StandaloneServer.start("clientPort", Map.of()));
        return site;
    }

    /** Returns the server of a client without a mistake. */
    public String servers() {
        return servers.get(0).connectString();
    }

    /** Returns the server that a client of the mistake connects to. */
    public String servers(Mistake mistake) {
        int server =
                switch (mistake) {
                    case WRONG_HOST -> 1;
                    case TLS_AT_PLAIN -> 2;
                    default -> 0;
                };
        return servers.get(server).connectString();
    }

    /** Returns the settings of a client without a mistake. */
    public Map<String, String> right() {
        Map<String, String> config = new TreeMap<>(settings("client", "trusted"));
        config.put(SECURE, "true");
        config.put(SOCKET, NETTY);
        return config;
    }

    /** Returns the settings of a client with this mistake. */
    public Map<String, String> config(Mistake mistake) {
        Map<String, String> config = right();
        switch (mistake) {
            case FOREIGN_AUTHORITY -> config.putAll(settings("stranger", "trusted"));
            case EXPIRED -> config.putAll(settings("late", "trusted"));
            case NO_CERTIFICATE -> config.keySet().removeIf(each -> each.contains("keyStore"));
            case SERVER_NOT_TRUSTED -> config.putAll(settings("client", "untrusting"));
            case WRONG_PASSWORD -> config.put("zookeeper.ssl.keyStore.password", "secret-but-wrong");
            case MISSING_STORE -> config.put(KEYS, folder.resolve("missing.p12").toString());
            case NIO_SOCKET -> config.put(SOCKET, "org.apache.zookeeper.ClientCnxnSocketNIO");
            case NO_SOCKET -> config.remove(SOCKET);
            case NOT_SECURE -> config.remove(SECURE);
            case PLAIN_AT_TLS -> config.clear();
            case WRONG_HOST, TLS_AT_PLAIN -> {
                // The servers are the mistake.
            }
        }
        return config;
    }

    /** Returns the context of a server that is none of ZooKeeper's and has the certificate of this site's server. */
    SSLContext serverContext() throws Exception {
        char[] password = PASSWORD.toCharArray();
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(KeyStore.getInstance(new File(store("server")), password), password);
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(KeyStore.getInstance(new File(store("trusted")), password));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trusted.getTrustManagers(), null);
        return context;
    }

    @Override
    public void close() {
        servers.forEach(StandaloneServer::close);
    }

    private StandaloneServer server(String name) throws Exception {
        Map<String, String> tls = new TreeMap<>(settings(name, "trusted"));
        tls.put("zookeeper.serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory");
        tls.put("zookeeper.authProvider.x509", "org.apache.zookeeper.server.auth.X509AuthenticationProvider");
        return StandaloneServer.start("secureClientPort", tls);
    }

    private Map<String, String> settings(String keys, String trusted) {
        return Map.of(
                KEYS,
                store(keys),
                "zookeeper.ssl.keyStore.password",
                PASSWORD,
                "zookeeper.ssl.trustStore.location",
                store(trusted),
                "zookeeper.ssl.trustStore.password",
                PASSWORD);
    }

    private String store(String name) {
        return folder.resolve(name + ".p12").toString();
    }

    private String file(String name) {
        return folder.resolve(name).toString();
    }

    private void authority(String name) throws Exception {
        keytool(name, "-genkeypair", "-keyalg", "EC", "-alias", name, "-dname", "CN=" + name, "-ext", "bc:c");
        keytool(name, "-exportcert", "-alias", name, "-file", file(name + ".cer"));
    }

    private void signed(String name, String by, String names, String... validity) throws Exception {
        keytool(name, "-genkeypair", "-keyalg", "EC", "-alias", name, "-dname", "CN=" + name);
        keytool(name, "-certreq", "-alias", name, "-file", file(name + ".csr"));
        List<String> sign = new ArrayList<>(List.of("-gencert", "-alias", by, "-ext", names));
        sign.addAll(List.of(validity));
        sign.addAll(List.of("-infile", file(name + ".csr"), "-outfile", file(name + ".cer")));
        keytool(by, sign.toArray(String[]::new));
        imports(name, by);
        keytool(name, "-importcert", "-noprompt", "-alias", name, "-file", file(name + ".cer"));
    }

    /** Makes {@code store} trust the authority. */
    private void imports(String store, String authority) throws Exception {
        keytool(store, "-importcert", "-noprompt", "-alias", authority, "-file", file(authority + ".cer"));
    }

    private void keytool(String store, String... args) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
        command.addAll(List.of(args));
        command.addAll(List.of("-storetype", "PKCS12", "-keystore", store(store), "-storepass", PASSWORD));
        Path said = folder.resolve("keytool.log");
        Process keytool = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        assertTrue(keytool.waitFor(60, TimeUnit.SECONDS), "keytool is slow");
        assertEquals(0, keytool.exitValue(), Files.readString(said));
    }
}
