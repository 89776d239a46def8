/** Latchkey's locks on Apache ZooKeeper: start at {@link io.latchkey.zk.ZkLockClient}. */
@NullMarked
package io.latchkey.zk;

import org.jspecify.annotations.NullMarked;
