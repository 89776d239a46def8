// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Calls of the method with the same key exclude each other, in all instances of the service. The caller must not have
 * a transaction. The lock is released when the method returns, also where it returns a future.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Locked {
    /** The path above the mutexes of all keys. */
    String value();

    /** The key as an expression over the parameters, such as {@code #account}. */
    String key();

    /** How long a call waits for the lock before it fails with {@link LockedAspect.BusyException}. */
    long waitSeconds() default 10;
}
