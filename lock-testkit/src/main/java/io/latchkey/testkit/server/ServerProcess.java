// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import io.latchkey.testkit.Signals;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;
import org.jspecify.annotations.Nullable;

/** One server of an ensemble, in a JVM of its own: its place, which stays, and the process, which comes and goes. */
final class ServerProcess {
    private final EnsembleServer.Place place;
    private final Path config;
    private @Nullable Process process;

    ServerProcess(EnsembleServer.Place place, List<EnsembleServer.Place> all, int tickMillis, List<String> settings) {
        this.place = place;
        this.config = place.folder().resolve("zoo.cfg");
        try {
            Files.createDirectories(place.folder());
            Files.writeString(place.folder().resolve("myid"), Integer.toString(place.id()));
            Files.writeString(config, config(all, tickMillis, settings));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the configuration of server " + place.id(), e);
        }
    }

    private String config(List<EnsembleServer.Place> all, int tickMillis, List<String> settings) {
        return String.join(
                "\n",
                "tickTime=" + tickMillis,
                "initLimit=50",
                "syncLimit=10",
                "dataDir=" + place.folder(),
                "clientPort=" + place.clientPort(),
                "clientPortAddress=127.0.0.1",
                "maxClientCnxns=0",
                "maxSessionTimeout=60000",
                "admin.enableServer=false",
                "4lw.commands.whitelist=srvr,dump",
                String.join("\n", settings),
                all.stream()
                        .map(each ->
                                "server." + each.id() + "=127.0.0.1:" + each.quorumPort() + ":" + each.electionPort())
                        .collect(Collectors.joining("\n")));
    }

    /** Log and snapshots are not forced onto the disk, because written data outlives the process. */
    void start() {
        try {
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx128m",
                            "-XX:+UseSerialGC",
                            "-XX:TieredStopAtLevel=1",
                            "-Dzookeeper.forceSync=no",
                            "-Dreadonlymode.enabled=true",
                            "-Dzookeeper.jmx.log4j.disable=true",
                            "-D" + Elections.LONGEST_SILENCE + "=" + Elections.LONGEST_SILENCE_MILLIS,
                            "-cp",
                            System.getProperty("java.class.path"),
                            QuorumPeerMain.class.getName(),
                            config.toString())
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start a JVM", e);
        }
    }

    private Process running() {
        Process now = process;
        if (now == null) {
            throw new IllegalStateException("server " + place.id() + " does not run");
        }
        return now;
    }

    void pause() {
        Signals.stop(running());
    }

    void resume() {
        Signals.goOn(running());
    }

    /** SIGKILL, paused or not. */
    void kill() {
        Process dying = process;
        process = null;
        if (dying != null) {
            try {
                int unused = dying.destroyForcibly().waitFor();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
