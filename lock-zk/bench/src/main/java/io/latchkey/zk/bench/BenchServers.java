// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.Collectors;

/** Servers of one product, each in a separate process. */
final class BenchServers implements AutoCloseable {
    private final Product product;
    private final Path folder;
    private final List<BenchServer.Place> places = new ArrayList<>();
    private final List<BenchServer> servers = new ArrayList<>();

    private BenchServers(Product product, Storage storage, Path disk) throws IOException, InterruptedException {
        this.product = product;
        folder = Files.createTempDirectory(Files.createDirectories(storage.root(disk)), "latchkey-bench-");
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
        Deque<Integer> ports = freePorts(3 * storage.servers);
        for (int id = 1; id <= storage.servers; id++) {
            places.add(new BenchServer.Place(
                    id, folder.resolve("server-" + id), ports.remove(), ports.remove(), ports.remove()));
        }
        startAll();
    }

    private void startAll() throws IOException, InterruptedException {
        for (BenchServer.Place place : places) {
            servers.add(BenchServer.start(product, place, places));
        }
        for (BenchServer server : servers) {
            server.awaitServing();
        }
    }

    /** Kills all servers, starts them again on what they have written, and returns when all of them serve. */
    void restart() throws IOException, InterruptedException {
        servers.forEach(BenchServer::close);
        servers.clear();
        startAll();
    }

    /**
     * Starts the servers and returns when all of them serve.
     *
     * @param disk a folder for those that write to disk
     */
    static BenchServers start(Product product, Storage storage, Path disk) throws IOException, InterruptedException {
        return new BenchServers(product, storage, disk);
    }

    private static Deque<Integer> freePorts(int count) throws IOException {
        List<ServerSocket> taken = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                taken.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            }
            return taken.stream().map(ServerSocket::getLocalPort).collect(Collectors.toCollection(ArrayDeque::new));
        } finally {
            for (ServerSocket socket : taken) {
                socket.close();
            }
        }
    }

    /** Returns the connect string without a proxy. */
    String connectString() {
        return servers.stream().map(server -> "127.0.0.1:" + server.port()).collect(Collectors.joining(","));
    }

    List<Integer> ports() {
        return servers.stream().map(BenchServer::port).toList();
    }

    /** @param idleCpu the value of {@link ServerProbe#idleCpu} */
    ServerProbe probe(double idleCpu) {
        return new ServerProbe(idleCpu, servers.stream().map(BenchServer::seen).toList());
    }

    /** Returns the size of live objects on their heaps, after a full collection. */
    long heapBytes() throws IOException, InterruptedException {
        long sum = 0;
        for (BenchServer server : servers) {
            sum += server.heapBytes();
        }
        return sum;
    }

    @Override
    public void close() {
        servers.forEach(BenchServer::close);
        try {
            if (Files.exists(folder)) {
                MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + folder, e);
        }
    }
}
