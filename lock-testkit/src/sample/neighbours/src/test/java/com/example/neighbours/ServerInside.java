package com.example.neighbours;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** ZooKeeper's server with Netty in this process: one plain port, and one for TLS. */
record ServerInside(ServerCnxnFactory plain, ServerCnxnFactory secure) implements AutoCloseable {
    static ServerInside start(Path folder, Keys keys) throws Exception {
        System.setProperty("zookeeper.serverCnxnFactory", "org.apache.zookeeper.server.NettyServerCnxnFactory");
        System.setProperty("zookeeper.authProvider.x509", "org.apache.zookeeper.server.auth.X509AuthenticationProvider");
        System.setProperty("zookeeper.admin.enableServer", "false");
        keys.settings().forEach((name, value) -> System.setProperty("zookeeper." + name, value));
        ZooKeeperServer server = new ZooKeeperServer(folder.toFile(), folder.toFile(), 1000);
        ServerInside inside = new ServerInside(listen(false), listen(true));
        inside.plain.startup(server);
        inside.secure.startup(server, false);
        return inside;
    }

    private static ServerCnxnFactory listen(boolean secure) throws Exception {
        ServerCnxnFactory factory = ServerCnxnFactory.createFactory();
        factory.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 60, -1, secure);
        return factory;
    }

    String plainAddress() {
        return "127.0.0.1:" + plain.getLocalPort();
    }

    String secureAddress() {
        return "127.0.0.1:" + secure.getLocalPort();
    }

    @Override
    public void close() {
        secure.shutdown();
        plain.shutdown();
    }
}
