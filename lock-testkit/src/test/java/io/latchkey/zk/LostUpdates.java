// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.testkit.FencedStore;
import io.latchkey.zk.UpdateWorker.Mode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.rmi.server.UnicastRemoteObject;
import java.util.Base64;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Processes that update the same things under locks, the stores that are not on ZooKeeper, and the count of what was
 * acknowledged.
 */
final class LostUpdates implements UpdateWorker.Parent, AutoCloseable {
    private final Map<String, Process> workers = new TreeMap<>();
    private final Map<Mode, Count> counts = new EnumMap<>(Mode.class);
    private final FencedStore<String> fenced = new FencedStore<>("");
    private volatile String unfenced = "";

    /** What has become of the updates of one mode. */
    private static final class Count {
        private final Set<String> thinking = ConcurrentHashMap.newKeySet();
        private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
        private final AtomicInteger notWritten = new AtomicInteger();
    }

    LostUpdates(String connectString, int count) throws IOException {
        for (Mode mode : Mode.values()) {
            counts.put(mode, new Count());
        }
        String stub = exported();
        for (int i = 0; i < count; i++) {
            workers.put("w" + i, start(connectString, "w" + i, stub));
        }
    }

    /** Makes this object one that other processes of the machine can call, by the serialized stub that is returned. */
    private String exported() throws IOException {
        InetAddress here = InetAddress.getLoopbackAddress();
        System.setProperty("java.rmi.server.hostname", here.getHostAddress());
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(UnicastRemoteObject.exportObject(this, 0, null, port -> new ServerSocket(port, 0, here)));
        }
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }

    private static Process start(String connectString, String name, String stub) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        UpdateWorker.class.getName(),
                        connectString,
                        name,
                        stub)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    /** A process that has read and not written, if there is one. */
    Optional<Process> thinker(Mode mode) {
        return counts.get(mode).thinking.stream().map(workers::get).findAny();
    }

    Set<String> acknowledged(Mode mode) {
        return Set.copyOf(counts.get(mode).acknowledged);
    }

    /** How many writes were refused, or were not known to be carried out. */
    int notWritten(Mode mode) {
        return counts.get(mode).notWritten.get();
    }

    /** What was acknowledged and is not in what was written last. */
    Set<String> lost(Mode mode, String last) {
        Set<String> lost = new LinkedHashSet<>(acknowledged(mode));
        lost.removeAll(Set.of(last.split(",")));
        return lost;
    }

    String lastUnfenced() {
        return unfenced;
    }

    String lastFenced() {
        return fenced.look();
    }

    @Override
    public String read(Mode mode, long token) {
        return mode == Mode.TOKENS ? fenced.read(token) : unfenced;
    }

    @Override
    public void write(Mode mode, long token, String value) {
        if (mode == Mode.TOKENS) {
            fenced.write(value, token);
        } else {
            unfenced = value;
        }
    }

    @Override
    public void thinks(String worker, Mode mode) {
        counts.get(mode).thinking.add(worker);
    }

    @Override
    public void acknowledged(String worker, Mode mode, String update) {
        counts.get(mode).thinking.remove(worker);
        counts.get(mode).acknowledged.add(update);
    }

    @Override
    public void notWritten(String worker, Mode mode) {
        counts.get(mode).thinking.remove(worker);
        counts.get(mode).notWritten.incrementAndGet();
    }

    /** Kills the processes. */
    void end() {
        for (Process worker : workers.values()) {
            try {
                int unused = worker.destroyForcibly().waitFor();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void close() throws IOException {
        end();
        UnicastRemoteObject.unexportObject(this, true);
    }
}
