// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.ZooKeeperResults;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;

/**
 * Work that is done once in a period, by one of several processes, under a mutex or a write lock. A lock alone keeps
 * two processes from doing it at a time; this keeps the second one from doing it again.
 *
 * <pre>{@code
 * OncePerPeriod nightly = OncePerPeriod.calendar(Duration.ofDays(1));
 * locks.mutex("/jobs/report").run(lease -> nightly.atLeastOnce(lease, turn -> report.send(turn.period())));
 * }</pre>
 *
 * <p>The last period is recorded in a persistent node beside the lock's path: {@code /jobs/report.period} for the lock
 * {@code /jobs/report}. It is written with {@link ZkLocks#guarded}, so a holder that has lost its lease records
 * nothing. Delete the node to have the work done again.
 *
 * <ul>
 *   <li>{@link #atMostOnce} records before the work: a holder that fails in between leaves the period without its work.
 *   <li>{@link #atLeastOnce} records after the work: if a holder fails in between, the next one repeats the work.
 *   <li>Exactly once is possible for effects in ZooKeeper that are written together with the record, by
 *       {@link Turn#guarded}, and for effects elsewhere that are idempotent by {@link Turn#period}, which is the same
 *       when the work is repeated.
 * </ul>
 *
 * <p>The clock is that of the process that asks. Periods are recorded in order: a process whose clock is behind does
 * nothing for a period that is over for the others, and no clock makes the work of one period run twice. A clock that
 * is ahead records a later period, and the work then rests until that period is over: {@link #last} shows it. An
 * ensemble that is restored from an older copy has an older record, so work may be repeated, also with
 * {@link #atMostOnce}.
 */
public final class OncePerPeriod {
    private static final Duration LONGEST = Duration.ofDays(36_525);

    private static final int NANOS_OF_A_MILLISECOND = 1_000_000;

    private final Duration length;
    private final boolean ofCalendar;
    private final InstantSource clock;

    private OncePerPeriod(Duration length, boolean ofCalendar, InstantSource clock) {
        this.length = Objects.requireNonNull(length, "length");
        this.ofCalendar = ofCalendar;
        this.clock = Objects.requireNonNull(clock, "clock");
        if (length.compareTo(Duration.ofMillis(1)) < 0 || length.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("the length must be from a millisecond to a century, not " + length);
        }
        if (length.toNanosPart() % NANOS_OF_A_MILLISECOND != 0) {
            throw new IllegalArgumentException("the length must be whole milliseconds, not " + length);
        }
    }

    /**
     * Returns periods of the calendar in UTC: one begins when the last ends, and one begins on 1 January 1970 at
     * midnight. So with a day the work is done once for each date in UTC, with an hour once for each hour; with seven
     * days the periods begin on Thursdays.
     *
     * @param length the length of a period in whole milliseconds, from one to a century
     * @return the periods
     * @throws IllegalArgumentException if the length is out of range, or not in whole milliseconds
     */
    public static OncePerPeriod calendar(Duration length) {
        return new OncePerPeriod(length, true, InstantSource.system());
    }

    /**
     * Returns periods that begin with the work: the work is due again when this time has passed since it was last done,
     * that is since the holder began it.
     *
     * @param length the shortest time from one beginning of the work to the next, in whole milliseconds, from one
     *     to a century
     * @return the periods
     * @throws IllegalArgumentException if the length is out of range, or not in whole milliseconds
     */
    public static OncePerPeriod interval(Duration length) {
        return new OncePerPeriod(length, false, InstantSource.system());
    }

    /**
     * Returns the same periods by another clock, for tests.
     *
     * @param other the clock
     * @return the periods
     */
    public OncePerPeriod withClock(InstantSource other) {
        return new OncePerPeriod(length, ofCalendar, other);
    }

    /**
     * The work of one period.
     *
     * @param <X> the exception that the work may throw
     */
    @FunctionalInterface
    public interface Work<X extends Throwable> {
        /**
         * Does the work.
         *
         * @param turn the period
         * @throws X if the work fails
         * @throws InterruptedException if the work is interrupted
         */
        void run(Turn turn) throws X, InterruptedException;
    }

    /**
     * Records the period and then does the work, unless the period is recorded already. If the work throws, or the
     * process ends, the period stays recorded; work that could not begin may {@linkplain Turn#takeBack take it back}.
     *
     * @param <X> the exception that the work may throw
     * @param lease a valid lease of one mutex or write lock, also by a multi-lock of one, of a {@link ZkLockClient}
     * @param work the work
     * @return whether the work was done; false if it is not due
     * @throws X if the work throws it
     * @throws InterruptedException if interrupted; before the work, the period may be recorded or not
     * @throws LeaseLostException if the lease is lost before the period is recorded; nothing was done
     * @throws IllegalStateException if the lease was released, or the clock shows a year before -9999 or after 9999;
     *     nothing was done
     * @throws IllegalArgumentException if the lease is not as described; nothing was done
     * @throws LockServiceUnavailableException if no server answers: the work was not done, and the period may be
     *     recorded or not
     * @throws LockException if the servers refuse; nothing was done
     */
    public <X extends Throwable> boolean atMostOnce(Lease lease, Work<X> work) throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        Optional<Turn> due = due(lease);
        if (due.isPresent()) {
            due.get().record();
            work.run(due.get());
        }
        return due.isPresent();
    }

    /**
     * Does the work and then records the period, unless the period is recorded already. If the work throws, or the
     * process ends before the record, the next holder repeats the work. If the work has called {@link Turn#guarded},
     * nothing else is recorded.
     *
     * @param <X> the exception that the work may throw
     * @param lease a valid lease of one mutex or write lock, also by a multi-lock of one, of a {@link ZkLockClient}
     * @param work the work
     * @return whether the work was done; false if it is not due
     * @throws X if the work throws it; the period is not recorded
     * @throws InterruptedException if interrupted; if the work was done, the period may be recorded or not
     * @throws LeaseLostException if the lease is lost before the period is recorded: the work may have been done, and
     *     is repeated; not if the work has caught this error from {@link Turn#guarded}
     * @throws IllegalStateException if the lease was released before the period was recorded, or the clock shows a year
     *     before -9999 or after 9999
     * @throws IllegalArgumentException if the lease is not as described; nothing was done
     * @throws LockServiceUnavailableException if no server answers; if the work was done, the period may be recorded or
     *     not
     * @throws LockException if the servers refuse; the period is not recorded
     */
    public <X extends Throwable> boolean atLeastOnce(Lease lease, Work<X> work) throws X, InterruptedException {
        Objects.requireNonNull(work, "work");
        Optional<Turn> due = due(lease);
        if (due.isPresent()) {
            work.run(due.get());
            due.get().recordUnlessTried();
        }
        return due.isPresent();
    }

    /**
     * Reads what is recorded: the beginning of the last period, or of the last work if these are
     * {@linkplain #interval intervals}. A later time than now shows that a clock was ahead.
     *
     * @param lease a lease as for {@link #atLeastOnce}
     * @return the recorded time; empty if there is no record
     * @throws InterruptedException if interrupted
     * @throws IllegalArgumentException if the lease is not as described
     * @throws LockException if the servers do not answer or refuse, or the node has other data
     */
    public Optional<Instant> last(Lease lease) throws InterruptedException {
        return new PeriodRecord(lease).read().map(PeriodRecord.LastRun::last);
    }

    private Optional<Turn> due(Lease lease) throws InterruptedException {
        PeriodRecord record = new PeriodRecord(lease);
        lease.ensureValid();
        Optional<PeriodRecord.LastRun> seen = record.read();
        Instant now = clock.instant();
        if (!PeriodRecord.isInRange(now)) {
            throw new IllegalStateException(
                    "The clock shows " + now + ", which can only be a mistake. Nothing was done.");
        }
        Optional<Instant> last = seen.map(PeriodRecord.LastRun::last);
        if (ofCalendar) {
            Instant period =
                    Instant.ofEpochMilli(Math.floorDiv(now.toEpochMilli(), length.toMillis()) * length.toMillis());
            return last.isPresent() && !last.get().isBefore(period)
                    ? Optional.empty()
                    : Optional.of(new Turn(record, seen, period, period));
        }
        Instant period = last.map(began -> began.plus(length)).orElse(Instant.EPOCH);
        return now.isBefore(period) ? Optional.empty() : Optional.of(new Turn(record, seen, period, now));
    }

    /** The period for which the work is due, and the way to record it. For the thread that does the work. */
    public static final class Turn {
        private final PeriodRecord record;
        private final Optional<PeriodRecord.LastRun> seen;
        private final Instant period;
        private final Instant recorded;
        private boolean tried;

        Turn(PeriodRecord record, Optional<PeriodRecord.LastRun> seen, Instant period, Instant recorded) {
            this.record = record;
            this.seen = seen;
            this.period = period;
            this.recorded = recorded;
        }

        /**
         * Returns the key of the period: its beginning. It is the same if the work of this period is repeated, so
         * effects can be made idempotent by it. For {@linkplain OncePerPeriod#interval intervals} it is the first
         * moment at which the work is due, and {@link Instant#EPOCH} the first time.
         *
         * @return the key, which no other period of this lock has
         */
        public Instant period() {
            return period;
        }

        /**
         * Writes the effects of the work together with the record of the period, in one guarded transaction. So they
         * are applied exactly once. For {@link OncePerPeriod#atLeastOnce} only, and once for each turn; again if the
         * servers have refused the writes.
         *
         * @param effects the writes, as in {@link ZkLocks#guarded}
         * @return the results of the effects, in their order
         * @throws LeaseLostException if the lease is lost: nothing was written
         * @throws IllegalStateException if the period is recorded already, or the lease was released: nothing was
         *     written
         * @throws KeeperException if nothing was written, or the outcome is unknown, as {@link ZkLocks#guarded} says;
         *     then the record tells the next holder whether all was written
         * @throws InterruptedException if interrupted while waiting for the response
         */
        public List<OpResult> guarded(Op... effects) throws KeeperException, InterruptedException {
            if (tried) {
                throw new IllegalStateException("The period " + period + " is recorded already. Nothing was written.");
            }
            List<Op> all = new ArrayList<>(List.of(effects));
            all.addAll(record.writes(seen, recorded));
            tried = true;
            try {
                return ZkLocks.guarded(record.lease(), all.toArray(Op[]::new)).subList(0, effects.length);
            } catch (IllegalArgumentException malformed) {
                tried = false;
                throw malformed;
            } catch (KeeperException failed) {
                tried = ZooKeeperResults.status(failed).outcome() == Status.Outcome.OPEN;
                throw failed;
            }
        }

        /**
         * Takes the record back, in a guarded transaction, if the work of {@link OncePerPeriod#atMostOnce} could not
         * begin: the period is due again. Only the work itself can know that nothing of it was done.
         *
         * @throws LeaseLostException if the lease is lost: the period stays recorded
         * @throws IllegalStateException if the lease was released: the period stays recorded
         * @throws KeeperException if the servers refuse, so that the period stays recorded, or the outcome is unknown,
         *     as {@link ZkLocks#guarded} says
         * @throws InterruptedException if interrupted while waiting for the response
         */
        public void takeBack() throws KeeperException, InterruptedException {
            var unused = ZkLocks.guarded(record.lease(), record.restoring(seen));
        }

        void record() throws InterruptedException {
            try {
                var unused = guarded();
            } catch (KeeperException refused) {
                throw record.refusal(refused);
            }
        }

        void recordUnlessTried() throws InterruptedException {
            if (!tried) {
                record();
            }
        }
    }
}
