// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.bench;

import java.time.Duration;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.config.Config;

/** A client of Redisson, with a connection for each thread of the load. */
final class RedissonClient implements MeasuredClient {
    private static final int THREADS = 2;
    private static final int CONNECTIONS = 32;

    private final org.redisson.api.RedissonClient redisson;
    private final boolean fair;

    /** @param fair whether to use the fair lock; otherwise the lock with fencing tokens */
    RedissonClient(String server, Duration session, boolean fair) {
        Config config =
                new Config().setThreads(THREADS).setNettyThreads(THREADS).setLockWatchdogTimeout(session.toMillis());
        config.useSingleServer()
                .setAddress("redis://" + server)
                .setConnectionPoolSize(CONNECTIONS)
                .setConnectionMinimumIdleSize(1);
        this.redisson = Redisson.create(config);
        this.fair = fair;
    }

    @Override
    public LockHandle handle(MeasuredLock recipe, String path) {
        if (recipe != MeasuredLock.MUTEX) {
            throw new UnsupportedOperationException("only mutexes are compared");
        }
        if (fair) {
            RLock lock = redisson.getFairLock(path);
            return () -> {
                lock.lockInterruptibly();
                return lock::unlock;
            };
        }
        RFencedLock lock = redisson.getFencedLock(path);
        return () -> {
            var unused = lock.lockAndGetToken();
            return lock::unlock;
        };
    }

    @Override
    public void close() {
        redisson.shutdown();
    }
}
