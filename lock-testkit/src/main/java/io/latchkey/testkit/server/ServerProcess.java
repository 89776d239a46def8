// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;
import org.jspecify.annotations.Nullable;

/** A server in a JVM of its own: its folder and configuration, which stay, and the process, which comes and goes. */
final class ServerProcess {
    /** The file of a server's folder with what it has printed. */
    static final String OUTPUT = "out";

    private final int id;
    private final Path folder;
    private final Path file;
    private final List<String> options;
    private String classPath;
    private @Nullable Process process;

    /**
     * Log and snapshots are not forced onto the disk, because written data outlives the process.
     *
     * @param config lines of {@code zoo.cfg}, which may replace those that all servers have
     * @param options of the JVM
     */
    ServerProcess(Path folder, int id, List<String> config, String classPath, List<String> options) {
        this.id = id;
        this.folder = folder;
        this.file = folder.resolve("zoo.cfg");
        this.options = List.copyOf(options);
        this.classPath = classPath;
        List<String> lines = new ArrayList<>(List.of(
                "dataDir=" + folder,
                "maxClientCnxns=0",
                "maxSessionTimeout=60000",
                "admin.enableServer=false",
                "4lw.commands.whitelist=srvr,dump"));
        lines.addAll(config);
        try {
            Files.createDirectories(folder);
            Files.writeString(folder.resolve("myid"), Integer.toString(id));
            Files.write(file, lines);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the configuration of server " + id, e);
        }
    }

    /** Has the next start use another class path. */
    void useFromNowOn(String other) {
        classPath = other;
    }

    private List<String> command() {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dzookeeper.forceSync=no",
                "-Dzookeeper.jmx.log4j.disable=true"));
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, QuorumPeerMain.class.getName(), file.toString()));
        return command;
    }

    void start() {
        try {
            process = new ProcessBuilder(command())
                    .redirectErrorStream(true)
                    .redirectOutput(folder.resolve(OUTPUT).toFile())
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start a JVM", e);
        }
    }

    private Process running() {
        Process now = process;
        if (now == null) {
            throw new IllegalStateException("server " + id + " does not run");
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
