/** The settings, executor, clock and names that all parts of one client share. */
@NullMarked
package io.latchkey.zk.internal.context;

import org.jspecify.annotations.NullMarked;
