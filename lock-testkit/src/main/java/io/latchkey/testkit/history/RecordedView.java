// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.history;

import io.latchkey.lock.LockOwnershipLostException;
import io.latchkey.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/** A view whose holds are recorded, each for its thread. Does nothing else. */
final class RecordedView implements Lock {
    private static final AtomicLong THREADS = new AtomicLong();
    /** Tells threads of the same name apart, such as virtual threads; a subclass of Thread may invent its id. */
    private static final ThreadLocal<Long> THREAD = ThreadLocal.withInitial(THREADS::incrementAndGet);

    private final EventLog log;
    private final String client;
    private final Lock view;
    private final LockClaim claim;
    private final ThreadLocal<Deque<Attempt>> holds = ThreadLocal.withInitial(ArrayDeque::new);

    RecordedView(EventLog log, String client, Lock view, LockClaim claim) {
        this.log = log;
        this.client = client;
        this.view = view;
        this.claim = claim;
    }

    private interface LockCall<X extends Exception> {
        boolean lock() throws X;
    }

    private <X extends Exception> boolean recording(String how, LockCall<X> locking) throws X {
        String owner = client + "/" + Thread.currentThread().getName() + " (thread " + THREAD.get() + ")";
        Attempt attempt = log.attempt(owner, List.of(claim), ServerObservation.nobody(), how);
        boolean locked = false;
        String why = "failed";
        try {
            locked = locking.lock();
            why = HistoryEvent.OUT_OF_TIME;
        } finally {
            if (locked) {
                attempt.granted(0);
                holds.get().push(attempt);
            } else {
                attempt.gaveUp(why);
            }
        }
        return locked;
    }

    @Override
    public void lock() {
        recording("", () -> {
            view.lock();
            return true;
        });
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        recording("", () -> {
            view.lockInterruptibly();
            return true;
        });
    }

    @Override
    public boolean tryLock() {
        return recording(Duration.ZERO.toString(), view::tryLock);
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        long nanos = Math.max(0, unit.toNanos(time));
        return recording(Duration.ofNanos(nanos).toString(), () -> view.tryLock(time, unit));
    }

    @Override
    public void unlock() {
        Attempt last = holds.get().poll();
        if (last == null) {
            view.unlock(); // throws
            return;
        }
        last.releasing();
        try {
            view.unlock();
        } catch (LockOwnershipLostException lost) {
            last.lost("found by unlock");
            throw lost;
        }
        last.released(ReleaseOutcome.PENDING); // a view does not tell what the server knew
    }

    @Override
    public Condition newCondition() {
        return view.newCondition();
    }
}
