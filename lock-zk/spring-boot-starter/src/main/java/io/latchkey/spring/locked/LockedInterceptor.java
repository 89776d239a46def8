// SPDX-License-Identifier: Apache-2.0
package io.latchkey.spring.locked;

import io.latchkey.lock.Acquirable;
import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.Mutex;
import io.latchkey.spring.IfBusy;
import io.latchkey.spring.LockBusyException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;

/** Runs a {@link io.latchkey.spring.Locked} method under its mutex. */
final class LockedInterceptor implements MethodInterceptor {
    private final LockedMethods methods;
    private final ThreadLeases held;
    private final ObjectProvider<LockClient> client;
    private final ObjectProvider<LockedSettings> settings;
    private final BeanFactory beans;

    LockedInterceptor(
            LockedMethods methods,
            ThreadLeases held,
            ObjectProvider<LockClient> client,
            ObjectProvider<LockedSettings> settings,
            BeanFactory beans) {
        this.methods = methods;
        this.held = held;
        this.client = client;
        this.settings = settings;
        this.beans = beans;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation call) throws Throwable {
        Object target = call.getThis();
        Class<?> type =
                target == null ? call.getMethod().getDeclaringClass() : AopProxyUtils.ultimateTargetClass(target);
        Method method = AopUtils.getMostSpecificMethod(call.getMethod(), type);
        LockedMethod locked = methods.of(method);
        refuseInTransaction(locked);
        String path = locked.pathOf(target, call.getArguments(), methods.names(), beans);
        if (held.holds(path)) {
            throw new IllegalStateException(locked.place() + " is @Locked, and this thread is in a method that holds "
                    + path + " already. The call would wait for itself. Let only the outer method be @Locked.");
        }
        LockedSettings now = settings.getObject();
        Duration timeout = locked.timeout().orElse(now.timeout());
        Mutex mutex = client.getObject().mutex(path);
        Acquirable limited = locked.atMost().<Acquirable>map(mutex::heldAtMost).orElse(mutex);
        Acquirable lock = now.observed(new TimedLock(limited, path, timeout), locked.path());
        return locked.result().isStage() ? stage(call, locked, lock, path) : value(call, locked, lock, path);
    }

    /** The caller would commit after the release, and the next holder would read what is about to change. */
    private static void refuseInTransaction(LockedMethod locked) {
        if (Transactions.isActive()) {
            throw new IllegalStateException(locked.place()
                    + " is @Locked, and its caller has a transaction, which would commit after the release of the lock."
                    + " Call it without one, or put @Locked on the method that begins the transaction. A"
                    + " @TransactionalEventListener still counts as inside of a transaction that has ended: make the"
                    + " listener @Async.");
        }
    }

    private @Nullable Object value(MethodInvocation call, LockedMethod locked, Acquirable lock, String path)
            throws Throwable {
        AtomicBoolean begun = new AtomicBoolean();
        try {
            Optional<Object> result = lock.<Optional<Object>, Throwable>call(locked.onLoss(), lease -> {
                begun.set(true);
                return Optional.ofNullable(held.with(lease, call::proceed)); // begins and commits the transaction
            });
            return result.orElse(null);
        } catch (LockBusyException busy) {
            if (!begun.get() && locked.ifBusy() == IfBusy.SKIP) {
                return locked.result().skipped();
            }
            throw busy;
        } catch (InterruptedException stopped) {
            if (begun.get()) {
                throw stopped;
            }
            throw interrupted(locked, path, stopped);
        }
    }

    /** Holds the lock until the stage that the method returns is complete. */
    private @Nullable Object stage(MethodInvocation call, LockedMethod locked, Acquirable lock, String path)
            throws Throwable {
        Lease lease;
        try {
            lease = lock.acquire();
        } catch (LockBusyException busy) {
            if (locked.ifBusy() == IfBusy.SKIP) {
                return locked.result().skipped();
            }
            throw busy;
        } catch (InterruptedException stopped) {
            throw interrupted(locked, path, stopped);
        }
        Object stage;
        try {
            stage = held.with(lease, call::proceed);
        } catch (Throwable thrown) {
            lease.close();
            throw thrown;
        }
        if (stage instanceof CompletionStage<?> work) {
            return LeasedStage.of(lease, work, locked.onLoss());
        }
        lease.close();
        return stage;
    }

    /** A method that does not declare the exception cannot throw it: the status tells the caller. */
    private static Exception interrupted(LockedMethod locked, String path, InterruptedException stopped) {
        for (Class<?> declared : locked.method().getExceptionTypes()) {
            if (declared.isAssignableFrom(InterruptedException.class)) {
                return stopped;
            }
        }
        Thread.currentThread().interrupt();
        return new LockException(
                "Interrupted while waiting for " + path + ". " + locked.place() + " was not called.", stopped);
    }
}
