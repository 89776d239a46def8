// SPDX-License-Identifier: Apache-2.0
/**
 * A record of requests, grants, releases and losses, as the clients saw them.
 *
 * <p>{@link io.latchkey.testkit.history.History} wraps locks, or is recorded step by step with
 * {@link io.latchkey.testkit.history.Attempt}. A {@link io.latchkey.testkit.history.LockClaim} says what a holder
 * holds. A record is a list of {@link io.latchkey.testkit.history.HistoryEvent}s, and for each attempt an
 * {@link io.latchkey.testkit.history.Attempt.Summary}. The checkers of {@link io.latchkey.testkit.check} judge it.
 */
@NullMarked
package io.latchkey.testkit.history;

import org.jspecify.annotations.NullMarked;
