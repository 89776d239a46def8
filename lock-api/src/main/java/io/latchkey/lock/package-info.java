/**
 * Distributed locks with leases, fencing tokens, local validity checks and notification of loss. Start at
 * {@link io.latchkey.lock.LockClient}; {@link io.latchkey.lock.Acquirable} has the contract of acquiring, and
 * {@link io.latchkey.lock.Lease} that of holding.
 *
 * <h2>Terms</h2>
 *
 * <ul>
 *   <li><b>Ensemble</b>: the ZooKeeper servers that keep the locks. "The server" is the one that a client is connected
 *       to.
 *   <li><b>Session</b>: the relation between a client and the ensemble. It outlives a lost connection. When the
 *       ensemble has received nothing from the client for the <b>session timeout</b>, the session <b>expires</b>, and
 *       all locks held in it are lost.
 *   <li><b>Path</b>: the ZooKeeper node that names one lock.
 *   <li><b>Request</b>: one attempt to acquire, one node under the path. The requests under a path are its
 *       <b>queue</b>.
 *   <li><b>Lease</b>: the result of a granted request. It ends when it is released or lost.
 *   <li><b>Fencing token</b>: a number of a lease that increases from one exclusive lease on a path to the next.
 *   <li><b>Layout</b>: the format of a lock's nodes: Latchkey's own, or that of Curator or kazoo. Clients that share a
 *       lock use one layout.
 *   <li><b>Capacity</b>: the number of permits of a semaphore that can be held at a time.
 *   <li><b>Local turns</b>: an option of a client, off by default. Its waiters for one lock then hold one after the
 *       other with one request, and so with one token.
 * </ul>
 *
 * <h2>What a lock promises</h2>
 *
 * <ul>
 *   <li><b>Order.</b> Requests are granted strictly first come first served, in the order in which the ensemble
 *       accepted them.
 *   <li><b>Exclusion in time.</b> The times during which clients find their leases valid never overlap where the lock
 *       forbids it. This holds as long as sessions expire by time and the clocks of clients and servers run at nearly
 *       the same rate. They need not agree on the time of day.
 *   <li><b>Exclusion at the store.</b> A store that refuses every token below the highest it has seen accepts no write
 *       of a former holder once it has seen a later token, regardless of pauses, networks and clocks. The same is true
 *       of a write to ZooKeeper itself in a transaction that first checks that the lease's node still exists.
 *   <li><b>Notification of loss.</b> A lost lease reports the loss and its cause, even if no server can be reached.
 *   <li><b>Recovery.</b> If a holder or a waiter crashes, its place is free when its session has expired.
 * </ul>
 *
 * <h2>What no lock can promise</h2>
 *
 * <ul>
 *   <li><b>That a holder still holds when its action takes effect.</b> A process can pause between a check and the
 *       action that follows it, for any length of time, for example in a garbage collection. So pass the token to every
 *       store that is written under the lock, and let the store check it.
 *   <li><b>That clocks run.</b> Validity is read from two clocks, one of which includes the time that a machine was
 *       suspended. If both clocks of a virtual machine stop, neither shows the pause. Tokens are effective then;
 *       validity is not.
 *   <li><b>Timing, when an administrator removes state.</b> When an administrator expires a session or deletes a
 *       holder's node, the next request is granted before the holder can know; tokens still stop the former holder.
 *       When an ensemble is restored from an older copy, or loses confirmed writes because it ran with
 *       {@code forceSync=no}, both the queue and the tokens can go back, and then no protection is left.
 *   <li><b>Progress without a quorum.</b> While no majority of the ensemble works, nothing is granted, and leases are
 *       lost when their deadlines pass.
 *   <li><b>That a holder releases.</b> A live holder that does not release keeps the lock. An administrator can ask it
 *       to release ({@link io.latchkey.lock.admin.Contender#requestRelease}) or evict its request
 *       ({@link io.latchkey.lock.admin.Contender#evict}), which removes state as described above.
 *   <li><b>Freedom from deadlock when single locks are nested.</b> A {@link io.latchkey.lock.MultiLock} has no such
 *       deadlock.
 *   <li><b>Protection from programs that do not acquire the lock,</b> unless the store checks tokens.
 * </ul>
 *
 * <h2>Arguments and errors</h2>
 *
 * Bad arguments are refused by the method that gets them, before anything is sent. A {@code null} argument causes a
 * {@link java.lang.NullPointerException} whose message names the argument; the methods do not repeat this. A path often
 * comes from user input: a bad path causes a {@link io.latchkey.lock.BadPathException}, all other bad arguments an
 * {@link java.lang.IllegalArgumentException}.
 *
 * <p>Later failures are reported by the unchecked exceptions under {@link io.latchkey.lock.LockException}. Only the
 * views of {@code java.util.concurrent} also throw {@link io.latchkey.lock.LockOwnershipLostException}, which is an
 * {@link java.lang.IllegalMonitorStateException}. When the time of {@code acquire} is over it throws a
 * {@link io.latchkey.lock.LockTimeoutException}; a try gives an empty result. A lock that a layout does not offer is an
 * {@link java.lang.UnsupportedOperationException} before anything is sent. On ZooKeeper's event thread a call that
 * waits is an {@link java.lang.IllegalStateException}.
 *
 * <h2>Interruption</h2>
 *
 * The rule is that of {@code java.util.concurrent}: a call that waits and may fail declares
 * {@link java.lang.InterruptedException}. On an interrupted thread it sends nothing.
 *
 * <table>
 * <caption>The calls that wait</caption>
 * <tr><th>call</th><th>when the thread is interrupted before or while it waits</th></tr>
 * <tr><td>{@code acquire}, {@code tryAcquire}, {@code call}, {@code run}, {@code queue}; {@code capacity},
 *     {@code availablePermits} and {@code resize} of a semaphore; {@code listLocks}, {@code listLocksAt};
 *     {@code requestRelease} and {@code evict} of a contender; {@code leader} and {@code candidates} of a leadership;
 *     the opening of a client; {@code lockInterruptibly} and a timed {@code tryLock} of a view</td>
 *     <td>throws {@code InterruptedException}, and the interrupt status is cleared</td></tr>
 * <tr><td>{@code acquireUninterruptibly}, {@code downgrade}; {@code lock} and {@code tryLock} of a view</td>
 *     <td>goes on to wait, and the interrupt status is set at the end</td></tr>
 * <tr><td>{@code release} and {@code close} of a lease; {@code close} of a client and of a leadership;
 *     {@code diagnose}</td>
 *     <td>returns and throws nothing; its work goes on without the thread, and the interrupt status stays set</td></tr>
 * </table>
 */
@NullMarked
package io.latchkey.lock;

import org.jspecify.annotations.NullMarked;
