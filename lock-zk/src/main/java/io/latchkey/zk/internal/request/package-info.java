/** One request from the call to the release: its state machine, its nodes, its lease. */
@NullMarked
package io.latchkey.zk.internal.request;

import org.jspecify.annotations.NullMarked;
