/** Node names, the ordered queue under a path, and the data of paths and requests: values without behaviour. */
@NullMarked
package io.latchkey.zk.internal.queue;

import org.jspecify.annotations.NullMarked;
