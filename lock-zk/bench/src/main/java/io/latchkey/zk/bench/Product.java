// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import com.google.common.base.Splitter;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/** A server product: starts its servers, and reads the number of requests that they received. */
enum Product {
    /** ZooKeeper, with default settings. The number is not read by "mntr", which walks all nodes. */
    ZOOKEEPER("java", "srvr", 1, "Received: ") {
        @Override
        List<String> command(BenchServer.Place place, List<BenchServer.Place> all) throws IOException {
            Files.writeString(place.folder().resolve("myid"), Integer.toString(place.id()));
            Path config = Files.writeString(place.folder().resolve("zoo.cfg"), config(place, all));
            return List.of(
                    BenchServer.ofThisJdk(program()),
                    "-Xms1g",
                    "-Xmx1g",
                    "-cp",
                    System.getProperty("java.class.path"),
                    QuorumPeerMain.class.getName(),
                    config.toString());
        }

        private String config(BenchServer.Place place, List<BenchServer.Place> all) {
            String ensemble = all.size() == 1
                    ? ""
                    : all.stream().map(BenchServer.Place::line).collect(Collectors.joining("\n", "", "\n"));
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
    },
    /** A single Redis, without persistence. It counts commands, including those of scripts, not round trips. */
    REDIS("redis-server", "INFO stats\r\nQUIT\r\n", 2, "total_commands_processed:") {
        @Override
        List<String> command(BenchServer.Place place, List<BenchServer.Place> all) {
            return List.of(
                    program(),
                    "--bind",
                    "127.0.0.1",
                    "--port",
                    Integer.toString(place.clientPort()),
                    "--dir",
                    place.folder().toString(),
                    "--save",
                    "",
                    "--appendonly",
                    "no");
        }
    },
    /** A single etcd, with its log where the storage says. */
    ETCD("etcd", "GET /metrics HTTP/1.0\r\n\r\n", 0, "grpc_server_started_total{") {
        @Override
        List<String> command(BenchServer.Place place, List<BenchServer.Place> all) {
            String clients = "http://127.0.0.1:" + place.clientPort();
            String peers = "http://127.0.0.1:" + place.quorumPort();
            return List.of(
                    program(),
                    "--data-dir",
                    place.folder().resolve("data").toString(),
                    "--listen-client-urls",
                    clients,
                    "--advertise-client-urls",
                    clients,
                    "--listen-peer-urls",
                    peers,
                    "--initial-advertise-peer-urls",
                    peers,
                    "--initial-cluster",
                    "default=" + peers);
        }
    };

    private final String program;
    private final String question;
    private final int questionCounts;
    private final String answer;

    /** @param questionCounts the number of requests that reading the number adds to it */
    Product(String program, String question, int questionCounts, String answer) {
        this.program = program;
        this.question = question;
        this.questionCounts = questionCounts;
        this.answer = answer;
    }

    /** Products that are measured where they are installed. */
    static Set<Product> others() {
        return EnumSet.complementOf(EnumSet.of(ZOOKEEPER));
    }

    String program() {
        return program;
    }

    /** Whether the command is on the PATH. */
    boolean isInstalled() {
        return Splitter.on(File.pathSeparatorChar)
                .splitToStream(System.getenv("PATH"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    /** Returns the version that the server reports. */
    String found() {
        if (!isInstalled()) {
            return program + " was not found on this machine, and not measured";
        }
        try {
            Process asked = new ProcessBuilder(program, "--version").start();
            String told = new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return program + " on this machine says: "
                    + told.lines().findFirst().orElse("nothing");
        } catch (IOException e) {
            throw new UncheckedIOException(program + " does not report its version", e);
        }
    }

    /** Starts the server with these settings. */
    abstract List<String> command(BenchServer.Place place, List<BenchServer.Place> all) throws IOException;

    /** Returns the number of requests that a server has received by its own count. */
    long received(ServerProbe.ProbedServer server) throws IOException {
        List<String> counts = server.ask(question)
                .lines()
                .filter(line -> line.startsWith(answer))
                .toList();
        if (counts.isEmpty()) {
            throw new IOException("a server of " + program + " does not report the number of its requests");
        }
        return counts.stream().mapToLong(Product::count).sum();
    }

    /** The share of the previous read in that number. */
    int questionCounts() {
        return questionCounts;
    }

    private static long count(String line) {
        int before = Math.max(line.lastIndexOf(' '), line.lastIndexOf(':'));
        return (long) Double.parseDouble(line.substring(before + 1));
    }
}
