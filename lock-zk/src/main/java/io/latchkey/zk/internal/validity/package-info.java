/** The time for which the server keeps the session and its leases are valid: clocks and bounds, without I/O. */
@NullMarked
package io.latchkey.zk.internal.validity;

import org.jspecify.annotations.NullMarked;
