// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockServiceUnavailableException;
import io.latchkey.zk.internal.queue.LockPath;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Response;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.Throttling;
import io.latchkey.zk.internal.store.ZnodeStore.Lifetime;
import io.latchkey.zk.internal.store.ZnodeStore.NodeData;
import io.latchkey.zk.internal.store.ZnodeStore.Write;
import io.latchkey.zk.internal.store.ZooKeeperResults;
import io.latchkey.zk.internal.store.ZooKeeperStore;
import io.latchkey.zk.internal.threads.CallerWait;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;

/**
 * The node beside a lock that tells for which period its work was last done: only {@link OncePerPeriod} writes it,
 * under the lock.
 */
final class PeriodRecord {
    private static final String SUFFIX = ".period";
    private static final String FORMAT = "latchkey-period/1 ";
    /** A new record is created empty and written once. */
    private static final int VERSION_OF_A_NEW_RECORD = 1;

    private static final Errors.Purpose READ = Errors.Purpose.toSee("read the record of the last period");
    private static final String RECORD = "record the period";

    /** Records and clocks of other times can only be a mistake; sums with a period are in the range of all types. */
    private static final Instant EARLIEST = Instant.parse("-9999-01-01T00:00:00Z");

    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59.999999999Z");

    /** The record as it was read. */
    record LastRun(Instant last, int version) {}

    private final ZkLease lease;
    private final ZooKeeperStore store;
    private final String node;
    private final String shown;

    PeriodRecord(Lease lease) {
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

    ZkLease lease() {
        return lease;
    }

    /**
     * Reads in the session that holds. It has seen that the node of the former holder is gone, so it sees what that
     * holder has recorded.
     */
    Optional<LastRun> read() throws InterruptedException {
        lease.context().checkMayWait(READ.what() + " beside", lease);
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
        if (!CallerWait.await(answer, Duration.ofNanos(until - System.nanoTime()))) {
            throw Errors.unavailable(shown, READ);
        }
        return Errors.valueOf(answer);
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
                        store.op(new Write.CreatePath(node, Lifetime.FOR_EVER)),
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
            return new LockServiceUnavailableException("The servers did not answer the request to " + RECORD + " at "
                    + shown + ", or left its outcome open (" + refused.code()
                    + "). It is recorded or not: the record shows it to the next holder. Try again.");
        }
        if (status == Status.NO_AUTH) {
            return new AccessDeniedException("The server refused this client to " + RECORD + " at " + shown
                    + ". Nothing is recorded. Check the ACL of the node and of the level above it.");
        }
        boolean quota = refused.code() == KeeperException.Code.QUOTAEXCEEDED;
        return new LockException(
                "The server refused to " + RECORD + " at " + shown + " (" + refused.code() + "). Nothing is recorded. "
                        + (quota
                                ? "Raise the quota of the path, or delete nodes below it."
                                : "If another client has changed the node: only this recipe may."),
                quota ? LockException.Reason.QUOTA_EXCEEDED : LockException.Reason.OTHER);
    }

    static boolean isInRange(Instant time) {
        return !time.isBefore(EARLIEST) && !time.isAfter(LATEST);
    }
}
