/**
 * ZooKeeper in memory, in virtual time, behind the port that the real client sits behind: a leader that orders all writes, servers
 * that follow at their own pace, sessions that age, ephemeral sequential nodes, one-shot watches, and a pipe in each direction for
 * every client that can be cut or stand still. Nothing moves by itself: whoever plays a schedule moves it on step by step;
 * {@link io.latchkey.testkit.sim.ImmediateZooKeeper} carries everything out at once.
 *
 * <p>For the test kit's own use: it is left out of the published javadoc and changes without notice. {@link
 * io.latchkey.testkit.SimulatedLocks} is the way in.
 */
@NullMarked
package io.latchkey.testkit.sim;

import org.jspecify.annotations.NullMarked;
