// SPDX-License-Identifier: Apache-2.0
/**
 * Rules that a history obeys or breaks, one checker a rule.
 *
 * <p>{@link io.latchkey.testkit.check.ExclusionChecker} is the first to ask: mutual exclusion, readers and writers,
 * permits. Beside it stand {@link io.latchkey.testkit.check.TokenOrderChecker},
 * {@link io.latchkey.testkit.check.FifoChecker}, {@link io.latchkey.testkit.check.LivenessChecker},
 * {@link io.latchkey.testkit.check.LossChecker} and {@link io.latchkey.testkit.check.LinearizabilityChecker}, which
 * searches for an order in which the history would be right. {@link io.latchkey.testkit.check.LeakChecker} looks at the
 * servers: nothing may be left there.
 *
 * <p>Each returns a {@link io.latchkey.testkit.check.Verdict}: obeyed, broken for certain, undecided, or inapplicable.
 */
@NullMarked
package io.latchkey.testkit.check;

import org.jspecify.annotations.NullMarked;
