// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.MultiLock;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.StripedMutex;
import java.util.concurrent.atomic.AtomicLong;

/** A client that counts the grants of its mutexes: the wrapper of docs/testkit.md. */
final class MeteredLocks implements LockClient {
    private final LockClient inner;
    private final AtomicLong grants = new AtomicLong();

    MeteredLocks(LockClient inner) {
        this.inner = inner;
    }

    long grants() {
        return grants.get();
    }

    @Override
    public Mutex mutex(String path) {
        return new MeteredMutex(inner.mutex(path), grants);
    }

    @Override
    public ReadWriteLock readWriteLock(String path) {
        return inner.readWriteLock(path);
    }

    @Override
    public Semaphore semaphore(String path, int permits) {
        return inner.semaphore(path, permits);
    }

    @Override
    public MultiLock multiLock(Acquirable... members) {
        return inner.multiLock(members);
    }

    @Override
    public StripedMutex stripedMutex(String path, int stripes) {
        return inner.stripedMutex(path, stripes);
    }

    @Override
    public void close() {
        inner.close();
    }
}
