// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

/**
 * Another use of a path, shown by a child that is not in the queue of the expected kind.
 *
 * @param node the child's name
 * @param of the kind of lock or library that the child is a request of, for messages
 * @param ofSameLayout whether it is another kind of lock in the same layout; otherwise the layout is another
 */
public record OtherUse(String node, String of, boolean ofSameLayout) {}
