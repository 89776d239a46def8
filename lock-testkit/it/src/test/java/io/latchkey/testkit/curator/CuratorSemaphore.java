// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.admin.Contender;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/** {@link InterProcessSemaphoreV2}. */
final class CuratorSemaphore extends CuratorAcquirable implements OtherLibrary.Permits {
    private final int capacity;
    private final int permits;

    CuratorSemaphore(CuratorLockClient client, String path, int capacity, int permits) {
        super(client, path);
        this.capacity = capacity;
        this.permits = permits;
    }

    /** So many of its permits, under the names of Curator's locks. */
    private static final class Permits implements InterProcessLock {
        private final InterProcessSemaphoreV2 semaphore;
        private final int number;
        private Collection<Lease> taken = List.of();

        Permits(InterProcessSemaphoreV2 semaphore, int number) {
            this.semaphore = semaphore;
            this.number = number;
        }

        @Override
        public void acquire() throws Exception {
            Collection<Lease> got = semaphore.acquire(number);
            if (got == null) {
                throw new IllegalStateException("null, and no lease: the framework was closed during the call");
            }
            taken = got;
        }

        @Override
        public boolean acquire(long time, TimeUnit unit) throws Exception {
            Collection<Lease> got = semaphore.acquire(number, time, unit);
            taken = got == null ? List.of() : got;
            return got != null;
        }

        @Override
        public void release() {
            semaphore.returnAll(taken);
        }

        @Override
        public boolean isAcquiredInThisProcess() {
            return !taken.isEmpty();
        }
    }

    @Override
    InterProcessLock lock() {
        return new Permits(new InterProcessSemaphoreV2(client().framework(), path(), capacity), permits);
    }

    @Override
    public Acquirable permits(int n) {
        return new CuratorSemaphore(client(), path(), capacity, n);
    }

    /** The permits that are held, and the requests that wait. */
    @Override
    public List<Contender> queue() throws InterruptedException {
        List<Contender> all = new ArrayList<>(client().queue(path() + "/leases"));
        all.addAll(client().queue(path() + "/locks"));
        return all;
    }

    @Override
    public int capacity() {
        throw new UnsupportedOperationException("Curator keeps it with each client");
    }

    @Override
    public int availablePermits() {
        throw new UnsupportedOperationException("Curator does not tell them from waiting ones");
    }

    @Override
    public void resize(int newCapacity) {
        throw new UnsupportedOperationException("not with a number given by each client");
    }
}
