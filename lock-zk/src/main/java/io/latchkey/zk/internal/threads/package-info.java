/** The serial executor of a client, and the threads on which callbacks run. */
@NullMarked
package io.latchkey.zk.internal.threads;

import org.jspecify.annotations.NullMarked;
