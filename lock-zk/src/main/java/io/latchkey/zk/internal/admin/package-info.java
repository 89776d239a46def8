/** Operators' questions: the queue at a path, its capacity, and cycles of requests that wait for each other. */
@NullMarked
package io.latchkey.zk.internal.admin;

import org.jspecify.annotations.NullMarked;
