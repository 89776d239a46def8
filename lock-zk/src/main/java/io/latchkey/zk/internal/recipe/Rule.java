// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.recipe;

import io.latchkey.zk.internal.queue.Decision;
import io.latchkey.zk.internal.queue.NodeName;
import io.latchkey.zk.internal.queue.Queue;

/** The decision which requests hold: a pure function of the queue and one request in it. */
@FunctionalInterface
public interface Rule {
    Decision decide(Queue queue, NodeName me);
}
