// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A probe of the servers from outside: the requests that they received, by their own count, and their processor time.
 * It also reads the processor time of this process, which has the clients and the proxy.
 *
 * @param idleCpu the processor load of all idle servers, which is subtracted
 */
record ServerProbe(double idleCpu, List<ProbedServer> servers) {
    private static final Pattern COMPILER = Pattern.compile("C[12] Compiler.*");
    private static final int ANSWERS_WITHIN_MILLIS = 5_000;

    /** A server, as seen from outside. */
    record ProbedServer(Product product, long pid, int port) {
        /**
         * Returns the response to a command after which the server closes the connection. Fails after some seconds,
         * because a starting server may accept the connection and never respond.
         */
        String ask(String command) throws IOException {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.setSoTimeout(ANSWERS_WITHIN_MILLIS);
                socket.getOutputStream().write(command.getBytes(StandardCharsets.US_ASCII));
                return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            }
        }

        /**
         * The processor time of all threads except those of the JIT compiler, which benefit later measurements and
         * whose time is lost when they end. In nanoseconds if the kernel has them, else in ticks of 10 ms, with all
         * threads.
         */
        private long cpuNanos() throws IOException {
            Path tasks = Path.of("/proc", Long.toString(pid), "task");
            if (!Files.isReadable(tasks)) {
                return ProcessHandle.of(pid)
                        .flatMap(process -> process.info().totalCpuDuration())
                        .map(Duration::toNanos)
                        .orElse(0L);
            }
            long sum = 0;
            try (DirectoryStream<Path> all = Files.newDirectoryStream(tasks)) {
                for (Path task : all) {
                    sum += cpuNanos(task);
                }
            }
            return sum;
        }

        private static long cpuNanos(Path task) throws IOException {
            try {
                if (COMPILER.matcher(Files.readString(task.resolve("comm")).trim())
                        .matches()) {
                    return 0;
                }
                String text = Files.readString(task.resolve("schedstat"));
                return Long.parseLong(text.substring(0, text.indexOf(' ')));
            } catch (IOException e) {
                if (Files.exists(task)) {
                    throw e;
                }
                return 0;
            }
        }
    }

    /** The totals of the servers at one time, or the difference between two times. */
    record Reading(long requests, long cpuNanos, long clientCpuNanos, long nanoTime) {
        Reading plus(Reading more) {
            return new Reading(
                    requests + more.requests,
                    cpuNanos + more.cpuNanos,
                    clientCpuNanos + more.clientCpuNanos,
                    nanoTime + more.nanoTime);
        }
    }

    private static long cpuNanosHere() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /** Reads the totals before a measurement; the cost of the read itself is not counted. */
    Reading read() {
        long requests = received();
        return new Reading(requests, cpuNanos(), cpuNanosHere(), System.nanoTime());
    }

    /** Returns the difference since then, before the cost of this read. */
    Reading since(Reading then) {
        long nanoTime = System.nanoTime();
        long clientCpu = cpuNanosHere();
        double cpu = cpuNanos() - then.cpuNanos() - idleCpu * (nanoTime - then.nanoTime());
        long asked = servers.stream()
                .mapToLong(server -> server.product().questionCounts())
                .sum();
        return new Reading(
                Math.max(0, received() - then.requests() - asked),
                Math.max(0, Math.round(cpu)),
                clientCpu - then.clientCpuNanos(),
                nanoTime - then.nanoTime());
    }

    private long received() {
        try {
            long sum = 0;
            for (ProbedServer server : servers) {
                sum += server.product().received(server);
            }
            return sum;
        } catch (IOException e) {
            throw new UncheckedIOException("a server does not report its state", e);
        }
    }

    private long cpuNanos() {
        try {
            long sum = 0;
            for (ProbedServer server : servers) {
                sum += server.cpuNanos();
            }
            return sum;
        } catch (IOException e) {
            throw new UncheckedIOException("the processor time of a server cannot be read", e);
        }
    }
}
