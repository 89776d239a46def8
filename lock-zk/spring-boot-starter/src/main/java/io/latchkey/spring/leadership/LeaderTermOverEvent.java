// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.leadership;

import io.latchkey.lock.Lease;

/**
 * This instance leads a role no longer. Published on the thread of the candidate, before the mutex is released, if it
 * is still held. The interrupt status of the work is cleared meanwhile. An exception of a listener is logged and does not
 * end the candidacy.
 *
 * @param role the role
 * @param lease the lease of the term, whose token is the epoch
 */
public record LeaderTermOverEvent(String role, Lease lease) {}
