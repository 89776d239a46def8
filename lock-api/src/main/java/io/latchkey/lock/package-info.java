/**
 * Distributed locks whose holders know what they hold: leases with fencing tokens, validity and notification of loss.
 * Start at {@link io.latchkey.lock.LockClient}; the contract of acquiring stands once, in
 * {@link io.latchkey.lock.Acquirable}, and that of holding in {@link io.latchkey.lock.Lease}.
 *
 * <h2>Words</h2>
 *
 * <ul>
 *   <li><b>Ensemble</b>: the ZooKeeper servers that keep the locks. "The server" is the one that a client talks to.
 *   <li><b>Session</b>: what ties a client to the ensemble. It outlives a lost connection. It <b>expires</b>, and
 *       everything held with it is gone, when the ensemble has not heard of the client for the <b>session timeout</b>.
 *   <li><b>Path</b>: the ZooKeeper node that names one lock.
 *   <li><b>Request</b>: one attempt to acquire, one node under the path. The requests under a path are its
 *       <b>queue</b>.
 *   <li><b>Lease</b>: what a granted request gives its caller. It ends released or lost.
 *   <li><b>Fencing token</b>: a number that a lease has and that grows from one exclusive lease on a path to the next.
 * </ul>
 *
 * <h2>What a lock promises</h2>
 *
 * <ul>
 *   <li><b>Order.</b> Requests are granted strictly first come first served, in the order in which the ensemble took
 *       them.
 *   <li><b>Exclusion in time.</b> The times during which clients find their leases valid never overlap where the lock
 *       forbids it. This holds as long as sessions expire by time and the clocks of clients and servers run at nearly
 *       the same rate. They need not agree on the time of day.
 *   <li><b>Exclusion at the store.</b> A store that refuses every token below the highest it has seen takes nothing
 *       from a former holder once it has seen a later one, whatever pauses, networks and clocks do. The same is true of
 *       a write to ZooKeeper itself in a transaction that first checks that the lease's node is still there.
 *   <li><b>News of loss.</b> A lease that is lost says so, with the cause, by itself and without a server in reach.
 *   <li><b>Recovery.</b> If a holder or a waiter crashes, its place is free when its session has expired.
 * </ul>
 *
 * <h2>What no lock can promise</h2>
 *
 * <ul>
 *   <li><b>That a holder still holds when its action takes effect.</b> A process can stop between a check and the
 *       action that follows it, for as long as a garbage collection or the operating system likes. So give the token to
 *       every store that is written under the lock, and let the store check it.
 *   <li><b>That clocks run.</b> Validity is read from two clocks, of which one counts the time that a machine was
 *       suspended. A virtual machine whose clocks both stood still is seen by neither. Tokens stop it; validity does
 *       not.
 *   <li><b>Anything about time when the ensemble is told to forget.</b> When an administrator expires a session or
 *       deletes a holder's node, the next request is granted before the holder can know; tokens still stop the former
 *       holder. When an ensemble is restored from an older copy, or loses what it had confirmed because it ran with
 *       {@code forceSync=no}, both the queue and the tokens can go back, and then nothing does.
 *   <li><b>Progress without a quorum.</b> While no majority of the ensemble works, nothing is granted, and leases are
 *       lost when their time is over.
 *   <li><b>That a holder lets go.</b> A holder that lives and does not release keeps the lock. An administrator can ask
 *       it to ({@link io.latchkey.lock.Contender#requestRelease}) or take its request away
 *       ({@link io.latchkey.lock.Contender#evict}), which is a decree as above.
 *   <li><b>Freedom from deadlock when single locks are nested.</b> A {@link io.latchkey.lock.MultiLock} has no such
 *       deadlock.
 *   <li><b>Obedience.</b> A program that does not ask for the lock is not stopped by it, unless the store checks
 *       tokens.
 * </ul>
 *
 * <h2>Arguments and errors</h2>
 *
 * Bad arguments are refused by the method that gets them, before anything is sent. A {@code null} argument is a
 * {@link java.lang.NullPointerException} whose message names the argument; the methods do not repeat it. A path is an
 * argument that often comes from outside: a bad one is a {@link io.latchkey.lock.BadPathException}, and no
 * {@link java.lang.IllegalArgumentException} as all others are. What goes wrong later is one of the unchecked exceptions under {@link io.latchkey.lock.LockException}; only the views of
 * {@code java.util.concurrent} have {@link io.latchkey.lock.LockOwnershipLostException} besides, which their callers take
 * for an {@link java.lang.IllegalMonitorStateException}. Running out of time is an empty result and never an exception.
 * Interruption is {@link java.lang.InterruptedException}. What an implementation does not offer is an
 * {@link java.lang.UnsupportedOperationException}, before anything is sent.
 */
@NullMarked
package io.latchkey.lock;

import org.jspecify.annotations.NullMarked;
