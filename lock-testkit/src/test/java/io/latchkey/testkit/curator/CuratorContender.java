// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.curator;

import io.latchkey.lock.Contender;
import java.time.Instant;

/** What Curator tells of who stands in a queue: not more than whether it holds and what it asks for. */
record CuratorContender(
        State state, String label, String host, long processId, Instant since, long token, int permits, Access access)
        implements Contender {}
