// SPDX-License-Identifier: Apache-2.0
package io.latchkey.mutation;

import java.lang.reflect.Method;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * Interrupts a test that waits for a response which a mutant suppresses. It has no verdict then ({@link TestMethods}),
 * and the next test judges the mutant.
 *
 * <p>It does so for a few tests of a process. After them PIT's bound ends the process, and reports a time-out.
 */
public final class Patience implements InvocationInterceptor {
    /** Longer than any judge takes, and shorter than PIT's bound. */
    private static final long SECONDS = 20;

    private static final int MOST_TESTS = 4;

    private static final ScheduledExecutorService TIMER = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "patience");
        thread.setDaemon(true);
        return thread;
    });

    private static int tests;
    private static boolean over;

    /** Returns whether a test was interrupted since the last call. */
    static synchronized boolean wasOver() {
        boolean was = over;
        over = false;
        return was;
    }

    private static synchronized void interrupt(Thread waiting) {
        if (!over) {
            tests++;
            over = true;
        }
        if (tests <= MOST_TESTS) {
            waiting.interrupt();
        }
    }

    @Override
    public void interceptBeforeEachMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext test)
            throws Throwable {
        bounded(invocation);
    }

    @Override
    public void interceptTestMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext test)
            throws Throwable {
        bounded(invocation);
    }

    @Override
    public void interceptTestTemplateMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext test)
            throws Throwable {
        bounded(invocation);
    }

    @Override
    public void interceptAfterEachMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext test)
            throws Throwable {
        bounded(invocation);
    }

    private static void bounded(Invocation<Void> part) throws Throwable {
        Thread current = Thread.currentThread();
        // Again each second: the test may wait a second time, for a close.
        ScheduledFuture<?> end = TIMER.scheduleAtFixedRate(() -> interrupt(current), SECONDS, 1, TimeUnit.SECONDS);
        try {
            part.proceed();
        } finally {
            end.cancel(false);
            boolean unused = Thread.interrupted();
        }
    }
}
