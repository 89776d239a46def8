/** Events of requests, leases and the session: for observers, Flight Recorder and the log. */
@NullMarked
package io.latchkey.zk.internal.events;

import org.jspecify.annotations.NullMarked;
