// SPDX-License-Identifier: Apache-2.0
/**
 * Servers of ZooKeeper for tests.
 *
 * <p>{@link io.latchkey.testkit.server.EmbeddedZooKeeper} is one server in the test's process,
 * {@link io.latchkey.testkit.server.EmbeddedEnsemble} three of them, {@link io.latchkey.testkit.server.ProcessEnsemble}
 * three in processes of their own, which can be paused and killed; {@link io.latchkey.testkit.server.ExternalServers}
 * are servers that the kit has not started. All are {@linkplain io.latchkey.testkit.server.ZooKeeperFixture fixtures}:
 * clients connect to them, their sessions can be ended, their servers stopped and started again. The state of the
 * servers, as opposed to a client's view, is read as {@link io.latchkey.testkit.server.ServerNode} and
 * {@link io.latchkey.testkit.server.ServerNode.Watch}. {@link io.latchkey.testkit.server.Signals} stop a process.
 */
@NullMarked
package io.latchkey.testkit.server;

import org.jspecify.annotations.NullMarked;
