// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

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
 * Makes the properties of a class properties of locks in a simulation: without a server, in simulated time, hundreds of
 * tries a second.
 *
 * <pre>{@code
 * @SimulatedProperties
 * class OrderProperties {
 *     @Property(tries = 1000)
 *     void neverTwoHolders(@ForAll Scenario scenario, SimulatedLocks locks) {
 *         Play.of(scenario, locks).assertNotBroken();
 *     }
 * }
 * }</pre>
 *
 * <p>What it brings: the arbitraries of {@link LatchkeyDomain}; {@link io.latchkey.testkit.SimulatedLocks} as a
 * parameter, new for each try and closed behind it. A scenario goes the same way each time it is played there, so one
 * that fails is shrunk, to few turns and few faults. The failure begins with the rule that was broken, the seed and the
 * commit, and the command that draws the same scenario and shrinks it again.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Domain(LatchkeyDomain.class)
@PropertyDefaults(
        shrinking = ShrinkingMode.FULL,
        edgeCases = EdgeCasesMode.NONE,
        afterFailure = AfterFailureMode.PREVIOUS_SEED)
@AddLifecycleHook(value = SimulationOfTheTry.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
public @interface SimulatedProperties {}
