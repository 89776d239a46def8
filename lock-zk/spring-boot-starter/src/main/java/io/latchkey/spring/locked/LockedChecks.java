// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import io.latchkey.lock.BadPathException;
import io.latchkey.lock.LockClient;
import io.latchkey.spring.LockKeys;
import io.latchkey.spring.Locked;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/**
 * Checks the {@link Locked} methods of each bean when it is made, so that a mistake ends the start of the application and
 * does not show as two holders later.
 */
final class LockedChecks implements BeanPostProcessor, SmartInitializingSingleton {
    /** How proxies are made, and whether self-calls are looked for. */
    interface Settings {
        boolean proxiesClasses();

        boolean checksSelfCalls();
    }

    private final ConfigurableListableBeanFactory beans;
    private final LockedMethods methods;
    private final ObjectProvider<LockClient> client;
    private final Settings settings;
    /** The locked methods of beans, by the beans' names. */
    private final Map<String, Set<Method>> found = new ConcurrentHashMap<>();
    /** The names of all beans that were made since this processor was there. */
    private final Set<String> seen = ConcurrentHashMap.newKeySet();

    LockedChecks(
            ConfigurableListableBeanFactory beans,
            LockedMethods methods,
            ObjectProvider<LockClient> client,
            Settings settings) {
        this.beans = beans;
        this.methods = methods;
        this.client = client;
        this.settings = settings;
    }

    @Override
    public Object postProcessBeforeInitialization(Object bean, String name) {
        seen.add(name);
        look(ClassUtils.getUserClass(bean), name);
        return bean;
    }

    private void look(Class<?> type, String name) {
        if (!AnnotationUtils.isCandidateClass(type, Locked.class)) {
            return;
        }
        Set<Method> locked = MethodIntrospector.selectMethods(
                type, (Method method) -> AnnotatedElementUtils.hasAnnotation(method, Locked.class));
        if (!locked.isEmpty()) {
            locked.forEach(method -> {
                check(type, method);
                ContainerCalls.refuse(method, type, name, beans);
            });
            if (settings.checksSelfCalls()) {
                SelfCalls.refuse(type, locked, methods);
            }
            found.put(name, locked);
        }
    }

    private void check(Class<?> type, Method method) {
        int modifiers = method.getModifiers();
        if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers)) {
            throw LockedMethods.wrong(
                    method,
                    "it is " + (Modifier.isStatic(modifiers) ? "static" : "private")
                            + ": no proxy can acquire its lock. Make it a public method of the bean.");
        }
        boolean byClass = settings.proxiesClasses() && !Proxy.isProxyClass(type) && !ClassUtils.isLambdaClass(type);
        if (byClass && Modifier.isFinal(modifiers)) {
            throw LockedMethods.wrong(method, "it is final: no proxy can acquire its lock. Remove final.");
        }
        if (byClass && Modifier.isFinal(type.getModifiers())) {
            throw LockedMethods.wrong(
                    method,
                    "its class " + type.getName() + " is final (as a record is): no proxy can acquire its lock. Remove"
                            + " final, or use a class.");
        }
        LockedMethod unused = methods.of(method);
    }

    /**
     * Now that all beans are made: whether their proxies have the advice, and whether the client accepts the paths. Beans
     * that were made before this processor have no proxy, and are looked at only now.
     */
    @Override
    public void afterSingletonsInstantiated() {
        for (String name : beans.getSingletonNames()) {
            Object early = seen.contains(name) ? null : beans.getSingleton(name);
            if (early != null) {
                look(AopProxyUtils.ultimateTargetClass(early), name);
            }
        }
        for (String name : new ArrayList<>(found.keySet())) {
            Set<Method> locked = found.getOrDefault(name, Set.of());
            if (beans.containsSingleton(name)) {
                checkProxy(beans.getBean(name), locked);
            }
            locked.forEach(this::checkPath);
        }
    }

    private static void checkProxy(Object bean, Set<Method> locked) {
        Method first = locked.iterator().next();
        if (advices(bean) > 1) {
            throw LockedMethods.wrong(
                    first,
                    "its bean has two proxies that acquire the lock, so each call would wait for itself. A second creator of"
                            + " proxies is among the beans, such as a DefaultAdvisorAutoProxyCreator: remove it.");
        }
        if (!AopUtils.isAopProxy(bean)) {
            throw LockedMethods.wrong(
                    first,
                    "its bean has no proxy, so no call would be locked. It was made too early (as a bean is that a"
                            + " BeanPostProcessor depends on), or proxies are switched off.");
        }
        if (advices(bean) == 0) {
            throw LockedMethods.wrong(
                    first,
                    "the proxy of its bean does not acquire the lock. The bean was made before the advice was there.");
        }
        if (AopUtils.isJdkDynamicProxy(bean)) {
            locked.forEach(method -> {
                try {
                    Method unused = AopUtils.selectInvocableMethod(method, bean.getClass());
                } catch (IllegalStateException hidden) {
                    throw LockedMethods.wrong(
                            method,
                            "it is in no interface of its bean, whose proxy has interfaces only: "
                                    + hidden.getMessage());
                }
            });
        }
    }

    /** How often a call is locked on its way through the proxies of a bean. */
    private static long advices(@Nullable Object bean) {
        if (!(bean instanceof Advised proxy)) {
            return 0;
        }
        return advices(AopProxyUtils.getSingletonTarget(proxy))
                + Arrays.stream(proxy.getAdvisors())
                        .filter(each -> each.getAdvice() instanceof LockedInterceptor)
                        .count();
    }

    private void checkPath(Method method) {
        LockedMethod locked = methods.of(method);
        String path = locked.key().isPresent() ? LockKeys.path(locked.path(), "key") : locked.path();
        LockClient present;
        try {
            present = client.getObject();
        } catch (NoUniqueBeanDefinitionException several) {
            throw LockedMethods.wrong(
                    method,
                    "there are " + several.getNumberOfBeansFound()
                            + " beans of LockClient: mark the one that its lock is of as @Primary.");
        } catch (NoSuchBeanDefinitionException none) {
            throw LockedMethods.wrong(method, "there is no bean of LockClient.");
        }
        try {
            var unused = present.mutex(path);
        } catch (BadPathException bad) {
            throw LockedMethods.wrong(method, "its path is bad: " + bad.getMessage());
        }
    }
}
