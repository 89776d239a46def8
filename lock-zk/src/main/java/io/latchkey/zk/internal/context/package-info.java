/** What all parts of one client share: its settings, executor, clock and names. */
@NullMarked
package io.latchkey.zk.internal.context;

import org.jspecify.annotations.NullMarked;
