/**
 * Meters and observations of locks, for Micrometer. They need {@code io.micrometer:micrometer-core} on the class path,
 * which {@code lock-micrometer} does not bring.
 */
@NullMarked
package io.latchkey.lock.micrometer;

import org.jspecify.annotations.NullMarked;
