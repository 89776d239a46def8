// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import io.latchkey.testkit.contract.LockFixture.Feature;
import io.latchkey.testkit.contract.LockFixture.Situation;
import java.lang.reflect.Method;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

/** One fixture for each class, skipping with a reason, failures with the id, and the reckoning of what was reached. */
final class ContractExtension
        implements BeforeEachCallback, AfterEachCallback, AfterAllCallback, InvocationInterceptor {
    private static final Namespace NAMESPACE = Namespace.create(ContractExtension.class);

    /** What the tests of one class share. */
    private static final class Run {
        final LockFixture fixture;
        final ReachedSituations reached = new ReachedSituations();
        final Set<Situation> claimed = EnumSet.noneOf(Situation.class);

        Run(LockFixture fixture) {
            this.fixture = fixture;
        }

        synchronized void claim(Situation... situations) {
            claimed.addAll(List.of(situations));
        }
    }

    private static Store store(ExtensionContext context) {
        return context.getStore(NAMESPACE);
    }

    private static LockContract contract(ExtensionContext context) {
        return (LockContract) context.getRequiredTestInstance();
    }

    private static Run run(ExtensionContext test) {
        ExtensionContext ofClass = test.getParent().orElseThrow();
        return store(ofClass).getOrComputeIfAbsent(Run.class, key -> new Run(fixture(contract(test))), Run.class);
    }

    private static LockFixture fixture(LockContract contract) {
        try {
            return contract.newFixture();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(
                    "no fixture for " + contract.getClass().getSimpleName(), e);
        }
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        Run run = run(context);
        contract(context).begin(run.fixture, run.reached);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        contract(context).end();
    }

    @Override
    public void interceptTestMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        Guarantee guarantee = method.getExecutable().getAnnotation(Guarantee.class);
        if (guarantee == null) {
            invocation.proceed();
            return;
        }
        Run run = run(context);
        for (Feature feature : guarantee.needs()) {
            if (run.fixture.lacking().containsKey(feature)) {
                invocation.skip();
                throw new TestAbortedException(guarantee.id() + " skipped, " + feature + " is lacking: "
                        + run.fixture.lacking().get(feature));
            }
        }
        try {
            invocation.proceed();
        } catch (TestAbortedException aborted) {
            throw aborted;
        } catch (Exception | AssertionError broken) {
            throw new AssertionError(guarantee.id() + " is broken: " + guarantee.says() + "\n" + broken, broken);
        }
        run.claim(guarantee.reaches());
    }

    @Override
    public void afterAll(ExtensionContext context) {
        Run run = store(context).remove(Run.class, Run.class);
        if (run == null) {
            return;
        }
        try {
            run.reached.assertAll(run.claimed);
        } finally {
            run.fixture.close();
        }
    }
}
