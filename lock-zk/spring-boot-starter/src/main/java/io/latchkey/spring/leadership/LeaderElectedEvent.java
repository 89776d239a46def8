// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.leadership;

import io.latchkey.lock.Lease;

/**
 * This instance leads a role. Published on the thread of the candidate, which is interrupted when the term ends;
 * a listener that works for longer should look for that, and at {@link #lease}. An exception of a listener is logged and
 * does not end the candidacy.
 *
 * @param role the role
 * @param lease the lease of the term, whose token is the epoch
 */
public record LeaderElectedEvent(String role, Lease lease) {}
