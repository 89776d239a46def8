// SPDX-License-Identifier: Apache-2.0
package io.latchkey.lock;

/**
 * A client of an ensemble that keeps locks. It has one ZooKeeper session, and all locks that it returns use that
 * session.
 *
 * <p>A client is expensive to make and cheap to use: make one for each process and ensemble, share it between all
 * threads, and close it at the end. All its methods, and all methods of what it returns, may be called by any number of
 * threads at once.
 *
 * <pre>{@code
 * boolean takeOne(LockClient locks, Stock stock, String product) throws InterruptedException {
 *     Optional<Lease> granted = locks.mutex("/stock/" + product).tryAcquire(Duration.ofSeconds(5));
 *     if (granted.isEmpty()) {
 *         return false; // others held it all the time, or the server was out of reach: nothing is left behind
 *     }
 *     try (Lease lease = granted.get()) {
 *         int left = stock.read(product, lease.token()); // the store refuses a token below the highest it has seen
 *         lease.ensureValid(); // stop here if the lease was lost meanwhile
 *         stock.write(product, left - 1, lease.token());
 *         return true;
 *     }
 * }
 * }</pre>
 *
 * <h2>Locks and paths</h2>
 *
 * The methods that return a lock send nothing and do not wait. The path is created when the lock is first acquired,
 * with the paths above it, and disappears some time after the last request under it. Clients that name the same path of
 * the same ensemble share one lock. So do two calls with the same path in one client, whether or not they return the
 * same object.
 *
 * <p>A path is for one kind of lock: mutex, read-write lock, or semaphore with a given number of permits. Whoever
 * creates the path settles which. Acquiring it as another kind throws {@link LockMismatchException}.
 *
 * <p>A path begins with {@code /} and is read below the client's base path, if it has one. It must name a node: it is
 * not {@code /} alone and does not end with {@code /}, no part of it is empty, {@code .} or {@code ..}, and it has no
 * control characters nor others that ZooKeeper refuses (surrogates, private use, U+FFF0 to U+FFFF). It has 10,000
 * characters at most. {@code /zookeeper} and what is below it belong to the server. No part of it may read as the name of
 * a request of Latchkey, Curator or kazoo ({@code lock-}, {@code lease-} and the like right before ten digits at its end,
 * as in {@code block-1700000000}): a lock at the path above would take it for one. Anything else is a
 * {@link BadPathException}, thrown by the method that gets the path.
 *
 * <p>With ZooKeeper's default limits, about 28,000 requests can stand under one path at a time.
 *
 * <h2>Connection and session</h2>
 *
 * The client reconnects by itself. Where it owns its session, it also makes a new one by itself after the session has
 * expired: leases held then are lost, and waiting requests queue again, at the end. Where it borrows the session from a
 * ZooKeeper handle of the caller, expiry is final: waiting and later requests throw {@link SessionExpiredException}.
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
     * @throws UnsupportedOperationException if this client's implementation does not offer read-write locks
     */
    ReadWriteLock readWriteLock(String path);

    /**
     * Returns the semaphore at a path. All clients must declare the same number of permits. That is checked when the
     * semaphore is first used, and a difference throws {@link LockMismatchException} with both numbers. The number that
     * can be held at a time can be changed later by {@link Semaphore#resize}; the declared number stays the same.
     *
     * @param path the path that names the semaphore
     * @param permits the declared number of permits, at least 1
     * @return the semaphore
     * @throws BadPathException if {@code path} is not a path as described {@linkplain LockClient above}
     * @throws IllegalArgumentException if {@code permits} is zero or negative
     * @throws UnsupportedOperationException if this client's implementation does not offer semaphores
     */
    Semaphore semaphore(String path, int permits);

    /**
     * Returns a lock that acquires all of its members at once or none. A member is a {@link Mutex}, a
     * {@linkplain ReadWriteLock#readLock() read lock}, a {@linkplain ReadWriteLock#writeLock() write lock}, or
     * {@linkplain Semaphore#permits(int) permits} of a semaphore, in any mix. A {@link Semaphore} itself counts as one
     * permit of it. A multi-lock cannot be a member.
     *
     * <p>The order of the members makes no difference to who gets them. The array is copied.
     *
     * @param members the members, at least one, all from this client, each at a path of its own
     * @return the multi-lock
     * @throws IllegalArgumentException if there are no members or too many for one transaction, if two members have the
     *     same path, or if a member is a multi-lock or does not come from this client
     * @throws UnsupportedOperationException if this client's implementation does not offer multi-locks
     */
    MultiLock multiLock(Acquirable... members);

    /**
     * Returns a fixed number of mutexes under one path, from which keys pick theirs.
     *
     * @param path the path under which the mutexes are
     * @param stripes the number of mutexes, at least 1, the same on every client
     * @return the striped mutex
     * @throws BadPathException if {@code path} is not a path as described {@linkplain LockClient above}
     * @throws IllegalArgumentException if {@code stripes} is zero or negative
     * @see StripedMutex what happens to clients with different numbers
     */
    StripedMutex stripedMutex(String path, int stripes);

    /**
     * Returns what this client holds and waits for, and since when; and, if it waits, the circles of clients that wait
     * for each other, as far as it can find them. Print it.
     *
     * <p>A circle is a <b>suspect</b>. The servers know clients and not threads: of a client that holds one lock and has
     * asked for another since, it is taken for granted that the thread that holds is the one that waits. So where many
     * threads of one client take locks, look whether the same is there again a while later. What is sure: every request
     * in a circle was there at one and the same moment, and none can be granted unless one of these clients lets go of
     * what it holds, gives up, or goes away. A thread that waits at the path that it holds is in the lists, not in a
     * circle.
     *
     * <p>Costs nothing at the servers unless this client waits. If it does, it reads the queues of what it waits for and
     * holds, and, since a circle of three or more goes over paths that it has nothing to do with, all queues below its
     * base path; without a base path those below the first level of the paths it uses, {@code /orders} for
     * {@code /orders/42}. These are two requests for each node there, and of a queue in which somebody waits two more, and
     * one for each request in it; after 5,000 nodes or 10,000 requests it stops, and says so. Waits for a session timeout
     * at most, and not at all if the current thread is interrupted, whose status stays set; it says so as well, and does
     * not throw.
     *
     * @return what it found
     * @throws UnsupportedOperationException if this client's implementation does not offer it
     */
    default Diagnosis diagnose() {
        throw new UnsupportedOperationException("this implementation cannot be diagnosed");
    }

    /**
     * Closes this client and gives up everything that it holds or waits for.
     *
     * <ul>
     *   <li>Its leases are {@link LeaseState#LOST} with {@link LossCause#CLIENT_CLOSED}. Release a lease before you
     *       close its client if nothing was lost.
     *   <li>Its waiting requests end with {@link ClientClosedException}, and so does every later one.
     *   <li>Its nodes are deleted. If the client owns its session, the session is closed. If it borrows the session,
     *       the handle stays open, and only the client's own nodes are deleted.
     * </ul>
     *
     * <p>Waits for the server to confirm this, but no longer than about a session timeout. Nodes that could not be
     * deleted by then go when the session ends. If the current thread is interrupted, before or while it waits, this
     * method waits no longer; the interrupt status stays set.
     *
     * <p>Idempotent: closing again has no effect.
     */
    @Override
    void close();
}
