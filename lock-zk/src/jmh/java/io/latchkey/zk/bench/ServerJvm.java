// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/** One ZooKeeper server in its own JVM, with the settings a server has by default. */
final class ServerJvm implements AutoCloseable {
    private static final Splitter WORDS = Splitter.on(CharMatcher.whitespace()).omitEmptyStrings();
    private static final long STARTS_WITHIN = TimeUnit.SECONDS.toNanos(60);
    private static final long LOOK_AGAIN = TimeUnit.MILLISECONDS.toNanos(50);

    private final Process process;
    private final int port;

    private ServerJvm(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Where a server lives. */
    record Place(int id, Path folder, int clientPort, int quorumPort, int electionPort) {
        String line() {
            return "server." + id + "=127.0.0.1:" + quorumPort + ":" + electionPort;
        }
    }

    static ServerJvm start(Place place, List<Place> all) throws IOException {
        Files.createDirectories(place.folder());
        Files.writeString(place.folder().resolve("myid"), Integer.toString(place.id()));
        Path config = Files.writeString(place.folder().resolve("zoo.cfg"), config(place, all));
        Process process = new ProcessBuilder(
                        java("java"),
                        "-Xms1g",
                        "-Xmx1g",
                        "-cp",
                        System.getProperty("java.class.path"),
                        QuorumPeerMain.class.getName(),
                        config.toString())
                .redirectErrorStream(true)
                .redirectOutput(place.folder().resolve("out.txt").toFile())
                .start();
        return new ServerJvm(process, place.clientPort());
    }

    private static String config(Place place, List<Place> all) {
        String ensemble =
                all.size() == 1 ? "" : all.stream().map(Place::line).collect(Collectors.joining("\n", "", "\n"));
        return """
                tickTime=2000
                initLimit=10
                syncLimit=5
                dataDir=%s
                clientPort=%d
                clientPortAddress=127.0.0.1
                maxClientCnxns=0
                admin.enableServer=false
                4lw.commands.whitelist=srvr
                """
                        .formatted(place.folder(), place.clientPort())
                + ensemble;
    }

    private static String java(String tool) {
        return System.getProperty("java.home") + File.separator + "bin" + File.separator + tool;
    }

    int port() {
        return port;
    }

    ServerProbe.Seen seen() {
        return new ServerProbe.Seen(process.pid(), port);
    }

    void awaitServing() throws InterruptedException {
        long deadline = System.nanoTime() + STARTS_WITHIN;
        while (!serves()) {
            if (System.nanoTime() - deadline > 0 || !process.isAlive()) {
                throw new IllegalStateException("the server at port " + port + " does not start");
            }
            LockSupport.parkNanos(LOOK_AGAIN);
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted while a server starts");
            }
        }
    }

    private boolean serves() {
        try {
            return seen().ask("srvr").contains("Mode:");
        } catch (IOException notYet) {
            return false;
        }
    }

    /** The total of a histogram of live objects. */
    long heapBytes() throws IOException, InterruptedException {
        Process jcmd = new ProcessBuilder(java("jcmd"), Long.toString(process.pid()), "GC.class_histogram")
                .redirectErrorStream(true)
                .start();
        String told = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        jcmd.waitFor();
        return told.lines()
                .filter(line -> line.startsWith("Total"))
                .mapToLong(line -> Long.parseLong(WORDS.splitToList(line).get(2)))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("jcmd says: " + told));
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
