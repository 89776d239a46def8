// SPDX-License-Identifier: Apache-2.0
/**
 * Tests for code that relies on distributed locks. This package has what a first test needs; each subject beyond that
 * has a package.
 *
 * <ul>
 *   <li>{@link io.latchkey.testkit.LatchkeyTest}: a JUnit test that has servers and clients as parameters. Without
 *       JUnit: {@link io.latchkey.testkit.server.EmbeddedZooKeeper#start} and
 *       {@link io.latchkey.testkit.FaultyClient#connect}.
 *   <li>{@link io.latchkey.testkit.FaultyClient#expire}: the end of a client's session, in the {@linkplain
 *       io.latchkey.testkit.ExpiryOrder order} that the test is about.
 *   <li>{@link io.latchkey.testkit.SimulatedLocks}: the same locks without a server.
 *   <li>{@link io.latchkey.testkit.FencedStore}: a store that refuses outdated tokens.
 *       {@link io.latchkey.testkit.ClientProcess}: a client in a JVM that can be paused.
 *       {@link io.latchkey.testkit.time.Eventually}: waits for a condition.
 * </ul>
 *
 * <p>The packages by subject:
 *
 * <ul>
 *   <li>{@link io.latchkey.testkit.server}: one server, or an ensemble, in the test's process or in processes of their
 *       own.
 *   <li>{@link io.latchkey.testkit.proxy}: faults of one client's connection, and a record of its messages.
 *   <li>{@link io.latchkey.testkit.history}: a record of requests, grants, releases and losses.
 *   <li>{@link io.latchkey.testkit.check}: rules that a history obeys or breaks.
 *   <li>{@link io.latchkey.testkit.report}: a history as text and as a page.
 *   <li>{@link io.latchkey.testkit.contract}: the contract of lock-api as tests, for implementations of it.
 *   <li>{@link io.latchkey.testkit.workload} and {@link io.latchkey.testkit.jqwik}: random work and faults.
 *   <li>{@link io.latchkey.testkit.time}: bounds of time on a busy machine.
 * </ul>
 *
 * <p>Sessions, nodes and zxids are ZooKeeper's, by their ids and numbers. Pending faults are futures or can be awaited;
 * nothing waits by sleeping. A test closes all resources that it starts: servers, proxies, clients, lasting faults. A
 * {@code null} argument is a {@link java.lang.NullPointerException}; the methods do not repeat it.
 */
@NullMarked
package io.latchkey.testkit;

import org.jspecify.annotations.NullMarked;
