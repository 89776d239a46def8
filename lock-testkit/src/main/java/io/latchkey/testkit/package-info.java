/**
 * Tests for code that relies on distributed locks: a ZooKeeper server or ensemble in the test's own process, faults for one
 * client at a time, histories of who held what, and checkers for them.
 *
 * <p>Where to start:
 *
 * <ul>
 *   <li>{@link io.latchkey.testkit.LatchkeyTest}: a JUnit test that has servers and clients as parameters. Without JUnit, {@link
 *       io.latchkey.testkit.EmbeddedZooKeeper#start} and {@link io.latchkey.testkit.FaultyClient#connect}.
 *   <li>{@link io.latchkey.testkit.FaultyClient#expire}: the end of a client's session, in the {@linkplain
 *       io.latchkey.testkit.ExpiryOrder order} that the test is about.
 *   <li>{@link io.latchkey.testkit.FaultProxy}: all other faults of one client, at a chosen request or from now on, and a record of what
 *       passed. It stands before any client of ZooKeeper, also one that the code under test makes.
 *   <li>{@link io.latchkey.testkit.History}: who held what and when, for the checkers, one for each rule. {@link
 *       io.latchkey.testkit.ExclusionChecker} is the first to ask.
 *   <li>{@link io.latchkey.testkit.SimulatedLocks}: the same locks without a server.
 *   <li>{@link io.latchkey.testkit.jqwik}: random work and faults; {@link io.latchkey.testkit.workload} is what they consist of.
 *   <li>{@link io.latchkey.testkit.contract}: the contract of lock-api as tests, for who implements it.
 * </ul>
 *
 * <p>Sessions, nodes and zxids are ZooKeeper's, by their ids and numbers. What strikes later is a future or can be awaited; nothing waits by
 * sleeping. What a test starts it closes: servers, proxies, clients, faults that last. A {@code null} argument is a {@link
 * java.lang.NullPointerException}; the methods do not repeat it.
 */
@NullMarked
package io.latchkey.testkit;

import org.jspecify.annotations.NullMarked;
