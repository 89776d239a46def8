// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.integration;

import io.latchkey.lock.Mutex;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.support.locks.DistributedLock;

/** A mutex as a lock of its thread, with a time to live where one is given. All views of its path are one lock. */
final class MutexLock implements DistributedLock {
    private final Mutex mutex;
    private final Lock view;

    MutexLock(Mutex mutex) {
        this.mutex = mutex;
        this.view = mutex.asLock();
    }

    @Override
    public void lock(Duration ttl) {
        mutex.heldAtMost(ttl).asLock().lock();
    }

    @Override
    public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
        return mutex.heldAtMost(ttl).asLock().tryLock(nanos(waitTime), TimeUnit.NANOSECONDS);
    }

    private static long nanos(Duration time) {
        try {
            return time.toNanos();
        } catch (ArithmeticException forEver) {
            return time.isNegative() ? 0 : Long.MAX_VALUE;
        }
    }

    @Override
    public void lock() {
        view.lock();
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        view.lockInterruptibly();
    }

    @Override
    public boolean tryLock() {
        return view.tryLock();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return view.tryLock(time, unit);
    }

    @Override
    public void unlock() {
        view.unlock();
    }

    @Override
    public Condition newCondition() {
        return view.newCondition();
    }

    @Override
    public String toString() {
        return mutex.toString();
    }
}
