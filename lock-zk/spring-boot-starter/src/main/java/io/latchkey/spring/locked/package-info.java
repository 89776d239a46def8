// SPDX-License-Identifier: Apache-2.0
/** The advice of {@link io.latchkey.spring.Locked} methods, and their checks at the start of the application. */
@org.jspecify.annotations.NullMarked
package io.latchkey.spring.locked;
