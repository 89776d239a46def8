// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.MultiLock;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.SessionStatus;
import io.latchkey.lock.admin.Contender;
import io.latchkey.lock.admin.Diagnosis;
import io.latchkey.lock.admin.LockListing;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The parts of lock-api that the libraries behind the adapters do not have. */
public final class OtherLibrary {
    private OtherLibrary() {}

    static UnsupportedOperationException hasNone() {
        return new UnsupportedOperationException("this library has none");
    }

    /** Locks. */
    public interface Lock extends Acquirable {
        @Override
        default Acquirable labelled(String label) {
            throw hasNone();
        }

        @Override
        default Acquirable heldAtMost(Duration limit) {
            throw hasNone();
        }

        @Override
        default CompletableFuture<List<Contender>> queueAsync() {
            throw hasNone();
        }
    }

    /** Mutexes. */
    public interface OneHolder extends Lock, Mutex {
        @Override
        default Mutex labelled(String label) {
            throw hasNone();
        }

        @Override
        default Mutex heldAtMost(Duration limit) {
            throw hasNone();
        }

        @Override
        default Optional<Lease> leaseOfView() {
            throw hasNone();
        }
    }

    /** Several locks together. */
    public interface LibraryMultiLock extends Lock, MultiLock {
        @Override
        default MultiLock labelled(String label) {
            throw hasNone();
        }

        @Override
        default MultiLock heldAtMost(Duration limit) {
            throw hasNone();
        }
    }

    /** Semaphores. */
    public interface Permits extends Lock, Semaphore {
        @Override
        default Semaphore labelled(String label) {
            throw hasNone();
        }

        @Override
        default Semaphore heldAtMost(Duration limit) {
            throw hasNone();
        }

        @Override
        default CompletableFuture<Void> resizeAsync(int capacity) {
            throw hasNone();
        }
    }

    /** Read-write locks. */
    public interface ReadersAndWriters extends ReadWriteLock {
        @Override
        default ReadWriteLock labelled(String label) {
            throw hasNone();
        }

        @Override
        default ReadWriteLock heldAtMost(Duration limit) {
            throw hasNone();
        }

        @Override
        default CompletableFuture<Lease> downgradeAsync(Lease write) {
            throw hasNone();
        }

        @Override
        default Optional<Lease> leaseOfView() {
            throw hasNone();
        }
    }

    /** Clients. */
    public interface Client extends LockClient {
        @Override
        default Diagnosis diagnose() {
            throw hasNone();
        }

        @Override
        default LockListing listLocks(String root) {
            throw hasNone();
        }

        @Override
        default CompletableFuture<LockListing> listLocksAsync(String root) {
            throw hasNone();
        }

        @Override
        default LockListing listLocksAt(String path) {
            throw hasNone();
        }

        @Override
        default SessionStatus session() {
            throw hasNone();
        }

        @Override
        default void close(Duration grace) {
            throw hasNone();
        }
    }

    /** Requests in a queue. */
    public interface Request extends Contender {
        @Override
        default boolean isOwn() {
            throw hasNone();
        }

        @Override
        default boolean isOf(Lease lease) {
            throw hasNone();
        }

        @Override
        default ReleaseRequestResult requestRelease() {
            throw hasNone();
        }

        @Override
        default Eviction evict() {
            throw hasNone();
        }
    }
}
