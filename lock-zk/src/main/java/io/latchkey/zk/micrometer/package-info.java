/**
 * Meters and observations of locks, for Micrometer. They need {@code io.micrometer:micrometer-core} on the class path,
 * which this library does not bring.
 */
@NullMarked
package io.latchkey.zk.micrometer;

import org.jspecify.annotations.NullMarked;
