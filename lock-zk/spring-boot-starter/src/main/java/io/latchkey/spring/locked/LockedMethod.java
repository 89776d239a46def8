// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import io.latchkey.lock.OnLoss;
import io.latchkey.spring.IfBusy;
import io.latchkey.spring.LockKeys;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;

/**
 * What the annotation of one method says, parsed and checked.
 *
 * @param method the method of the bean's class
 * @param path the path, without placeholders
 * @param key the key's expression, if there is one
 * @param timeout how long a call waits; empty for the default
 * @param atMost how long the lease is held at most
 * @param onLoss what a loss does
 * @param ifBusy what a busy lock does
 * @param result what kind of result the method has
 */
record LockedMethod(
        Method method,
        String path,
        Optional<Expression> key,
        Optional<Duration> timeout,
        Optional<Duration> atMost,
        OnLoss onLoss,
        IfBusy ifBusy,
        Result result) {
    /** The kinds of results: how one is skipped, and whether work goes on after the return. */
    enum Result {
        NONE,
        OPTIONAL,
        STAGE,
        STAGE_OF_NOTHING,
        VALUE;

        /** Returns what a call returns that has not called its method. */
        @Nullable
        Object skipped() {
            return switch (this) {
                case OPTIONAL -> Optional.empty();
                case STAGE_OF_NOTHING -> CompletableFuture.completedFuture(null);
                default -> null;
            };
        }

        boolean isStage() {
            return this == STAGE || this == STAGE_OF_NOTHING;
        }
    }

    /** Returns the method as it is shown in errors. */
    static String place(Method method) {
        String parameters = String.join(
                ", ",
                Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .toList());
        return method.getDeclaringClass().getName() + "." + method.getName() + "(" + parameters + ")";
    }

    String place() {
        return place(method);
    }

    /** Returns the path of the lock of a call. */
    String pathOf(@Nullable Object target, Object[] arguments, ParameterNameDiscoverer names, BeanFactory beans) {
        if (key.isEmpty()) {
            return path;
        }
        MethodBasedEvaluationContext parameters = new MethodBasedEvaluationContext(target, method, arguments, names);
        parameters.setBeanResolver(new BeanFactoryResolver(beans));
        return LockKeys.path(path, text(key.get().getValue(parameters)));
    }

    /** Returns the key as a text: the same for equal keys, in all instances. */
    private String text(@Nullable Object value) {
        if (value == null) {
            throw new IllegalArgumentException(problem("is null in this call"));
        }
        KeyTexts.whyNot(value).ifPresent(why -> {
            throw new IllegalArgumentException(problem(why));
        });
        return value.toString();
    }

    private String problem(String what) {
        return place() + " is @Locked, and its key " + key.orElseThrow().getExpressionString() + " " + what + ".";
    }
}
