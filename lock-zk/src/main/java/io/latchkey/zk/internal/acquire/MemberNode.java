// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.acquire;

import io.latchkey.zk.internal.queue.NodeName;

/**
 * A node of a request.
 *
 * @param member the index of the member in the request, from 0
 * @param name the node's name under the member's path
 */
public record MemberNode(int member, NodeName name) {}
