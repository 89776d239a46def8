/**
 * Meters and observations of locks, for Micrometer. No other package of this library refers to this one, so only its
 * users need Micrometer: {@code io.micrometer:micrometer-core} on the class path, which is not a dependency of this
 * library.
 */
@NullMarked
package io.latchkey.zk.micrometer;

import org.jspecify.annotations.NullMarked;
