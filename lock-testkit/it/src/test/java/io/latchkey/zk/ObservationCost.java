// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockObserver;
import io.latchkey.lock.Mutex;
import io.latchkey.testkit.SimulatedLocks;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.text.ParseException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;

/**
 * Acquires and releases in a Java of its own, observed in one way, and prints the processor time that each acquire with
 * its release took: in memory, and with a server of another process. See {@link ObservationCostTest}.
 */
final class ObservationCost {
    private static final int BETWEEN_LOOKS = 200;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private ObservationCost() {}

    /** The kinds of observation. */
    enum Way {
        NO_RECORDER("a Java without the flight recorder"),
        NO_RECORDING("no recording"),
        OBSERVER("no recording, an observer that does nothing"),
        RECORDING_WITHOUT_OURS("the JDK's recording, without our events"),
        RECORDING("the JDK's recording"),
        RECORDING_OF_EVERYTHING("the JDK's recording, with every acquire");

        final String described;

        Way(String described) {
            this.described = described;
        }

        boolean records() {
            return this == RECORDING_WITHOUT_OURS || this == RECORDING || this == RECORDING_OF_EVERYTHING;
        }
    }

    public static void main(String[] args) throws Exception {
        Way way = Way.valueOf(args[0]);
        Duration each = Duration.ofMillis(Long.parseLong(args[2])).dividedBy(2);
        if (way.records()) {
            RecordedEvents.start(way);
        }
        boolean observed = way == Way.OBSERVER;
        double memory;
        try (SimulatedLocks locks = SimulatedLocks.start()) {
            memory = micros((observed ? locks.client(new LockObserver() {}) : locks.client()).mutex("/m"), each);
        }
        ZkLockClient.Builder builder = ZkLockClient.builder().connectString(args[1]);
        double server;
        try (LockClient client = (observed ? builder.observer(new LockObserver() {}) : builder).build()) {
            server = micros(client.mutex("/m"), each);
        }
        System.out.println(memory + " " + server);
        System.exit(0);
    }

    private static double micros(Mutex mutex, Duration span) throws InterruptedException {
        acquires(mutex, span.dividedBy(2)); // until it is compiled
        long before = cpuNanos();
        int done = acquires(mutex, span.dividedBy(2));
        return (cpuNanos() - before) / 1e3 / done;
    }

    /** For so much processor time, so that it is as much work however busy the machine is. */
    private static int acquires(Mutex mutex, Duration span) throws InterruptedException {
        long end = cpuNanos() + span.toNanos();
        int done = 0;
        while (cpuNanos() < end) {
            for (int i = 0; i < BETWEEN_LOOKS; i++) {
                mutex.acquire().close();
            }
            done += BETWEEN_LOOKS;
        }
        return done;
    }

    /**
     * Of all threads of Java, ZooKeeper's and the observer's too; the compiler and the collector are not among them.
     */
    private static long cpuNanos() {
        return Arrays.stream(THREADS.getAllThreadIds())
                .map(THREADS::getThreadCpuTime)
                .filter(nanos -> nanos > 0)
                .sum();
    }

    /** Not to be loaded where there is no flight recorder. */
    private static final class RecordedEvents {
        private static final int MOST_BYTES = 50_000_000;

        static void start(Way way) throws IOException, ParseException {
            Recording recording = new Recording(Configuration.getConfiguration("default"));
            recording.setMaxSize(MOST_BYTES);
            if (way == Way.RECORDING_OF_EVERYTHING) {
                for (String name : List.of("Requested", "Granted", "Released")) {
                    recording.enable("latchkey." + name).withoutThreshold().withStackTrace();
                }
            } else if (way == Way.RECORDING_WITHOUT_OURS) {
                for (String name : List.of(
                        "Requested", "Queued", "Granted", "NotGranted", "Suspect", "Lost", "Released", "Session")) {
                    recording.disable("latchkey." + name);
                }
            }
            recording.start();
        }
    }
}
