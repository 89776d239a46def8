// SPDX-License-Identifier: Apache-2.0
/** The local turns of one client as a rule without input and output. */
@NullMarked
package io.latchkey.zk.internal.turns;

import org.jspecify.annotations.NullMarked;
