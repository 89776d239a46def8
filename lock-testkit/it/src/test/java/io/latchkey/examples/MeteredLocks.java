// SPDX-License-Identifier: Apache-2.0
package io.latchkey.examples;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.MultiLock;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.SessionStatus;
import io.latchkey.lock.StripedMutex;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.Diagnosis;
import io.latchkey.lock.admin.LockListing;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;

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
    public LockListing listLocks(String root) throws InterruptedException {
        return inner.listLocks(root);
    }

    @Override
    public CompletableFuture<LockListing> listLocksAsync(String root) {
        return inner.listLocksAsync(root);
    }

    @Override
    public LockListing listLocksAt(String path) throws InterruptedException {
        return inner.listLocksAt(path);
    }

    @Override
    public Diagnosis diagnose() {
        return inner.diagnose();
    }

    @Override
    public SessionStatus session() {
        return inner.session();
    }

    @Override
    public void close(Duration grace) {
        inner.close(grace);
    }

    @Override
    public void close() {
        inner.close();
    }

    /** A mutex that counts its grants. */
    static final class MeteredMutex implements Mutex {
        private final Mutex inner;
        private final AtomicLong grants;

        MeteredMutex(Mutex inner, AtomicLong grants) {
            this.inner = inner;
            this.grants = grants;
        }

        @Override
        public Optional<Lease> leaseOfView() {
            return inner.leaseOfView();
        }

        private Lease counted(Lease lease) {
            grants.incrementAndGet();
            return lease;
        }

        @Override
        public Lease acquire() throws InterruptedException {
            return counted(inner.acquire());
        }

        @Override
        public Lease acquireUninterruptibly() {
            return counted(inner.acquireUninterruptibly());
        }

        @Override
        public Optional<Lease> tryAcquire() throws InterruptedException {
            return inner.tryAcquire().map(this::counted);
        }

        @Override
        public Optional<Lease> tryAcquire(Duration timeout) throws InterruptedException {
            return inner.tryAcquire(timeout).map(this::counted);
        }

        /** Returns the future itself: to cancel another that depends on it would leave the request in the queue. */
        @Override
        public CompletableFuture<Lease> acquireAsync() {
            CompletableFuture<Lease> asked = inner.acquireAsync();
            var unused = asked.thenApply(this::counted);
            return asked;
        }

        @Override
        public Lease acquire(Duration timeout) throws InterruptedException {
            return counted(inner.acquire(timeout));
        }

        @Override
        public CompletableFuture<Lease> acquireAsync(Duration timeout) {
            CompletableFuture<Lease> asked = inner.acquireAsync(timeout);
            var unused = asked.thenApply(this::counted);
            return asked;
        }

        @Override
        public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration timeout) {
            CompletableFuture<Optional<Lease>> asked = inner.tryAcquireAsync(timeout);
            var unused = asked.thenApply(granted -> granted.map(this::counted));
            return asked;
        }

        @Override
        public List<Contender> queue() throws InterruptedException {
            return inner.queue();
        }

        @Override
        public CompletableFuture<List<Contender>> queueAsync() {
            return inner.queueAsync();
        }

        @Override
        public Lock asLock() {
            return inner.asLock();
        }

        @Override
        public Mutex heldAtMost(Duration limit) {
            return new MeteredMutex(inner.heldAtMost(limit), grants);
        }

        @Override
        public Mutex labelled(String label) {
            return new MeteredMutex(inner.labelled(label), grants);
        }
    }
}
