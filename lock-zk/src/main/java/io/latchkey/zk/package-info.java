/**
 * Latchkey's locks on Apache ZooKeeper. Start at {@link io.latchkey.zk.ZkLockClient}, which creates a client; the
 * contract is that of {@link io.latchkey.lock}, also for {@code null} arguments. {@link io.latchkey.zk.ZkLocks} writes
 * to ZooKeeper under a lease, {@link io.latchkey.zk.OncePerPeriod} does work once in a period, and {@link
 * io.latchkey.zk.Layout} shares paths with Curator or kazoo. The packages below {@code io.latchkey.zk.internal} are not
 * for applications and change without notice.
 */
@NullMarked
package io.latchkey.zk;

import org.jspecify.annotations.NullMarked;
