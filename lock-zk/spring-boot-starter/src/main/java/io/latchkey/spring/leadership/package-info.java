// SPDX-License-Identifier: Apache-2.0
/**
 * Leader election for a Spring Boot application: candidates by the property {@code latchkey.leadership.roles} and by
 * beans, and events when this instance leads and when it does so no longer.
 */
@org.jspecify.annotations.NullMarked
package io.latchkey.spring.leadership;
