// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.request;

import io.latchkey.zk.internal.events.RequestEvents;
import io.latchkey.zk.internal.queue.LockPath;
import java.util.List;

/**
 * A snapshot of a request of this client.
 *
 * @param id the id of its current attempt
 * @param paths the paths of its members, as the ZooKeeper handle sees them
 */
public record OwnRequest(RequestEvents events, boolean holds, String id, List<LockPath> paths) {}
