// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.contract;

import io.latchkey.testkit.contract.LockFixture.Feature;
import java.lang.reflect.Method;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

/** One fixture for each class, skipping with a reason, and failures with the id. */
final class ContractExtension
        implements BeforeEachCallback, AfterEachCallback, AfterAllCallback, InvocationInterceptor {
    private static final Namespace NAMESPACE = Namespace.create(ContractExtension.class);

    private static Store store(ExtensionContext context) {
        return context.getStore(NAMESPACE);
    }

    private static LockContract contract(ExtensionContext context) {
        return (LockContract) context.getRequiredTestInstance();
    }

    /** That of the test's class. */
    private static LockFixture fixture(ExtensionContext test) {
        ExtensionContext ofClass = test.getParent().orElseThrow();
        return store(ofClass).getOrComputeIfAbsent(LockFixture.class, key -> made(contract(test)), LockFixture.class);
    }

    private static LockFixture made(LockContract contract) {
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
        contract(context).begin(fixture(context));
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
        LockFixture fixture = fixture(context);
        for (Feature feature : guarantee.needs()) {
            if (fixture.lacking().containsKey(feature)) {
                invocation.skip();
                throw new TestAbortedException(guarantee.id() + " skipped, " + feature + " is lacking: "
                        + fixture.lacking().get(feature));
            }
        }
        try {
            invocation.proceed();
        } catch (TestAbortedException aborted) {
            throw aborted;
        } catch (Exception | AssertionError broken) {
            throw new AssertionError(guarantee.id() + " is broken: " + guarantee.says() + "\n" + broken, broken);
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        LockFixture fixture = store(context).remove(LockFixture.class, LockFixture.class);
        if (fixture != null) {
            fixture.close();
        }
    }
}
