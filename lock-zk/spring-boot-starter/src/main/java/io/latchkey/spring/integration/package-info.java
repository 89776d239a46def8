// SPDX-License-Identifier: Apache-2.0
/** Locks of Spring Integration. */
@org.jspecify.annotations.NullMarked
package io.latchkey.spring.integration;
