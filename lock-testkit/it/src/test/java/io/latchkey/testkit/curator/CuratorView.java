// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import io.latchkey.lock.LockException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.apache.curator.framework.recipes.locks.InterProcessLock;

/** Curator's lock object under the names of {@link Lock}. It is owned by the thread and re-entrant as it is. */
record CuratorView(InterProcessLock curators) implements Lock {
    private interface Step<T> {
        T take() throws Exception;
    }

    private static <T> T taken(Step<T> step) throws InterruptedException {
        try {
            return step.take();
        } catch (InterruptedException | RuntimeException told) {
            throw told;
        } catch (Exception failed) {
            throw new LockException("Curator failed", failed);
        }
    }

    private static <T> T uninterruptibly(Step<T> step) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return taken(step);
                } catch (InterruptedException again) {
                    Thread.interrupted(); // Curator sets the status again
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void lock() {
        uninterruptibly(() -> {
            curators.acquire();
            return true;
        });
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        taken(() -> {
            curators.acquire();
            return true;
        });
    }

    @Override
    public boolean tryLock() {
        return uninterruptibly(() -> curators.acquire(0, TimeUnit.MILLISECONDS));
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return taken(() -> curators.acquire(time, unit));
    }

    /** Not to be tried twice: Curator counts the hold down first. */
    @Override
    public void unlock() {
        boolean interrupted = Thread.interrupted();
        try {
            taken(() -> {
                curators.release();
                return true;
            });
        } catch (InterruptedException deletedInTheBackground) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException();
    }
}
