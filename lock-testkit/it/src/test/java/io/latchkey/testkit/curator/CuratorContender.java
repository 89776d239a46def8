// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import io.latchkey.lock.Owner;
import java.time.Instant;

/** A request in a Curator queue: Curator shows only whether it holds and which access it requests. */
record CuratorContender(
        State state, Owner owner, long session, Instant requestedAt, long token, int permits, Access access)
        implements OtherLibrary.Request {}
