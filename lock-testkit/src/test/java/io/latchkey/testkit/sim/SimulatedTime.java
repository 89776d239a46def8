package io.latchkey.testkit.sim;

import io.latchkey.zk.session.Time;
import java.time.Duration;
import java.util.Comparator;
import java.util.Optional;
import java.util.TreeSet;

/** A clock that stands still until it is moved, the same for everybody, with the timers of all. */
final class SimulatedTime {
    private static final long START_MILLIS = 1_700_000_000_000L;

    private final TreeSet<Due> due =
            new TreeSet<>(Comparator.comparingLong(Due::nanos).thenComparingLong(Due::number));
    private long nanos;
    private long numbers;

    /** A task for later. */
    private record Due(long nanos, long number, View owner, Runnable task) {}

    long wallMillis() {
        return START_MILLIS + nanos / 1_000_000;
    }

    /** Lets time pass, and runs what is due then. */
    void pass(Duration span) {
        nanos += span.toNanos();
        while (!due.isEmpty() && due.first().nanos() <= nanos) {
            Due next = due.first();
            due.remove(next);
            next.task().run();
        }
    }

    /** When the next timer is due, from now; not before now. */
    Optional<Duration> untilNext() {
        return due.isEmpty()
                ? Optional.empty()
                : Optional.of(Duration.ofNanos(Math.max(0, due.first().nanos() - nanos)));
    }

    /** The clock as one client has it. */
    Time view() {
        return new View();
    }

    private final class View implements Time {
        @Override
        public long nanos() {
            return nanos;
        }

        @Override
        public long wallMillis() {
            return SimulatedTime.this.wallMillis();
        }

        @Override
        public Timer after(Duration delay, Runnable task) {
            Due at = new Due(nanos + delay.toNanos(), numbers++, this, task);
            due.add(at);
            return () -> due.remove(at);
        }

        @Override
        public void close() {
            due.removeIf(at -> at.owner() == this);
        }
    }
}
