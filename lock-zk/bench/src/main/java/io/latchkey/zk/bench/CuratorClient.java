// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.RetryOneTime;

/** A session of Curator. */
final class CuratorClient implements MeasuredClient {
    private final CuratorFramework framework;

    CuratorClient(String servers, Duration session) throws InterruptedException {
        framework = CuratorFrameworkFactory.builder()
                .connectString(servers)
                .sessionTimeoutMs((int) session.toMillis())
                .connectionTimeoutMs((int) session.toMillis())
                .retryPolicy(new RetryOneTime(100))
                .build();
        framework.start();
        framework.blockUntilConnected();
    }

    @Override
    public LockHandle handle(MeasuredLock recipe, String path) {
        return switch (recipe) {
            case MUTEX, ASYNC_RELEASE -> handle(new InterProcessMutex(framework, path));
            case FAILED_TRY -> {
                InterProcessLock mutex = new InterProcessMutex(framework, path);
                yield () -> {
                    if (mutex.acquire(0, TimeUnit.MILLISECONDS)) {
                        throw new IllegalStateException("acquired a lock that another client holds");
                    }
                    return HeldLock.NOTHING;
                };
            }
            case READ -> handle(new InterProcessReadWriteLock(framework, path).readLock());
            case WRITE -> handle(new InterProcessReadWriteLock(framework, path).writeLock());
            case SEMAPHORE_1 -> permitOf(new InterProcessSemaphoreV2(framework, path, MeasuredLock.PERMITS));
            case SEMAPHORE_1_OF_8 -> permitOf(new InterProcessSemaphoreV2(framework, path, MeasuredLock.MANY_PERMITS));
            case SEMAPHORE_3 -> {
                InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(framework, path, MeasuredLock.PERMITS);
                yield () -> {
                    Collection<Lease> leases = semaphore.acquire(MeasuredLock.PERMITS);
                    return () -> semaphore.returnAll(leases);
                };
            }
            case MULTI_5, MULTI_20 -> handle(new InterProcessMultiLock(framework, recipe.paths(path)));
        };
    }

    private static LockHandle permitOf(InterProcessSemaphoreV2 semaphore) {
        return () -> {
            Lease lease = semaphore.acquire();
            return () -> semaphore.returnLease(lease);
        };
    }

    private static LockHandle handle(InterProcessLock lock) {
        return () -> {
            lock.acquire();
            return lock::release;
        };
    }

    /** Curator has no asynchronous API, so each waiter has a thread. */
    @Override
    public void queueUp(String path, LongConsumer onTurn) {
        NumberedMutex mutex = new NumberedMutex(framework, path);
        Thread thread = new Thread(
                () -> {
                    try {
                        mutex.acquire();
                        onTurn.accept(mutex.number());
                        mutex.release();
                    } catch (Exception closed) {
                        // The measurement has ended, or will notice the missing waiter.
                    }
                },
                "curator-waiter");
        thread.setDaemon(true);
        thread.start();
    }

    /** A mutex that exposes the sequence number of its request. */
    private static final class NumberedMutex extends InterProcessMutex {
        NumberedMutex(CuratorFramework framework, String path) {
            super(framework, path);
        }

        long number() {
            String node = getLockPath();
            return Long.parseLong(node.substring(node.lastIndexOf('-') + 1));
        }
    }

    @Override
    public void close() {
        framework.close();
    }
}
