// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.testkit.FencedStore;
import io.latchkey.zk.UpdateWorker.Mode;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Processes that update the same things under locks, the stores that are not on ZooKeeper, and the count of what was
 * acknowledged.
 */
final class LostUpdates implements AutoCloseable {
    private final List<Worker> workers = new ArrayList<>();
    private final Map<Mode, Set<String>> acknowledged = new EnumMap<>(Mode.class);
    private final Map<Mode, AtomicInteger> refused = new EnumMap<>(Mode.class);
    private final FencedStore<String> fenced = new FencedStore<>("");
    private String unfenced = "";

    LostUpdates(String connectString, int workers) {
        for (Mode mode : Mode.values()) {
            acknowledged.put(mode, ConcurrentHashMap.newKeySet());
            refused.put(mode, new AtomicInteger());
        }
        for (int i = 0; i < workers; i++) {
            this.workers.add(new Worker(connectString, "w" + i));
        }
        this.workers.forEach(worker -> worker.reader.start());
    }

    List<Worker> workers() {
        return List.copyOf(workers);
    }

    Set<String> acknowledged(Mode mode) {
        return Set.copyOf(acknowledged.get(mode));
    }

    /** How many writes were refused, or were not known to be carried out. */
    int refused(Mode mode) {
        return refused.get(mode).get();
    }

    /** What was acknowledged and is not in what was written last. */
    Set<String> lost(Mode mode, String last) {
        Set<String> lost = new LinkedHashSet<>(acknowledged(mode));
        lost.removeAll(Set.of(last.split(",")));
        return lost;
    }

    synchronized String lastUnfenced() {
        return unfenced;
    }

    String lastFenced() {
        return fenced.look();
    }

    private synchronized String carryOut(Mode mode, String[] words) {
        boolean writes = words[1].equals("write");
        if (mode == Mode.LOCK_ALONE) {
            if (writes) {
                unfenced = words[3];
            }
            return "ok " + unfenced;
        }
        long token = Long.parseLong(words[2]);
        try {
            if (writes) {
                fenced.write(words[3], token);
            }
            return "ok " + fenced.read(token);
        } catch (FencedStore.StaleTokenException stale) {
            return "refused";
        }
    }

    /** One process. */
    final class Worker {
        private final Process process;
        private final BufferedWriter answers;
        private final Thread reader;
        private final Set<Mode> thinking = ConcurrentHashMap.newKeySet();

        private Worker(String connectString, String name) {
            try {
                process = new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "-Xmx64m",
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                System.getProperty("java.class.path"),
                                UpdateWorker.class.getName(),
                                connectString,
                                name)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
            } catch (IOException e) {
                throw new UncheckedIOException("cannot start a JVM", e);
            }
            answers = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
            reader = new Thread(this::read, "reads-" + name);
            reader.setDaemon(true);
        }

        /** Whether it has read and not written. */
        boolean isThinking(Mode mode) {
            return thinking.contains(mode);
        }

        void signal(String name) throws IOException, InterruptedException {
            Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
            if (kill.waitFor() != 0) {
                throw new IllegalStateException("kill -" + name + " ended with " + kill.exitValue());
            }
        }

        private void read() {
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    heard(line.split(" ", 4));
                }
            } catch (IOException ended) {
                // as the end of the stream
            }
        }

        private void heard(String[] words) throws IOException {
            Mode mode = Mode.valueOf(words[0]);
            switch (words[1]) {
                case "thinks" -> thinking.add(mode);
                case "acknowledged" -> {
                    thinking.remove(mode);
                    acknowledged.get(mode).add(words[2]);
                }
                case "not-written" -> {
                    thinking.remove(mode);
                    refused.get(mode).incrementAndGet();
                }
                default -> {
                    String answer = carryOut(mode, words);
                    if (words[1].equals("read")) {
                        thinking.add(mode);
                    }
                    answers.write(mode + " " + answer + "\n");
                    answers.flush();
                }
            }
        }
    }

    /** Kills the processes and reads the rest of their output. */
    void end() {
        for (Worker worker : workers) {
            try {
                int unused = worker.process.destroyForcibly().waitFor();
                worker.reader.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void close() {
        end();
    }
}
