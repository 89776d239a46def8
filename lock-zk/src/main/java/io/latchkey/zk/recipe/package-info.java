/** Who holds: one pure rule per recipe over a queue (protocol section 2). */
@NullMarked
package io.latchkey.zk.recipe;

import org.jspecify.annotations.NullMarked;
