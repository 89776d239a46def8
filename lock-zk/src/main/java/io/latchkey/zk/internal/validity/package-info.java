/** How long the server keeps the session, and until when its leases are valid: clocks and proofs, without I/O. */
@NullMarked
package io.latchkey.zk.internal.validity;

import org.jspecify.annotations.NullMarked;
