/** The queue of one path as one session sees it: its nodes there, lists, deletions that are owed, renewal. */
@NullMarked
package io.latchkey.zk.internal.path;

import org.jspecify.annotations.NullMarked;
