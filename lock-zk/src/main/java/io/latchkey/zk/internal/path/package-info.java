/**
 * The queue of one path as one session sees it: the session's nodes, lists, pending deletions, and renewal of the path.
 */
@NullMarked
package io.latchkey.zk.internal.path;

import org.jspecify.annotations.NullMarked;
