/**
 * Tests for code that relies on distributed locks: a ZooKeeper server or ensemble in the test's own process, faults for one
 * client at a time, histories of who held what, and checkers for them.
 *
 * <p>Start at {@link io.latchkey.testkit.EmbeddedZooKeeper} for a server, {@link io.latchkey.testkit.FaultProxy} for faults and
 * for counting what passes on the wire, {@link io.latchkey.testkit.History} for what the clients believed.
 */
@NullMarked
package io.latchkey.testkit;

import org.jspecify.annotations.NullMarked;
