/** The state machine of one request. Events in, commands out; no clock, no thread, no I/O. */
@NullMarked
package io.latchkey.zk.internal.acquire;

import org.jspecify.annotations.NullMarked;
