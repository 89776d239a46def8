// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.log.LoggedErrors;
import java.lang.reflect.AnnotatedElement;
import java.util.List;
import java.util.Optional;
import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.PropagationMode;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails every test and every property after which the locks have logged an error: such as a step that their state
 * machine does not have, which they survive. Found by itself, by JUnit and by jqwik. Of tests that run side by side it
 * may name the wrong one.
 */
public final class NoLoggedErrors implements AfterEachCallback, AfterAllCallback, AroundPropertyHook {
    @Override
    public void afterEach(ExtensionContext context) {
        find().ifPresent(NoLoggedErrors::fail);
    }

    /** What was logged while the class was cleaned up. */
    @Override
    public void afterAll(ExtensionContext context) {
        find().ifPresent(NoLoggedErrors::fail);
    }

    @Override
    public PropertyExecutionResult aroundProperty(PropertyLifecycleContext context, PropertyExecutor property) {
        PropertyExecutionResult result = property.execute();
        return find().<PropertyExecutionResult>map(result::mapToFailed).orElse(result);
    }

    @Override
    public PropagationMode propagateTo() {
        return PropagationMode.ALL_DESCENDANTS;
    }

    @Override
    public boolean appliesTo(Optional<AnnotatedElement> element) {
        return true;
    }

    private static Optional<AssertionError> find() {
        List<LoggedErrors.LoggedError> errors = LoggedErrors.by(NoLoggedErrors.class.getClassLoader());
        return errors.isEmpty()
                ? Optional.empty()
                : Optional.of(new AssertionError(
                        "the locks logged " + errors, errors.get(0).thrown()));
    }

    private static void fail(AssertionError error) {
        throw error;
    }
}
