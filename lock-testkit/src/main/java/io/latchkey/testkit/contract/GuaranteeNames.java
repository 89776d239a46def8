// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import java.lang.reflect.Method;
import java.util.List;
import org.junit.jupiter.api.DisplayNameGenerator;

/** Names a test by its {@link Guarantee}. */
final class GuaranteeNames extends DisplayNameGenerator.Standard {
    @Override
    public String generateDisplayNameForMethod(List<Class<?>> enclosing, Class<?> testClass, Method method) {
        Guarantee guarantee = method.getAnnotation(Guarantee.class);
        return guarantee == null
                ? super.generateDisplayNameForMethod(enclosing, testClass, method)
                : guarantee.id() + ": " + guarantee.says();
    }
}
