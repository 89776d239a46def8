/**
 * The contract of lock-api as tests that any implementation can extend. Each guarantee has an id, such as
 * {@code LK-MUTEX-03}, that stands in the javadoc of its class, in the name of its test and in front of the message
 * with which it fails.
 *
 * <p>An implementer writes a class of two lines for each contract: {@link io.latchkey.testkit.contract.MutexContract},
 * {@link io.latchkey.testkit.contract.ReadWriteLockContract}, {@link io.latchkey.testkit.contract.SemaphoreContract},
 * {@link io.latchkey.testkit.contract.MultiLockContract}, {@link io.latchkey.testkit.contract.LeaseContract},
 * {@link io.latchkey.testkit.contract.LeadershipContract} and {@link io.latchkey.testkit.contract.TermContract}. JUnit
 * runs it like any other test class. It needs a {@link io.latchkey.testkit.contract.LockFixture}, which makes clients
 * and does things to them. For locks that are kept in ZooKeeper {@link io.latchkey.testkit.contract.ServerFixture} is
 * one, given how a client is made:
 *
 * <pre>{@code
 * class MyMutexTest extends MutexContract {
 *     @Override
 *     protected LockFixture newFixture() {
 *         return new ServerFixture((servers, sessionTimeout) -> new MyLockClient(servers, sessionTimeout));
 *     }
 * }
 * }</pre>
 *
 * <p>A client that wraps one of the shipped locks' runs on {@link io.latchkey.testkit.contract.SimulatedFixture},
 * without a server.
 *
 * <p>An implementation {@linkplain io.latchkey.testkit.contract.LockFixture#lacking declares} the features that it does
 * not support. Tests of it are reported as skipped with the reason.
 */
@NullMarked
package io.latchkey.testkit.contract;

import org.jspecify.annotations.NullMarked;
