/**
 * The rules that decide which requests hold: one pure function per recipe over a queue (docs/protocol.md, "Holding
 * rule").
 */
@NullMarked
package io.latchkey.zk.internal.recipe;

import org.jspecify.annotations.NullMarked;
