// SPDX-License-Identifier: Apache-2.0
/**
 * For implementations and wrappers of a {@link io.latchkey.lock.Lease}. Programs that lock need nothing of it.
 */
@org.jspecify.annotations.NullMarked
package io.latchkey.lock.spi;
