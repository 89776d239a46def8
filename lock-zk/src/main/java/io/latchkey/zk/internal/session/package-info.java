/** A client at work: its sessions, the queues of its paths, its requests and leases. */
@NullMarked
package io.latchkey.zk.internal.session;

import org.jspecify.annotations.NullMarked;
