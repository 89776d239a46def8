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

/** One server, in a separate process. */
final class BenchServer implements AutoCloseable {
    private static final Splitter WORDS = Splitter.on(CharMatcher.whitespace()).omitEmptyStrings();
    private static final long STARTS_WITHIN = TimeUnit.SECONDS.toNanos(60);
    private static final long LOOK_AGAIN = TimeUnit.MILLISECONDS.toNanos(50);

    private final Product product;
    private final Process process;
    private final int port;

    private BenchServer(Product product, Process process, int port) {
        this.product = product;
        this.process = process;
        this.port = port;
    }

    /** The folder and ports of a server. */
    record Place(int id, Path folder, int clientPort, int quorumPort, int electionPort) {
        String line() {
            return "server." + id + "=127.0.0.1:" + quorumPort + ":" + electionPort;
        }
    }

    static BenchServer start(Product product, Place place, List<Place> all) throws IOException {
        Files.createDirectories(place.folder());
        Process process = new ProcessBuilder(product.command(place, all))
                .redirectErrorStream(true)
                .redirectOutput(place.folder().resolve("out.txt").toFile())
                .start();
        return new BenchServer(product, process, place.clientPort());
    }

    /** The path of a tool. */
    static String ofThisJdk(String tool) {
        return System.getProperty("java.home") + File.separator + "bin" + File.separator + tool;
    }

    int port() {
        return port;
    }

    ServerProbe.ProbedServer seen() {
        return new ServerProbe.ProbedServer(product, process.pid(), port);
    }

    void awaitServing() throws InterruptedException {
        long deadline = System.nanoTime() + STARTS_WITHIN;
        while (!serves()) {
            if (System.nanoTime() - deadline > 0 || !process.isAlive()) {
                throw new IllegalStateException(
                        "the server of " + product.program() + " at port " + port + " does not start");
            }
            LockSupport.parkNanos(LOOK_AGAIN);
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted while a server starts");
            }
        }
    }

    private boolean serves() {
        try {
            return product.received(seen()) >= 0;
        } catch (IOException notYet) {
            return false;
        }
    }

    /** The total size of live objects, by a class histogram, if the server runs in a JVM. */
    long heapBytes() throws IOException, InterruptedException {
        Process jcmd = new ProcessBuilder(ofThisJdk("jcmd"), Long.toString(process.pid()), "GC.class_histogram")
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
