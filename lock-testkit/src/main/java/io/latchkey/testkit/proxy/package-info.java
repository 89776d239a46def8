// SPDX-License-Identifier: Apache-2.0
/**
 * Faults of one client's connection, and a record of what passed on it.
 *
 * <p>{@link io.latchkey.testkit.proxy.FaultProxy} stands between one client of ZooKeeper, of any kind, and its servers.
 * It cuts, delays, holds back or swallows messages, from now on or at a chosen request
 * ({@link io.latchkey.testkit.proxy.RequestMatch}), and it ends the session at the server or at the client. A
 * {@link io.latchkey.testkit.proxy.Fault} tells when it has struck. The traffic is a
 * {@link io.latchkey.testkit.proxy.Wire}, which counts requests and round trips.
 *
 * <p>{@link io.latchkey.testkit.proxy.FastReconnects} wakes ZooKeeper's client from its sleep between two connections,
 * so that a test with a fault takes milliseconds.
 */
@NullMarked
package io.latchkey.testkit.proxy;

import org.jspecify.annotations.NullMarked;
