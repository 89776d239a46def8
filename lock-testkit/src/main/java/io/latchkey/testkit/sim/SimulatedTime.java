// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.validity.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A clock for all clients and servers that advances only on request, with all their timers. The order of timers with
 * the same due time depends on their owner and on the order in which that owner set them, but not on the order between
 * owners.
 */
final class SimulatedTime {
    static final long START_MILLIS = 1_700_000_000_000L;
    private static final long NANOS_PER_MILLI = 1_000_000;
    /** The clients' first reading. Its origin means nothing, as that of {@link System#nanoTime}: it is not zero. */
    static final long ORIGIN = Duration.ofDays(3).toNanos();

    final PriorityQueue<PendingTimer> due = new PriorityQueue<>();
    private long nanos;
    /** Ports ask for theirs on their clients' threads. */
    private final AtomicInteger views = new AtomicInteger();

    long nanos() {
        return nanos;
    }

    long wallMillis() {
        return START_MILLIS + nanos / NANOS_PER_MILLI;
    }

    boolean hasNext() {
        return next() != null;
    }

    /** Returns when the next timer is due; never before now. */
    long nextAt() {
        PendingTimer next = next();
        return next == null ? Long.MAX_VALUE : Math.max(nanos, next.nanos);
    }

    /** Advances to the next due timer and runs it. */
    void runNext() {
        PendingTimer next = next();
        if (next != null) {
            due.remove();
            nanos = Math.max(nanos, next.nanos);
            next.run();
        }
    }

    /** Advances the clock to {@code moment}; no timer may be due before that. */
    void moveTo(long moment) {
        if (moment > nextAt()) {
            throw new IllegalStateException("a timer is due before");
        }
        nanos = Math.max(nanos, moment);
    }

    private @Nullable PendingTimer next() {
        PendingTimer head = due.peek();
        while (head != null && head.task == null) {
            due.remove();
            head = due.peek();
        }
        return head;
    }

    /** Returns the clock for one client or server. */
    View view() {
        return new View(views.getAndIncrement());
    }

    /** A timer. */
    static final class PendingTimer implements Clock.Timer, Comparable<PendingTimer> {
        final long nanos;
        final long number;
        final View owner;
        /**
         * Null if it has run or is cancelled: the timer stays in the queue until it is due, without a reference to its
         * owner.
         */
        @Nullable
        Runnable task;

        PendingTimer(long nanos, View owner, Runnable task) {
            this.nanos = nanos;
            this.owner = owner;
            this.number = owner.asked++;
            this.task = task;
        }

        void run() {
            Runnable now = Objects.requireNonNull(task);
            task = null;
            now.run();
        }

        @Override
        public void cancel() {
            task = null;
        }

        @Override
        public int compareTo(PendingTimer other) {
            if (nanos != other.nanos) {
                return Long.compare(nanos, other.nanos);
            }
            return owner == other.owner
                    ? Long.compare(number, other.number)
                    : Integer.compare(owner.index, other.owner.index);
        }
    }

    final class View implements Clock {
        private final int index;
        private long asked;
        /** What would be due, while its owner stands still. */
        private final List<PendingTimer> held = new ArrayList<>(0);
        /** Every time that it stood still, from when to when. */
        private final List<long[]> standstills = new ArrayList<>(0);
        /** Since when it does, or a negative number. */
        private long still = -1;

        View(int index) {
            this.index = index;
        }

        @Override
        public long nanos() {
            return ORIGIN + nanos;
        }

        @Override
        public long wallMillis() {
            return SimulatedTime.this.wallMillis();
        }

        @Override
        public Timer after(Duration delay, Runnable task) {
            return at(nanos() + delay.toNanos(), task);
        }

        /** Runs the task when {@link #nanos} is {@code moment}. */
        Timer at(long moment, Runnable task) {
            PendingTimer timer = new PendingTimer(moment - ORIGIN, this, task);
            if (isStill()) {
                held.add(timer);
            } else {
                due.add(timer);
            }
            return timer;
        }

        /** Suspends all timers of its owner. */
        void standStill() {
            still = nanos;
            for (PendingTimer timer : due) {
                if (timer.owner == this) {
                    held.add(timer);
                }
            }
            due.removeAll(held);
        }

        /** Resumes its owner: timers that became due while it stood still are due now. */
        void goOn() {
            standstills.add(new long[] {still, nanos});
            still = -1;
            due.addAll(held);
            held.clear();
        }

        boolean isStill() {
            return still >= 0;
        }

        @Override
        public Duration standstill(Duration span) {
            long longest = 0;
            for (long[] one : standstills) {
                if (one[1] >= nanos - span.toNanos()) {
                    longest = Math.max(longest, one[1] - one[0]);
                }
            }
            return Duration.ofNanos(longest);
        }

        @Override
        public void close() {
            due.removeIf(timer -> timer.owner == this);
            held.clear();
        }
    }
}
