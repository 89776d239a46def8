// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.locks;

import io.latchkey.lock.LeaseLostException;
import io.latchkey.lock.LockOwnershipLostException;
import io.latchkey.lock.ReleaseOutcome;
import io.latchkey.zk.internal.locks.ThreadHolds.Side;
import io.latchkey.zk.internal.recipe.Recipe;
import io.latchkey.zk.internal.request.WaitPolicy;
import io.latchkey.zk.internal.request.ZkLease;
import io.latchkey.zk.internal.store.Errors;
import io.latchkey.zk.internal.threads.StackRoom;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A recipe as a {@link Lock}: owned by the thread, re-entrant, with one node whatever the depth. The two views of a
 * read-write lock share a thread's hold: a writer may also read, and a reader may not also write.
 */
final class LockView implements Lock {
    private final ZkAcquirable acquirable;
    private final ThreadHolds holds;
    private final Side side;

    LockView(ZkAcquirable acquirable, ThreadHolds holds, Side side) {
        this.acquirable = acquirable;
        this.holds = holds;
        this.side = side;
    }

    @Override
    public void lock() {
        if (!reenter()) {
            boolean held = hold(acquirable.awaitUninterruptibly(new WaitPolicy.Forever()));
            if (!held) {
                throw new IllegalStateException("an endless wait ended without a lease on " + acquirable);
            }
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (!reenter()) {
            hold(Optional.of((ZkLease) acquirable.acquire()));
        }
    }

    @Override
    public boolean tryLock() {
        return reenter() || hold(acquirable.awaitUninterruptibly(new WaitPolicy.Never()));
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        Objects.requireNonNull(unit, "unit");
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Duration timeout = Duration.ofNanos(Math.max(0, unit.toNanos(time)));
        return reenter() || hold(acquirable.tryAcquire(timeout).map(ZkLease.class::cast));
    }

    @Override
    public void unlock() {
        StackRoom.checkForACall();
        ThreadHolds.Hold hold = holds.mine(acquirable.holdKey())
                .filter(mine -> mine.has(side))
                .orElseThrow(() -> new IllegalMonitorStateException(
                        "This thread does not hold " + acquirable + "; only the thread that locked may unlock."));
        boolean valid = hold.lease().isValid();
        hold.leave(side);
        if (hold.isOver()) {
            holds.end(acquirable.holdKey());
        }
        if (!valid) {
            throw lost(hold.lease(), "unlocked");
        }
        if (hold.isOver()) {
            if (hold.lease().release() == ReleaseOutcome.LOST) {
                throw lost(hold.lease(), "unlocked");
            }
        } else if (side == Side.WRITE && !hold.has(side)) {
            downgrade(hold);
        }
    }

    /** Replaces the thread's write lease by a read lease. */
    private void downgrade(ThreadHolds.Hold hold) {
        try {
            hold.replaceLease(hold.lease().downgradeAndWait(Recipe.READ));
        } catch (LeaseLostException lost) {
            throw lost(hold.lease(), "unlocked");
        }
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("A distributed lock has no conditions.");
    }

    private boolean reenter() {
        Optional<ThreadHolds.Hold> mine = holds.mine(acquirable.holdKey());
        if (mine.isEmpty()) {
            return false;
        }
        if (!mine.get().lease().isValid()) {
            throw lost(mine.get().lease(), "locked again");
        }
        if (side == Side.WRITE && !mine.get().has(side)) {
            throw new IllegalStateException("This thread holds the read lock and cannot acquire " + acquirable
                    + ": two readers that tried would wait for each other. The read lock stays held. Unlock it, lock for"
                    + " writing, and read the data again.");
        }
        mine.get().enter(side);
        return true;
    }

    private boolean hold(Optional<ZkLease> lease) {
        if (lease.isEmpty()) {
            return false;
        }
        boolean begun = false;
        try {
            holds.begin(acquirable.holdKey(), lease.get(), side);
            begun = true;
        } finally {
            if (!begun) {
                lease.get().abandon();
            }
        }
        return true;
    }

    private LockOwnershipLostException lost(ZkLease lease, String what) {
        String cause = lease.lossCause()
                .map(known -> " (" + Errors.because(known) + ")")
                .orElse("");
        return new LockOwnershipLostException("This thread lost " + acquirable + cause + " before it " + what
                + ". Another client may hold it by now, so the work done since the loss was not protected.");
    }

    @Override
    public String toString() {
        return "Lock view of " + acquirable;
    }
}
