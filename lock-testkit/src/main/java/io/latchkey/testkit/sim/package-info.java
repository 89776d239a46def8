/**
 * ZooKeeper in memory, in virtual time, behind the store that the real client uses. It has a leader that orders all
 * writes, servers that follow at their own pace, sessions that expire, ephemeral sequential nodes and one-shot watches.
 * Each client has a pipe in each direction, which can be cut or stand still. Nothing moves by itself: a schedule
 * advances it step by step, while {@link io.latchkey.testkit.sim.ImmediateZooKeeper} executes everything at once.
 *
 * <p>For internal use of the test kit: this package is not part of the published javadoc and changes without notice.
 * The public entry point is {@link io.latchkey.testkit.SimulatedLocks}.
 */
@NullMarked
package io.latchkey.testkit.sim;

import org.jspecify.annotations.NullMarked;
