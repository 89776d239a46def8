/** One ZooKeeper session: its connection, its validity, its heartbeat, its watches and lists. */
@NullMarked
package io.latchkey.zk.internal.session;

import org.jspecify.annotations.NullMarked;
