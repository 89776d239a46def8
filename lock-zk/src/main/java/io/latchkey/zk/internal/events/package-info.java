/** News of requests, leases and the session: to observers, the flight recorder and the log. */
@NullMarked
package io.latchkey.zk.internal.events;

import org.jspecify.annotations.NullMarked;
