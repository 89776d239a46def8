// SPDX-License-Identifier: Apache-2.0
/**
 * Time in tests: {@link io.latchkey.testkit.time.Eventually} waits for a condition within a bound, and
 * {@link io.latchkey.testkit.time.Slowness} stretches such bounds on a busy machine. It knows no other package of the
 * kit.
 */
@NullMarked
package io.latchkey.testkit.time;

import org.jspecify.annotations.NullMarked;
