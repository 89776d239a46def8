// SPDX-License-Identifier: Apache-2.0
/**
 * The lock client of a Spring Boot application, by the properties {@code latchkey.*}: the client as a bean, its end,
 * health, meters, and the endpoint {@code locks}.
 */
@org.jspecify.annotations.NullMarked
package io.latchkey.spring.boot;
