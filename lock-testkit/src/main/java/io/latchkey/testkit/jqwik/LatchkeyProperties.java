// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import io.latchkey.testkit.Reconnects;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import net.jqwik.api.AfterFailureMode;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.PropertyDefaults;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.domains.Domain;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

/**
 * Makes the properties of a class properties of locks on a real server.
 *
 * <pre>{@code
 * @LatchkeyProperties
 * class OrderProperties {
 *     @Property(tries = 300)
 *     void neverTwoHolders(@ForAll Scenario scenario, EmbeddedZooKeeper server, Play.Settings settings)
 *             throws Exception {
 *         Play.of(scenario, server, settings).assertNotBroken();
 *     }
 * }
 * }</pre>
 *
 * <p>What it brings: the arbitraries of {@link LatchkeyDomain}; an {@link io.latchkey.testkit.server.EmbeddedZooKeeper}
 * for the class, started before its first property and stopped after the last, as a parameter
 * ({@link io.latchkey.testkit.server.ZooKeeperFixture} will do too); {@link io.latchkey.testkit.workload.Play.Settings}
 * to match; no shrinking and no edge cases, since time is not replayed on a real server. In place of that, a try that
 * fails with a scenario, or with a {@link io.latchkey.testkit.workload.FaultSchedule} for code of your own, is repeated
 * ten times, and the failure begins with four lines: the rule that was broken, the seed (of a scenario) and the commit
 * (in a git work tree), how often it failed again, and the command that plays it again.
 *
 * <p>Surefire finds classes named {@code *Properties} only if its {@code includes} name them.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Domain(LatchkeyDomain.class)
@PropertyDefaults(
        shrinking = ShrinkingMode.OFF,
        edgeCases = EdgeCasesMode.NONE,
        afterFailure = AfterFailureMode.PREVIOUS_SEED)
@AddLifecycleHook(value = ServerOfTheClass.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
@AddLifecycleHook(value = HitRate.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
public @interface LatchkeyProperties {
    /**
     * {@return how clients come back} {@link Reconnects#FAST}: no session ends by time on the server, only by faults;
     * thousands of tries a minute. {@link Reconnects#HONEST}: everything takes its time, some seconds a try.
     */
    Reconnects reconnects() default Reconnects.FAST;
}
