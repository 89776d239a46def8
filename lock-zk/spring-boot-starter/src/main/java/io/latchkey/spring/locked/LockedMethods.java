// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import io.latchkey.lock.OnLoss;
import io.latchkey.spring.IfBusy;
import io.latchkey.spring.Locked;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.scheduling.annotation.Async;

/** The {@link Locked} methods of the application's beans. Each is parsed and checked once. */
final class LockedMethods {

    private final ConfigurableBeanFactory beans;
    private final SpelExpressionParser parser = new SpelExpressionParser();
    private final ParameterNameDiscoverer names = new DefaultParameterNameDiscoverer();
    private final Map<Method, LockedMethod> parsed = new ConcurrentHashMap<>();

    LockedMethods(ConfigurableBeanFactory beans) {
        this.beans = beans;
    }

    ParameterNameDiscoverer names() {
        return names;
    }

    /**
     * Returns what the annotation of a method says.
     *
     * @throws IllegalStateException if it cannot be true; the message has the place, and what to do
     */
    LockedMethod of(Method method) {
        return parsed.computeIfAbsent(method, this::parse);
    }

    private LockedMethod parse(Method method) {
        Locked locked = AnnotatedElementUtils.findMergedAnnotation(method, Locked.class);
        if (locked == null) {
            throw new IllegalStateException(LockedMethod.place(method) + " is not @Locked");
        }
        LockedMethod.Result result = result(method, locked);
        return new LockedMethod(
                method,
                path(method, locked),
                key(method, locked),
                time(method, "timeout", locked.timeout()),
                time(method, "atMost", locked.atMost()).map(limit -> positive(method, limit)),
                locked.onLoss(),
                locked.ifBusy(),
                result);
    }

    static IllegalStateException wrong(Method method, String what) {
        return new IllegalStateException(LockedMethod.place(method) + " is @Locked, and " + what);
    }

    private String resolved(Method method, String attribute, String text) {
        try {
            String value = beans.resolveEmbeddedValue(text);
            return value == null ? "" : value.strip();
        } catch (IllegalArgumentException missing) {
            throw wrong(method, "its " + attribute + " \"" + text + "\" cannot be resolved: " + missing.getMessage());
        }
    }

    private String path(Method method, Locked locked) {
        String path = resolved(method, "path", locked.path());
        if (path.isEmpty()) {
            throw wrong(method, "it has no path. Give one, such as path = \"/billing/accounts\".");
        }
        if (!path.startsWith("/") || (path.endsWith("/") && path.length() > 1)) {
            throw wrong(method, "its path \"" + path + "\" must begin with / and not end with it.");
        }
        return path;
    }

    private Optional<Duration> time(Method method, String attribute, String text) {
        String value = resolved(method, attribute, text);
        if (value.isEmpty()) {
            return Optional.empty();
        }
        Duration time;
        try {
            time = DurationStyle.detectAndParse(value);
        } catch (IllegalArgumentException bad) {
            throw wrong(
                    method,
                    "its " + attribute + " \"" + value + "\" is no duration. Write it as 10s, 300ms, 2m or PT10S.");
        }
        if (time.isNegative()) {
            throw wrong(method, "its " + attribute + " \"" + value + "\" is negative.");
        }
        return Optional.of(time);
    }

    private static Duration positive(Method method, Duration limit) {
        if (limit.isZero()) {
            throw wrong(method, "its atMost is zero: the lease would be lost at once.");
        }
        return limit;
    }

    // ---- the key

    private Optional<Expression> key(Method method, Locked locked) {
        String text = locked.key().strip();
        if (text.isEmpty()) {
            return Optional.empty();
        }
        Expression key;
        try {
            key = parser.parseExpression(text);
        } catch (ParseException | IllegalStateException bad) {
            throw wrong(method, "its key \"" + text + "\" cannot be parsed: " + bad.getMessage());
        }
        if (key instanceof SpelExpression expression) {
            Set<String> used = new TreeSet<>();
            collect(expression.getAST(), used);
            checkNames(method, text, used);
            checkBegin(method, text, expression.getAST());
        }
        return Optional.of(key);
    }

    /** A parameter without its mark would be looked for as a property of the bean, at the first call. */
    private void checkBegin(Method method, String key, SpelNode node) {
        SpelNode first = node instanceof CompoundExpression ? node.getChild(0) : node;
        String[] parameters = names.getParameterNames(method);
        if (first instanceof PropertyOrFieldReference property
                && parameters != null
                && Arrays.asList(parameters).contains(property.getName())) {
            throw wrong(
                    method,
                    "its key \"" + key + "\" means a property of the bean. The parameter is #" + property.getName()
                            + ".");
        }
    }

    private static void collect(SpelNode node, Set<String> used) {
        if (node instanceof VariableReference variable) {
            used.add(variable.toStringAST().substring(1));
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            collect(node.getChild(i), used);
        }
    }

    private void checkNames(Method method, String key, Set<String> used) {
        String[] parameters = names.getParameterNames(method);
        for (String name : used) {
            boolean known = name.equals("root")
                    || name.equals("this")
                    || isIndex(name, method.getParameterCount())
                    || (parameters != null && Arrays.asList(parameters).contains(name));
            if (!known) {
                String whatThereIs = parameters == null
                        ? "the names of its parameters are not in the class file: compile with -parameters, or name the"
                                + " first one #p0"
                        : parameters.length == 0
                                ? "the method has no parameters"
                                : "its parameters are " + String.join(", ", parameters);
                throw wrong(method, "its key \"" + key + "\" uses #" + name + ": " + whatThereIs + ".");
            }
        }
    }

    private static boolean isIndex(String name, int count) {
        if (!name.matches("[ap][0-9]{1,3}")) {
            return false;
        }
        return Integer.parseInt(name, 1, name.length(), 10) < count;
    }

    // ---- the result

    private static LockedMethod.Result result(Method method, Locked locked) {
        Class<?> type = method.getReturnType();
        boolean async = isAsync(method);
        LockedMethod.Result result = kind(method, type);
        if (result == LockedMethod.Result.VALUE && !async && goesOn(type, method)) {
            throw wrong(
                    method,
                    "it returns a " + type.getSimpleName() + ": its work would begin or go on after the release of the"
                            + " lock. Return a CompletableFuture, which is waited for, or lock inside with"
                            + " acquireAsync().");
        }
        if (result.isStage() && locked.onLoss() == OnLoss.INTERRUPT) {
            throw wrong(
                    method,
                    "onLoss is INTERRUPT, and it returns a stage, whose work has no thread to interrupt. Use THROW, and"
                            + " look at the lease in the work.");
        }
        if (locked.ifBusy() == IfBusy.SKIP
                && (result == LockedMethod.Result.VALUE || result == LockedMethod.Result.STAGE)) {
            throw wrong(
                    method,
                    "ifBusy is SKIP, and a call that is skipped has no " + type.getSimpleName()
                            + " to return. Let the method return void, an Optional or a CompletableFuture<Void>, or"
                            + " use THROW.");
        }
        return result;
    }

    private static LockedMethod.Result kind(Method method, Class<?> type) {
        if (type == void.class || type == Void.class) {
            return LockedMethod.Result.NONE;
        }
        if (type == Optional.class) {
            return LockedMethod.Result.OPTIONAL;
        }
        if (type == CompletionStage.class || type == CompletableFuture.class) {
            Class<?> of =
                    ResolvableType.forMethodReturnType(method).getGeneric().resolve();
            return of == Void.class ? LockedMethod.Result.STAGE_OF_NOTHING : LockedMethod.Result.STAGE;
        }
        return LockedMethod.Result.VALUE;
    }

    private static boolean isAsync(Method method) {
        return AnnotatedElementUtils.hasAnnotation(method, Async.class)
                || AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class);
    }

    /** Whether the work of a method goes on after its return. */
    private static boolean goesOn(Class<?> type, Method method) {
        Set<String> ancestors = ancestors(type).map(Class::getName).collect(Collectors.toSet());
        Class<?>[] parameters = method.getParameterTypes();
        boolean suspends = parameters.length > 0
                && parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation");
        return suspends
                || Future.class.isAssignableFrom(type)
                || CompletionStage.class.isAssignableFrom(type)
                || ancestors.contains("org.reactivestreams.Publisher")
                || ancestors.contains("java.util.concurrent.Flow$Publisher")
                || ancestors.contains("kotlinx.coroutines.flow.Flow");
    }

    /** Returns the class, its superclasses and all their interfaces. */
    static Stream<Class<?>> ancestors(Class<?> type) {
        Stream<Class<?>> above =
                Stream.concat(Arrays.stream(type.getInterfaces()), Stream.ofNullable(type.getSuperclass()));
        return Stream.concat(Stream.of(type), above.flatMap(LockedMethods::ancestors));
    }
}
