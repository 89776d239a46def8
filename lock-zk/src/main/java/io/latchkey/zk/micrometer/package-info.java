/**
 * Meters and observations of locks, for Micrometer. Nothing else in this library refers to this package, so Micrometer is needed by its users
 * alone: {@code io.micrometer:micrometer-core} on the class path, which no dependency of this library brings.
 */
@NullMarked
package io.latchkey.zk.micrometer;

import org.jspecify.annotations.NullMarked;
