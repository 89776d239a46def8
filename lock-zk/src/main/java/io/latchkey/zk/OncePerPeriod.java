// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.Throttling;
import io.latchkey.zk.internal.store.ZnodeStore.Lasting;
import io.latchkey.zk.internal.store.ZnodeStore.NodeData;
import io.latchkey.zk.internal.store.ZnodeStore.Write;
import io.latchkey.zk.internal.store.ZooKeeperResults;
import io.latchkey.zk.internal.store.ZooKeeperStore;
import io.latchkey.zk.internal.threads.Waiting;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
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
// The class is long because each call says what is recorded after each kind of failure.
public final class OncePerPeriod {
    private static final String SUFFIX = ".period";
    private static final String FORMAT = "latchkey-period/1 ";
    private static final Duration LONGEST = Duration.ofDays(36_525);
    /** A new record is created empty and written once. */
    private static final int VERSION_OF_A_NEW_RECORD = 1;

    private static final int NANOS_OF_A_MILLISECOND = 1_000_000;
    /** Records and clocks of other times can only be a mistake; sums with a period are in the range of all types. */
    private static final Instant EARLIEST = Instant.parse("-9999-01-01T00:00:00Z");

    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59.999999999Z");
    private static final String READ = "read the record of the last period";
    private static final String RECORD = "record the period";

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
        return new Place(lease).read().map(LastRun::last);
    }

    private Optional<Turn> due(Lease lease) throws InterruptedException {
        Place place = new Place(lease);
        lease.ensureValid();
        Optional<LastRun> seen = place.read();
        Instant now = clock.instant();
        if (!isInRange(now)) {
            throw new IllegalStateException(
                    "The clock shows " + now + ", which can only be a mistake. Nothing was done.");
        }
        Optional<Instant> last = seen.map(LastRun::last);
        if (ofCalendar) {
            Instant period =
                    Instant.ofEpochMilli(Math.floorDiv(now.toEpochMilli(), length.toMillis()) * length.toMillis());
            return last.isPresent() && !last.get().isBefore(period)
                    ? Optional.empty()
                    : Optional.of(new Turn(place, seen, period, period));
        }
        Instant period = last.map(began -> began.plus(length)).orElse(Instant.EPOCH);
        return now.isBefore(period) ? Optional.empty() : Optional.of(new Turn(place, seen, period, now));
    }

    private static boolean isInRange(Instant time) {
        return !time.isBefore(EARLIEST) && !time.isAfter(LATEST);
    }

    /** The record as it was read. */
    private record LastRun(Instant last, int version) {}

    /** The node of the record of a lock. */
    private static final class Place {
        private final ZkLease lease;
        private final ZooKeeperStore store;
        private final String node;
        private final String shown;

        Place(Lease lease) {
            Objects.requireNonNull(lease, "lease");
            if (!(lease instanceof ZkLease held) || !(held.store() instanceof ZooKeeperStore opened)) {
                throw new IllegalArgumentException("not a lease of a ZkLockClient: " + lease);
            }
            this.lease = held;
            this.store = opened;
            this.node = held.exclusivePath()
                            .map(LockPath::node)
                            .orElseThrow(() -> new IllegalArgumentException(
                                    "not a lease of one mutex or write lock: " + lease + ". Nothing was done."))
                    + SUFFIX;
            this.shown = held.path() + SUFFIX;
        }

        /**
         * Reads in the session that holds. It has seen that the node of the former holder is gone, so it sees what that
         * holder has recorded.
         */
        Optional<LastRun> read() throws InterruptedException {
            lease.context().checkMayWait(READ + " beside", lease);
            long until = System.nanoTime() + lease.context().sessionTimeout().toNanos();
            Response<NodeData> data = readOnce(until);
            while (data.code() == Status.THROTTLED) {
                Throttling.pause();
                data = readOnce(until);
            }
            if (data.code() == Status.NO_NODE) {
                return Optional.empty();
            } else if (!data.ok()) {
                throw Errors.of(shown, READ, data);
            }
            return Optional.of(new LastRun(parse(data.get().data()), data.get().version()));
        }

        private Response<NodeData> readOnce(long until) throws InterruptedException {
            CompletableFuture<Response<NodeData>> answer = new CompletableFuture<>();
            store.read(node, answer::complete);
            if (!Waiting.await(answer, Duration.ofNanos(until - System.nanoTime()))) {
                throw Errors.unavailable(shown, READ);
            }
            try {
                return Waiting.valueOf(answer);
            } catch (ExecutionException failed) {
                throw Errors.toCaller(failed);
            }
        }

        private Instant parse(byte[] data) {
            String text = new String(data, StandardCharsets.UTF_8);
            try {
                if (text.startsWith(FORMAT)) {
                    Instant last = Instant.parse(text.substring(FORMAT.length()));
                    if (isInRange(last)) {
                        return last;
                    }
                }
            } catch (DateTimeParseException unknown) {
                // Reported below.
            }
            throw new LockException("The node " + shown + " has data that this version does not know, where the last"
                    + " period is recorded. Nothing was done. Use another path, or delete the node.");
        }

        private static byte[] bytes(Instant recorded) {
            return (FORMAT + recorded).getBytes(StandardCharsets.UTF_8);
        }

        List<Op> writes(Optional<LastRun> seen, Instant recorded) {
            byte[] data = bytes(recorded);
            return seen.map(before -> List.of(store.op(new Write.SetData(node, data, before.version()))))
                    .orElseGet(() -> List.of(
                            store.op(new Write.CreatePath(node, Lasting.FOR_EVER)),
                            store.op(new Write.SetData(node, data, 0))));
        }

        /** Returns the write that restores what was read, after the record was written once. */
        Op restoring(Optional<LastRun> seen) {
            return seen.map(before -> store.op(new Write.SetData(node, bytes(before.last()), before.version() + 1)))
                    .orElseGet(() -> Op.delete(node, VERSION_OF_A_NEW_RECORD));
        }

        LockException refusal(KeeperException refused) {
            Status status = ZooKeeperResults.status(refused);
            if (status.outcome() == Status.Outcome.OPEN) {
                return new LockServiceUnavailableException(
                        "The servers did not answer the request to " + RECORD + " at "
                                + shown + ", or left its outcome open (" + refused.code()
                                + "). It is recorded or not: the record shows it to the next holder. Try again.");
            }
            return switch (status) {
                case NO_AUTH ->
                    new AccessDeniedException("The server refused this client to " + RECORD + " at " + shown
                            + ". Nothing is recorded. Check the ACL of the node and of the level above it.");
                default ->
                    new LockException("The server refused to " + RECORD + " at " + shown + " (" + refused.code()
                            + "). Nothing is recorded. If another client has changed the node: only this recipe may.");
            };
        }
    }

    /** The period for which the work is due, and the way to record it. For the thread that does the work. */
    public static final class Turn {
        private final Place place;
        private final Optional<LastRun> seen;
        private final Instant period;
        private final Instant recorded;
        private boolean tried;

        Turn(Place place, Optional<LastRun> seen, Instant period, Instant recorded) {
            this.place = place;
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
            all.addAll(place.writes(seen, recorded));
            tried = true;
            try {
                return ZkLocks.guarded(place.lease, all.toArray(Op[]::new)).subList(0, effects.length);
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
            var unused = ZkLocks.guarded(place.lease, place.restoring(seen));
        }

        void record() throws InterruptedException {
            try {
                var unused = guarded();
            } catch (KeeperException refused) {
                throw place.refusal(refused);
            }
        }

        void recordUnlessTried() throws InterruptedException {
            if (!tried) {
                record();
            }
        }
    }
}
