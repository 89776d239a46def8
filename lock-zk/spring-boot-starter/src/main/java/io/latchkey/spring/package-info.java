// SPDX-License-Identifier: Apache-2.0
/**
 * Locked methods of Spring beans. A method with {@link io.latchkey.spring.Locked} runs while its lock is held; inside,
 * {@link io.latchkey.spring.CurrentLease} has the lease and its token.
 */
@org.jspecify.annotations.NullMarked
package io.latchkey.spring;
