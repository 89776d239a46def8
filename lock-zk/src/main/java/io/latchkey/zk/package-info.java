/**
 * Latchkey's locks on Apache ZooKeeper. {@link io.latchkey.zk.ZkLockClient} creates a client; its contract is that of
 * {@link io.latchkey.lock}. {@link io.latchkey.zk.ZkLocks} has operations that only a lock on ZooKeeper offers, {@code
 * io.latchkey.zk.micrometer} has meters. The packages below {@code io.latchkey.zk.internal} are not for applications
 * and change without notice.
 */
@NullMarked
package io.latchkey.zk;

import org.jspecify.annotations.NullMarked;
