/**
 * The test kit for <a href="https://jqwik.net">jqwik</a>: workloads and fault schedules as a domain, and what
 * properties on real servers or in a simulation need besides. {@link io.latchkey.testkit.jqwik.LatchkeyProperties} or
 * {@link io.latchkey.testkit.jqwik.SimulatedProperties} on a class is all that it takes;
 * {@link io.latchkey.testkit.jqwik.Scope} at a parameter says how much is drawn. A test class of an implementation of
 * lock-api implements {@link io.latchkey.testkit.jqwik.LockProperties}. Nothing outside this package refers to jqwik,
 * which is an optional dependency of the kit: users of this package add {@code net.jqwik:jqwik}.
 */
@NullMarked
package io.latchkey.testkit.jqwik;

import org.jspecify.annotations.NullMarked;
