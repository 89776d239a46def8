// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.Mutex;
import java.util.function.LongConsumer;

/** A session of Latchkey. */
final class LatchkeyClient implements MeasuredClient {
    private final LockClient locks;

    LatchkeyClient(LockClient locks) {
        this.locks = locks;
    }

    @Override
    public LockHandle handle(MeasuredLock recipe, String path) {
        return switch (recipe) {
            case MUTEX -> handle(locks.mutex(path));
            case ASYNC_RELEASE -> {
                Mutex mutex = locks.mutex(path);
                yield () -> {
                    Lease lease = mutex.acquire();
                    return () -> {
                        var unused = lease.releaseAsync();
                    };
                };
            }
            case FAILED_TRY -> {
                Mutex mutex = locks.mutex(path);
                yield () -> {
                    if (mutex.tryAcquire().isPresent()) {
                        throw new IllegalStateException("acquired a lock that another client holds");
                    }
                    return HeldLock.NOTHING;
                };
            }
            case READ -> handle(locks.readWriteLock(path).readLock());
            case WRITE -> handle(locks.readWriteLock(path).writeLock());
            case SEMAPHORE_1 -> handle(locks.semaphore(path, MeasuredLock.PERMITS));
            case SEMAPHORE_3 ->
                handle(locks.semaphore(path, MeasuredLock.PERMITS).permits(MeasuredLock.PERMITS));
            case SEMAPHORE_1_OF_8 -> handle(locks.semaphore(path, MeasuredLock.MANY_PERMITS));
            case MULTI_5, MULTI_20 ->
                handle(locks.multiLock(
                        recipe.paths(path).stream().map(locks::mutex).toArray(Acquirable[]::new)));
        };
    }

    private static LockHandle handle(Acquirable lock) {
        return () -> new LeasedLock(lock.acquire());
    }

    private record LeasedLock(Lease lease) implements HeldLock {
        @Override
        public void release() {
            lease.release();
        }

        @Override
        public long token() {
            return lease.token();
        }
    }

    @Override
    public void queueUp(String path, LongConsumer onTurn) {
        var unused = locks.mutex(path).acquireAsync().thenAccept(lease -> {
            onTurn.accept(lease.token());
            var unused2 = lease.releaseAsync();
        });
    }

    @Override
    public void close() {
        locks.close();
    }
}
