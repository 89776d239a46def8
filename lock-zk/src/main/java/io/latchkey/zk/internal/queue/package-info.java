/** Node names, the ordered queue under a path, and what a path and a request say of themselves: values, no behaviour. */
@NullMarked
package io.latchkey.zk.internal.queue;

import org.jspecify.annotations.NullMarked;
