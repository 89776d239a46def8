// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** ZooKeeper servers in JVMs of their own, and what clients of different distances connect to. */
final class Servers implements AutoCloseable {
    private final Path folder;
    private final List<ServerJvm> jvms = new ArrayList<>();
    private final ServerProbe probe;

    private Servers(Storage storage, Path disk) throws IOException, InterruptedException {
        folder = Files.createTempDirectory(Files.createDirectories(storage.root(disk)), "latchkey-bench-");
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
        Deque<Integer> ports = freePorts(3 * storage.servers);
        List<ServerJvm.Place> places = new ArrayList<>();
        for (int id = 1; id <= storage.servers; id++) {
            places.add(new ServerJvm.Place(
                    id, folder.resolve("server-" + id), ports.remove(), ports.remove(), ports.remove()));
        }
        for (ServerJvm.Place place : places) {
            jvms.add(ServerJvm.start(place, places));
        }
        for (ServerJvm jvm : jvms) {
            jvm.awaitServing();
        }
        probe = new ServerProbe(jvms.stream().map(ServerJvm::seen).toList());
    }

    /**
     * Starts them and returns when all serve.
     *
     * @param disk a folder for those that write to disk
     */
    static Servers start(Storage storage, Path disk) throws IOException, InterruptedException {
        return new Servers(storage, disk);
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

    /** What their clients name to connect without a detour. */
    String connectString() {
        return jvms.stream().map(jvm -> "127.0.0.1:" + jvm.port()).collect(Collectors.joining(","));
    }

    List<Integer> ports() {
        return jvms.stream().map(ServerJvm::port).toList();
    }

    ServerProbe probe() {
        return probe;
    }

    /** What lives on their heaps, after a full collection. */
    long heapBytes() throws IOException, InterruptedException {
        long sum = 0;
        for (ServerJvm jvm : jvms) {
            sum += jvm.heapBytes();
        }
        return sum;
    }

    @Override
    public void close() {
        jvms.forEach(ServerJvm::close);
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + folder, e);
        }
    }
}
