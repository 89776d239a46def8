/** The shell: ZooKeeper's handle, sessions, watches, heartbeat and validity. The only room that knows ZooKeeper. */
@NullMarked
package io.latchkey.zk.session;

import org.jspecify.annotations.NullMarked;
