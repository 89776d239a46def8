// SPDX-License-Identifier: Apache-2.0
package com.example.billing;

import io.latchkey.lock.Lease;
import io.latchkey.lock.LockClient;
import io.latchkey.lock.LockException;
import io.latchkey.lock.LockTimeoutException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.reflect.MethodSignature;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.annotation.Order;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Holds the mutex of a {@link Locked} method while it runs. It stands outside of transactions, whose order is the
 * lowest unless set otherwise: the lock is released after the commit. A call within a transaction is refused.
 */
@Aspect
@Component
@Order(0)
public class LockedAspect {
    private static final ThreadLocal<Lease> HELD = new ThreadLocal<>();

    private final LockClient locks;
    private final SpelExpressionParser expressions = new SpelExpressionParser();
    private final ParameterNameDiscoverer names = new DefaultParameterNameDiscoverer();

    LockedAspect(LockClient locks) {
        this.locks = locks;
    }

    /** Returns the lease under which the current thread runs a {@link Locked} method. */
    public static Lease lease() {
        Lease lease = HELD.get();
        if (lease == null) {
            throw new IllegalStateException("not called through the proxy of a @Locked method");
        }
        return lease;
    }

    @Around("@annotation(locked)")
    Object holding(ProceedingJoinPoint call, Locked locked) throws Throwable {
        refuseInTransaction(call);
        String path = locked.value() + "/key-" + key(call, locked.key());
        Lease outer = HELD.get();
        try (Lease lease = acquired(path, Duration.ofSeconds(locked.waitSeconds()))) {
            HELD.set(lease);
            return call.proceed(); // begins and commits the transaction
        } finally {
            HELD.set(outer);
        }
    }

    /** The caller would commit after the release, and the next holder would read what is about to change. */
    private static void refuseInTransaction(ProceedingJoinPoint call) {
        if (TransactionSynchronizationManager.isActualTransactionActive()) {
            throw new IllegalStateException(call.getSignature().toShortString()
                    + " is @Locked, and its caller has a transaction, which would commit after the release of the lock:"
                    + " call it without one, or put @Locked on the method that begins the transaction");
        }
    }

    private Lease acquired(String path, Duration wait) {
        try {
            return locks.mutex(path).acquire(wait);
        } catch (LockTimeoutException late) {
            if (late.reason() == LockException.Reason.HELD_BY_OTHERS) {
                throw new BusyException("others hold " + path);
            }
            throw late; // no server answers: the lock may be free
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new BusyException("interrupted while waiting for " + path);
        }
    }

    private String key(ProceedingJoinPoint call, String expression) {
        EvaluationContext parameters = new MethodBasedEvaluationContext(
                call.getTarget(), ((MethodSignature) call.getSignature()).getMethod(), call.getArgs(), names);
        Object key = expressions.parseExpression(expression).getValue(parameters);
        if (key == null) {
            throw new IllegalArgumentException(expression + " is null in a call of " + call.getSignature());
        }
        return URLEncoder.encode(key.toString(), StandardCharsets.UTF_8); // it may contain a slash
    }

    /** Thrown when others held the lock for as long as the call could wait. The method was not called. */
    public static final class BusyException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        BusyException(String message) {
            super(message);
        }
    }
}
