// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import io.latchkey.testkit.contract.LockFixture.Feature;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A test of one guarantee. Its id and what it says are the test's name, and stand before the message if it fails. If
 * JUnit runs tests in parallel, those of a contract run concurrently, because they mostly wait.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Test
@Execution(ExecutionMode.CONCURRENT)
@interface Guarantee {
    /** {@return the id, such as {@code LK-MUTEX-03}, which is never given to another guarantee} */
    String id();

    /** {@return what is guaranteed, in a sentence} */
    String says();

    /** {@return what the implementation or the fixture must have for it; where one is lacking, the test is skipped} */
    Feature[] needs() default {};
}
