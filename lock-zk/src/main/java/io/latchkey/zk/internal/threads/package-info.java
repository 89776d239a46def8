/** The serial executor of a client, and its threads for callbacks. */
@NullMarked
package io.latchkey.zk.internal.threads;

import org.jspecify.annotations.NullMarked;
