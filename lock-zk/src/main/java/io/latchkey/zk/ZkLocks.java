// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LossCause;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.store.Status;
import io.latchkey.zk.internal.store.Throttling;
import io.latchkey.zk.internal.store.ZnodeStore;
import io.latchkey.zk.internal.store.ZooKeeperResults;
import io.latchkey.zk.internal.store.ZooKeeperStore;
import io.latchkey.zk.internal.threads.CallerWait;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;

/** Guarded writes: transactions of ZooKeeper that are applied only while a lease's node exists. */
public final class ZkLocks {
    private ZkLocks() {}

    /**
     * Writes to ZooKeeper in one transaction that fails as a whole unless the node of the lease exists, or all its
     * nodes if it has several members. ZooKeeper applies all of the transaction or nothing. So no stale
     * write gets through, whatever clocks, pauses and operators do, and no store has to compare tokens. Waits for the
     * server; an interruption may leave the outcome unknown, as with {@link ZooKeeper#multi(Iterable)}.
     *
     * <p>A write whose outcome is unknown may be applied until the lease's node is deleted, and never after the next
     * grant. Within one client a release usually grants the next request before the server has deleted the node. If a
     * guarded write of the lease is in progress or its outcome is unknown, the next request is granted once the
     * deletion is confirmed. With {@link ZkLockClient.Builder#localTurns}, the turn is not passed on in this case.
     *
     * <p>The written data should not depend on a stale read. A handle other than the client's may be served by a server
     * that lags behind: call {@link ZooKeeper#sync} on it before the read, or write with the version that was read.
     *
     * <p>A server that throttles has written nothing; the transaction is sent again while the lease is valid.
     *
     * @param lease a lease granted by a {@link ZkLockClient}
     * @param ops the writes; their paths are as the client's ZooKeeper handle sees them: below the connect string's
     *     chroot, but not below {@link ZkLockClient.Builder#basePath(String)}
     * @return the results of {@code ops}, in their order
     * @throws LeaseLostException if the lease is lost; it becomes lost if its node is gone: nothing was written
     * @throws IllegalStateException if the lease was released or is being downgraded, or if this is the event thread of
     *     the ZooKeeper handle:
     *     nothing was written
     * @throws IllegalArgumentException if {@code lease} was not granted by a {@code ZkLockClient}, or if the path of an
     *     operation is malformed: nothing was written
     * @throws KeeperException if nothing was written, or the outcome is unknown. If it has {@link
     *     KeeperException#getResults() results}, one of {@code ops} failed and nothing was written. If it has none, the
     *     outcome is unknown, whatever the code: a connection or session was lost, or a server gave up on it, as
     *     by {@code REQUESTTIMEOUT} and {@code SESSIONMOVED}
     * @throws InterruptedException if interrupted while waiting for the response
     */
    public static List<OpResult> guarded(Lease lease, Op... ops) throws KeeperException, InterruptedException {
        Objects.requireNonNull(lease, "lease");
        Objects.requireNonNull(ops, "ops");
        if (!(lease instanceof ZkLease held) || !(held.store() instanceof ZooKeeperStore store)) {
            throw new IllegalArgumentException("not a lease of a ZkLockClient: " + lease);
        }
        held.context().checkMayWait("write under", lease);
        List<Op> all = new ArrayList<>(ops.length + held.nodePaths().size());
        held.nodePaths().forEach(node -> all.add(Op.check(node, ZnodeStore.ANY_VERSION)));
        int guards = all.size();
        for (Op op : ops) {
            all.add(Objects.requireNonNull(op, "op"));
        }
        while (true) {
            held.beginWrite();
            try {
                List<OpResult> results = store.zooKeeper().multi(all);
                held.writeAnswered();
                return results.subList(guards, results.size());
            } catch (KeeperException refused) {
                Status status = ZooKeeperResults.status(refused);
                if (status.outcome() != Status.Outcome.OPEN) {
                    held.writeAnswered();
                }
                OptionalInt gone = failedGuard(refused, guards);
                if (gone.isPresent()) {
                    throw withoutNode(held, gone.getAsInt());
                }
                if (status != Status.THROTTLED) {
                    throw refused;
                }
            } catch (IllegalArgumentException malformed) {
                // An operation with a malformed path, which ZooKeeper's client refuses before it sends anything.
                held.writeAnswered();
                throw malformed;
            }
            Throttling.pause();
        }
    }

    private static OptionalInt failedGuard(KeeperException refused, int guards) {
        List<OpResult> results = refused.getResults();
        return results == null
                ? OptionalInt.empty()
                : IntStream.range(0, Math.min(guards, results.size()))
                        .filter(i -> results.get(i) instanceof OpResult.ErrorResult guard
                                && guard.getErr() == KeeperException.Code.NONODE.intValue())
                        .findFirst();
    }

    /** Returns the error for a write under a lease whose node is gone, or throws that of a released lease. */
    private static RuntimeException withoutNode(ZkLease lease, int member) {
        String refused = "The guarded write was refused as a whole: the node of the lease on " + lease.path()
                + " with token " + lease.token() + " is gone (";
        LossCause cause = LossCause.NODE_DELETED;
        try {
            lease.ensureValid();
            CompletableFuture<Boolean> ended = lease.nodeGone(member);
            boolean unused =
                    CallerWait.awaitUninterruptibly(ended, lease.context().sessionTimeout());
            if (!ended.getNow(true)) {
                return new IllegalStateException(refused + "a downgrade is replacing it). Nothing was written. Write"
                        + " under the lease that the downgrade returns.");
            }
            lease.ensureValid();
        } catch (LeaseLostException loss) {
            cause = loss.lossCause();
        }
        return new LeaseLostException(
                refused + Errors.because(cause) + "). Nothing was written. Acquire again.", cause);
    }
}
