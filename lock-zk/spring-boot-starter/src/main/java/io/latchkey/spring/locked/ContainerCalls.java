// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;

/** Methods that the container calls on the bean itself, past its proxy: at its begin and its end. */
final class ContainerCalls {
    private static final Set<String> ANNOTATIONS = Set.of(
            "jakarta.annotation.PostConstruct",
            "jakarta.annotation.PreDestroy",
            "org.springframework.beans.factory.annotation.Autowired",
            "org.springframework.context.annotation.Bean");

    private ContainerCalls() {}

    /** Throws if the method of this bean is one of them. */
    static void refuse(Method method, Class<?> type, String bean, ConfigurableListableBeanFactory beans) {
        boolean annotated = Arrays.stream(method.getAnnotations())
                .anyMatch(each -> ANNOTATIONS.contains(each.annotationType().getName()));
        boolean called = method.getParameterCount() == 0
                && (isCallback(method.getName(), type) || isNamed(method.getName(), type, bean, beans));
        if (annotated || called) {
            throw LockedMethods.wrong(
                    method,
                    "the container calls it on the bean itself, past the proxy that acquires the lock. Move the work to"
                            + " a method of another bean, or lock inside with a LockClient.");
        }
    }

    private static boolean isCallback(String method, Class<?> type) {
        return (method.equals("afterPropertiesSet") && InitializingBean.class.isAssignableFrom(type))
                || (method.equals("destroy") && DisposableBean.class.isAssignableFrom(type))
                || (method.equals("close") && AutoCloseable.class.isAssignableFrom(type));
    }

    /** Whether the bean's definition names it, or leaves the method of the end to be found by its name. */
    private static boolean isNamed(String method, Class<?> type, String bean, ConfigurableListableBeanFactory beans) {
        if (!beans.containsBeanDefinition(bean)) {
            return false;
        }
        BeanDefinition definition = beans.getMergedBeanDefinition(bean);
        String end = definition.getDestroyMethodName();
        boolean isFound = AbstractBeanDefinition.INFER_METHOD.equals(end)
                && !AutoCloseable.class.isAssignableFrom(type)
                && Set.of("close", "shutdown").contains(method);
        return isFound || method.equals(end) || method.equals(definition.getInitMethodName());
    }
}
