// SPDX-License-Identifier: Apache-2.0
/** Locks of ShedLock. */
@org.jspecify.annotations.NullMarked
package io.latchkey.spring.shedlock;
