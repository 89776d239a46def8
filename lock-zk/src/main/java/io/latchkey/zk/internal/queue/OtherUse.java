// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.queue;

/**
 * What else a path is used for, as a child tells that is in no queue of the kind asked for.
 *
 * @param node the child's name
 * @param of what the child is a request of, for people
 * @param ofSameLayout whether it is another kind of lock in the same layout; else the layout is another
 */
public record OtherUse(String node, String of, boolean ofSameLayout) {}
