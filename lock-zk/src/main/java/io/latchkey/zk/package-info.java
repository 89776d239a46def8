/**
 * Latchkey's locks on Apache ZooKeeper. {@link io.latchkey.zk.ZkLockClient} makes a client; what it promises is the
 * contract of {@link io.latchkey.lock}. {@link io.latchkey.zk.ZkLocks} has what only a lock on ZooKeeper can do,
 * {@code io.latchkey.zk.micrometer} has meters. The packages below {@code io.latchkey.zk.internal} are not for
 * applications and change without notice.
 */
@NullMarked
package io.latchkey.zk;

import org.jspecify.annotations.NullMarked;
