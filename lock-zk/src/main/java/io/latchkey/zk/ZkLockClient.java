// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk;

import io.latchkey.lock.AccessDeniedException;
import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Diagnosis;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockListing;
import io.latchkey.lock.LockUnavailableException;
import io.latchkey.lock.MultiLock;
import io.latchkey.lock.Mutex;
import io.latchkey.lock.ReadWriteLock;
import io.latchkey.lock.Semaphore;
import io.latchkey.lock.SessionView;
import io.latchkey.lock.StripedMutex;
import io.latchkey.zk.internal.locks.EngineLockClient;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.ZooKeeper;

/**
 * A client for locks on ZooKeeper. It has one session at a time and serves any number of threads and locks. Create one
 * for a process, and close it when the process ends.
 *
 * <pre>{@code
 * try (LockClient locks = ZkLockClient.connect("zk1:2181,zk2:2181,zk3:2181/app")) {
 *     try (Lease lease = locks.mutex("/orders/42").acquire()) {
 *         store.write(order, lease.token());
 *     }
 * }
 * }</pre>
 *
 * <p>A client that {@linkplain #connect(String) connects} by itself opens a new session when the previous one has
 * expired. Then its leases are lost, and its waiting requests queue again within their timeouts. A client that
 * {@linkplain #using(ZooKeeper) borrows} a handle ends with that handle's session.
 */
public final class ZkLockClient implements LockClient {
    private final EngineLockClient locks;

    private ZkLockClient(EngineLockClient locks) {
        this.locks = locks;
    }

    /**
     * Connects with the defaults of {@link #builder()}.
     *
     * @param connectString the servers as {@code host:port[,host:port...]}, with an optional chroot at the end, which
     *     is created if it does not exist
     * @return a connected client
     * @throws IllegalArgumentException if the connect string is malformed
     * @throws LockUnavailableException if no server has a known address, or none responds in time
     */
    public static ZkLockClient connect(String connectString) {
        return builder().connectString(connectString).build();
    }

    /**
     * Returns a client that uses the session of a handle that the caller owns. The handle is never closed. After its
     * session has expired, calls of this client throw {@link io.latchkey.lock.SessionExpiredException}. When a request
     * leaves a queue, all watches of the handle on the nodes that it watched are removed. So do not watch the paths or
     * nodes of locks through the same handle.
     *
     * <p>On the handle's event thread, where its watchers run, a call that waits would wait for itself. There acquiring
     * and all questions to the servers fail at once with {@link IllegalStateException}. {@code release()} and {@code
     * close()} send the deletions and do not wait, and the outcome of a release is {@link
     * io.latchkey.lock.ReleaseOutcome#PENDING}.
     *
     * <p>The first lease is granted a {@linkplain Builder#validityMargin validity margin} after this call at the
     * earliest, by default a quarter of the session timeout. The handle may have connected just now, and nothing proves
     * before that how long the servers keep its session. A {@code tryAcquire} with less time than that returns empty
     * until then.
     *
     * <p>After {@code close()} the client leaves nothing on the handle, with one exception: if the response to the
     * create of a node was lost and the node was not found since, the server may still create it when the session
     * reconnects. Then the closed client keeps a watch and a timer thread until it has deleted that node or the session
     * has ended.
     *
     * @param zooKeeper a live handle
     * @return a connected client; closing it deletes its nodes and leaves the handle open
     * @throws IllegalArgumentException if the handle's configuration is unfit for locks, such as one with {@code
     *     zookeeper.disableAutoWatchReset}
     * @throws LockUnavailableException if the handle is not connected within its session timeout
     */
    public static ZkLockClient using(ZooKeeper zooKeeper) {
        return builder().using(zooKeeper).build();
    }

    /**
     * Returns a new builder of a client.
     *
     * @return a builder; {@link Builder#connectString} or {@link Builder#using} is still to be called
     */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    public Mutex mutex(String path) {
        return locks.mutex(path);
    }

    @Override
    public ReadWriteLock readWriteLock(String path) {
        return locks.readWriteLock(path);
    }

    @Override
    public Semaphore semaphore(String path, int permits) {
        return locks.semaphore(path, permits);
    }

    @Override
    public MultiLock multiLock(Acquirable... members) {
        return locks.multiLock(members);
    }

    @Override
    public StripedMutex stripedMutex(String path, int stripes) {
        return locks.stripedMutex(path, stripes);
    }

    @Override
    public Diagnosis diagnose() {
        return locks.diagnose();
    }

    @Override
    public LockListing locks(String root) {
        return locks.locks(root);
    }

    @Override
    public CompletableFuture<LockListing> locksAsync(String root) {
        return locks.locksAsync(root);
    }

    /**
     * Lists the locks at a path as {@link #locks} does, without those below it. For the command line.
     *
     * @param path the path
     * @return the locks: none, one, or several if incompatible requests are mixed there
     * @hidden
     */
    @SuppressWarnings("InvalidBlockTag") // Error Prone does not know @hidden
    public LockListing locksAt(String path) {
        return locks.locksAt(path);
    }

    @Override
    public SessionView session() {
        return locks.session();
    }

    @Override
    public void close() {
        locks.close();
    }

    @Override
    public void close(Duration grace) {
        locks.close(grace);
    }

    @Override
    public String toString() {
        return locks.toString();
    }

    /**
     * A builder of a client. Everything but {@link #connectString(String)} or {@link #using(ZooKeeper)} has a default.
     */
    public static final class Builder extends ClientSettings<Builder> {
        private Builder() {}

        @Override
        Builder self() {
            return this;
        }

        /**
         * Creates the client and waits for its first connection, as {@link #connectTimeout} says. If it throws, nothing
         * is left open.
         *
         * @return a connected client; if the connect timeout is zero, one that connects in the background
         * @throws IllegalStateException if neither a connect string nor a handle is set, or both are; or if credentials
         *     are set for a borrowed handle
         * @throws IllegalArgumentException if the connect string is malformed or the configuration unfit for locks
         * @throws LockUnavailableException if no server responds in time; or if the current thread is interrupted,
         *     whose status stays set
         * @throws AccessDeniedException if the credentials are refused, or the chroot does not exist and may not be
         *     created
         */
        public ZkLockClient build() {
            return new ZkLockClient(new ClientOpening(this).open());
        }
    }
}
