// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

import io.latchkey.lock.admin.Diagnosis;
import io.latchkey.lock.admin.LockListing;
import java.time.Duration;
import java.util.Collection;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * A client of a lock service on a ZooKeeper ensemble. It has one ZooKeeper session, and all locks that it returns use
 * that session.
 *
 * <p>A client is expensive to create and cheap to use: create one for each process and ensemble, share it between all
 * threads, and close it at the end. The client and all objects that it returns are safe for use by multiple concurrent
 * threads.
 *
 * <pre>{@code
 * try (Lease lease = locks.mutex("/orders/42").acquire(Duration.ofSeconds(5))) { // throws if not in time
 *     String order = store.read(42, lease.token()); // the store refuses tokens below the highest it has seen
 *     store.write(42, order + ", shipped", lease.token());
 * }
 * }</pre>
 *
 * <h2>Locks and paths</h2>
 *
 * The methods that return a lock send nothing and do not wait. The path is created when the lock is first acquired,
 * together with its parents, and is removed some time after the last request under it. Clients that use the same path
 * of the same ensemble share one lock. So do two calls with the same path in one client, whether or not they return the
 * same object.
 *
 * <p>A path is for one kind of lock: mutex, read-write lock, or semaphore with a given number of permits. The request
 * that creates the path determines the kind. Acquiring it as another kind throws {@link LockMismatchException}.
 *
 * <p>A path begins with {@code /} and is relative to the client's base path, if it has one. It must satisfy these
 * rules:
 *
 * <ul>
 *   <li>It is not {@code /} alone and does not end with {@code /}. No part of it is empty, {@code .} or {@code ..}.
 *   <li>It has no control characters, and none of the others that ZooKeeper refuses (surrogates, private use, U+FFF0 to
 *       U+FFFF). It has at most 10,000 characters.
 *   <li>It is not {@code /zookeeper} or below it; these paths belong to the server.
 *   <li>No part of it has the form of a request's name in Latchkey, Curator or kazoo ({@code lock-}, {@code lease-} and
 *       similar words directly before ten digits at the end, as in {@code block-1700000000}). A lock at its parent
 *       would mistake it for a request.
 * </ul>
 *
 * The method that gets any other path throws {@link BadPathException}.
 *
 * <p>With ZooKeeper's default limits, one path can have about 28,000 requests at a time.
 *
 * <h2>Connection and session</h2>
 *
 * The client reconnects automatically. If it owns its session, it also opens a new session after the old one has
 * expired: leases held at that time are lost, and waiting requests queue again, at the end. If it borrows the session
 * from a ZooKeeper handle of the caller, expiry is final: waiting and later requests throw
 * {@link SessionExpiredException}.
 */
public interface LockClient extends AutoCloseable {
    /**
     * Returns the mutex at a path.
     *
     * @param path the path that names the lock
     * @return the mutex
     * @throws BadPathException if {@code path} is not a path as described {@linkplain LockClient above}
     */
    Mutex mutex(String path);

    /**
     * Returns the read-write lock at a path.
     *
     * @param path the path that names the lock
     * @return the read-write lock
     * @throws BadPathException if {@code path} is not a path as described {@linkplain LockClient above}
     * @throws UnsupportedOperationException if this client's layout does not offer read-write locks
     */
    ReadWriteLock readWriteLock(String path);

    /**
     * Returns the semaphore at a path. All clients must declare the same number of permits. The number is checked when
     * the semaphore is first used; a difference causes a {@link LockMismatchException} with both numbers.
     * {@link Semaphore#resize} can later change the number of permits that can be held at a time; the declared number
     * stays the same.
     *
     * @param path the path that names the semaphore
     * @param permits the declared number of permits, at least 1
     * @return the semaphore
     * @throws BadPathException if {@code path} is not a path as described {@linkplain LockClient above}
     * @throws IllegalArgumentException if {@code permits} is zero or negative
     * @throws UnsupportedOperationException if this client's layout does not offer semaphores
     */
    Semaphore semaphore(String path, int permits);

    /**
     * Returns a lock that acquires all of its members together, or none. A member is a {@link Mutex}, a
     * {@linkplain ReadWriteLock#readLock() read lock}, a {@linkplain ReadWriteLock#writeLock() write lock}, or
     * {@linkplain Semaphore#permits(int) permits} of a semaphore, in any combination. A {@link Semaphore} itself counts
     * as one permit. A multi-lock cannot be a member.
     *
     * <p>The order of the members does not affect the order of grants. The array is copied.
     *
     * @param members the members, at least one, all from this client and at distinct paths
     * @return the multi-lock
     * @throws IllegalArgumentException if there are no members or too many for one transaction, if two members have the
     *     same path, or if a member is a multi-lock or is not from this client
     * @throws UnsupportedOperationException if this client's layout does not offer multi-locks
     */
    MultiLock multiLock(Acquirable... members);

    /**
     * Returns what {@link #multiLock(Acquirable...)} returns, for members in a collection.
     *
     * @param members the members, at least one, all from this client, each at a path of its own; copied
     * @return the multi-lock
     * @throws IllegalArgumentException as {@link #multiLock(Acquirable...)} does
     * @throws UnsupportedOperationException if this client's layout does not offer multi-locks
     */
    default MultiLock multiLock(Collection<? extends Acquirable> members) {
        Objects.requireNonNull(members, "members");
        return multiLock(members.toArray(Acquirable[]::new));
    }

    /**
     * Returns a fixed number of mutexes under one path, each of them shared by many keys.
     *
     * @param path the parent path of the mutexes
     * @param stripes the number of mutexes, at least 1, the same on every client
     * @return the striped mutex
     * @throws BadPathException if {@code path} is not a path as described {@linkplain LockClient above}
     * @throws IllegalArgumentException if {@code stripes} is zero or negative
     * @see StripedMutex clients with different numbers of stripes
     */
    StripedMutex stripedMutex(String path, int stripes);

    /**
     * Returns the leases and waiting requests of this client with their times and, if it waits, the suspected
     * deadlocks: cycles of clients that wait for each other, as far as they can be found. The result is meant to be
     * printed.
     *
     * <p>A cycle is a <b>suspected</b> deadlock. The servers know clients, not threads: if a client holds one lock and
     * has since requested another, it is assumed that the holding thread is the one that waits. If many threads of one
     * client use locks, check whether a later diagnosis has the same cycle. All requests in a cycle were in their
     * queues at the same time, and none of them can be granted unless one of these clients releases a lease, gives up a
     * request or ends. A thread that waits at a path that it holds appears in the lists, not in a cycle.
     *
     * <p>Sends nothing unless this client waits. If it waits, it reads the queues that it waits in and holds in. A
     * cycle of three or more clients can include paths that this client does not use, so it also reads all queues below
     * its base path; without a base path, those below the first level of the paths that it uses ({@code /orders} for
     * {@code /orders/42}). This costs two server requests for each node there; a queue with waiters costs two more, and
     * one for each request in it. The search stops after 5,000 nodes or 10,000 requests.
     *
     * <p>Waits for a session timeout at most. If the current thread is interrupted, this method does not wait, and the
     * interrupt status stays set. It does not throw; {@link Diagnosis#incompleteBecause} has the reason if the search
     * is incomplete.
     *
     * @return the diagnosis
     */
    Diagnosis diagnose();

    /**
     * Lists the locks at and below a path, with their holders and waiters, for people and for monitoring. Locks of
     * Curator and kazoo are listed while they have requests; only Latchkey's own leave a mark at an unused path.
     *
     * <p>The nodes are read one after the other while clients go on, so the result is no snapshot of all locks. A path
     * that cannot be read, for lack of rights or for another reason, is named in {@link LockListing#unreadable}, and
     * the others are listed.
     *
     * <p>Costs up to two server requests for each node that is not itself a request, two more for each lock with
     * requests (four for a semaphore of Curator), and one for each request. The search reads 5,000 nodes and 10,000
     * requests at most, and no node with more than 10,000 children. It ends when no server has answered for a session
     * timeout. If such a limit ends the search, only the first path that was left out is named.
     *
     * @param root the path where the search begins; {@code /} for all paths of this client
     * @return the locks; none if there is no such path
     * @throws BadPathException if {@code root} is not a path of ZooKeeper
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockServiceUnavailableException if the client has no session or loses it
     * @throws LockException as described at {@link Acquirable}
     */
    LockListing listLocks(String root) throws InterruptedException;

    /**
     * Lists the locks as {@link #listLocks} does, without waiting.
     *
     * @param root the path where the search begins; {@code /} for all paths of this client
     * @return a future of the locks; it fails with what {@link #listLocks} throws. To cancel it ends the search.
     * @throws BadPathException if {@code root} is not a path of ZooKeeper
     */
    CompletableFuture<LockListing> listLocksAsync(String root);

    /**
     * Lists the locks at one path as {@link #listLocks} does, without those below it.
     *
     * @param path the path
     * @return the lock, if there is one; several if requests for incompatible locks are mixed there
     * @throws BadPathException if {@code path} is not a path of ZooKeeper
     * @throws InterruptedException if the current thread is interrupted before or while it waits
     * @throws LockServiceUnavailableException if the client has no session or loses it
     * @throws LockException as described at {@link Acquirable}
     */
    LockListing listLocksAt(String path) throws InterruptedException;

    /**
     * Returns what this client knows of its session: its state, its id, since when, and the session timeout that the
     * server granted. Sends nothing and does not wait, so it suits a health probe that is called often. It may be
     * called at any time, also after {@link #close}.
     *
     * <p>For a <b>readiness</b> probe {@link SessionStatus#isConnected} says whether requests are served now. For a
     * <b>liveness</b> probe only {@link SessionState#CLOSED} is final; of a client that borrows its
     * session {@link SessionState#EXPIRED} is final as well. A client that is disconnected comes back by
     * itself, and a restart would cost it its place in every queue. Whether a lease still holds is a question to the
     * lease.
     *
     * @return the session at this moment
     */
    SessionStatus session();

    /**
     * Closes this client. All its leases and waiting requests end; {@link #close(Duration)} lets holders finish first.
     *
     * <ul>
     *   <li>Its leases become {@link LeaseState#LOST} with {@link LossCause#CLIENT_CLOSED}. A lease that is released
     *       before its client is closed is not lost.
     *   <li>Its waiting requests, and all later ones, fail with {@link ClientClosedException}.
     *   <li>Its nodes are deleted. If the client owns its session, the session is closed. If it borrows the session,
     *       the handle stays open, and only the client's own nodes are deleted.
     * </ul>
     *
     * <p>Waits for the server to confirm this, but no longer than about a session timeout. Nodes that were not deleted
     * by then are removed when the session ends. If the current thread is interrupted, before or during the wait, this
     * method stops waiting; the interrupt status stays set.
     *
     * <p>Idempotent: closing again has no effect.
     */
    @Override
    void close();

    /**
     * Lets the holders of this client finish, and closes it then as {@link #close()} does: once the last lease is
     * released or lost, or when {@code grace} has passed.
     *
     * <ul>
     *   <li>No request is accepted any more, and waiting ones fail at once, with {@link ClientClosedException}. So do
     *       requests of holders, {@link Acquirable#queue}, and other questions to the servers.
     *   <li>Holders are asked to release: {@link Lease#releaseRequested} completes with a request by this
     *       client.
     *       Holders that do not listen are not notified, and may finish as well.
     *   <li>Leases stay valid. Releasing, locking again through a view, downgrading and guarded writes work as before.
     *   <li>A lease that is held when {@code grace} has passed is {@link LeaseState#LOST} with
     *       {@link LossCause#CLIENT_CLOSED}; a body with {@link OnLoss#INTERRUPT} is interrupted.
     * </ul>
     *
     * <p>A release by then is confirmed by the server, so the next request is granted at once. Where no server answers,
     * the confirmation is waited for until the lease would be lost, for {@code grace} at most. Then nodes are left for
     * which others wait until the session ends, as after {@link #close()}.
     *
     * <p>Waits until the client is closed: for {@code grace} and about a session timeout at most. It does not wait for
     * itself: in a callback of this client, and in a thread that has acquired a lease of it and not released it, it
     * returns at once, and the client closes later. (A thread that has passed its lease on to another thread counts as
     * its holder. A lease that was acquired asynchronously belongs to no thread.) If the current thread is interrupted,
     * before or during the wait, this method stops waiting, the interrupt status stays set, and the client still closes
     * later.
     *
     * <p>Of several calls the one counts whose grace ends first. {@link #close()} ends the grace at once. Closing a
     * client again that is closed has no effect.
     *
     * @param grace how long holders may finish, zero or more; with zero this is {@link #close()}
     * @throws IllegalArgumentException if {@code grace} is negative
     */
    void close(Duration grace);
}
