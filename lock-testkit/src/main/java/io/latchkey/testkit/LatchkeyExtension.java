// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit;

import io.latchkey.lock.LockClient;
import io.latchkey.testkit.server.EmbeddedEnsemble;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ZooKeeperFixture;
import io.latchkey.testkit.time.Slowness;
import java.lang.reflect.AnnotatedElement;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** The servers and clients of a {@link LatchkeyTest}: starts them, hands them to parameters, closes them. */
final class LatchkeyExtension implements BeforeAllCallback, AfterAllCallback, AfterEachCallback, ParameterResolver {
    private static final Namespace NAMESPACE = Namespace.create(LatchkeyExtension.class);
    private static final String FIXTURE = "fixture";
    private static final int DEFAULT_SESSION_MILLIS = 1000;

    @Override
    public void beforeAll(ExtensionContext context) {
        if (lifetime(context) == LatchkeyTest.Lifetime.CLASS) {
            fixture(context); // in the outermost class that wants one; nested classes find it there
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        closeResourcesOf(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        closeResourcesOf(context);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == FaultyClient.class
                || type == LockClient.class
                || (type == String.class && parameter.isAnnotated(ConnectString.class))
                || ZooKeeperFixture.class.isAssignableFrom(type);
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        if (lifetime(context) == LatchkeyTest.Lifetime.METHOD
                && context.getTestMethod().isEmpty()) {
            throw new ParameterResolutionException(
                    "every test has servers of its own: they are there for tests and for what runs before and after each");
        }
        ZooKeeperFixture fixture = fixture(context);
        if (type == String.class) {
            return fixture.connectString();
        } else if (type == FaultyClient.class) {
            return resources(context)
                    .add(FaultyClient.connectFor(name(parameter), fixture, session(context), reconnects(context)));
        } else if (type == LockClient.class) {
            return resources(context).add(plainClient(fixture, session(context)));
        } else if (type.isInstance(fixture)) {
            return fixture;
        }
        throw new ParameterResolutionException(
                "this test has a " + fixture.getClass().getSimpleName() + ", no " + type.getSimpleName()
                        + ": see @LatchkeyTest(servers = ...)");
    }

    private static LockClient plainClient(ZooKeeperFixture fixture, Duration session) {
        try {
            return FaultyClient.Connector.ofLatchkey().connect(fixture.connectString(), session);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ParameterResolutionException("interrupted while connecting a client", e);
        }
    }

    /** As the test calls it, if it was compiled with {@code -parameters}. */
    private static String name(ParameterContext parameter) {
        return parameter.getParameter().isNamePresent()
                ? parameter.getParameter().getName()
                : "parameter " + (parameter.getIndex() + 1);
    }

    private static ZooKeeperFixture fixture(ExtensionContext context) {
        ZooKeeperFixture there = store(context).get(FIXTURE, ZooKeeperFixture.class);
        if (there != null) {
            return there;
        }
        ZooKeeperFixture made = resources(context).add(start(annotation(context)));
        store(context).put(FIXTURE, made);
        return made;
    }

    private static ZooKeeperFixture start(Optional<LatchkeyTest> wishes) {
        int tick = wishes.map(LatchkeyTest::tickMillis).orElse(0);
        LatchkeyTest.Servers servers = wishes.map(LatchkeyTest::servers).orElse(LatchkeyTest.Servers.ONE);
        return switch (servers) {
            case ONE -> tick == 0 ? EmbeddedZooKeeper.start() : EmbeddedZooKeeper.start(Duration.ofMillis(tick));
            case THREE -> tick == 0 ? EmbeddedEnsemble.start() : EmbeddedEnsemble.start(Duration.ofMillis(tick));
        };
    }

    private static Duration session(ExtensionContext context) {
        return Slowness.stretched(Duration.ofMillis(
                annotation(context).map(LatchkeyTest::sessionMillis).orElse(DEFAULT_SESSION_MILLIS)));
    }

    private static LatchkeyTest.Lifetime lifetime(ExtensionContext context) {
        return annotation(context).map(LatchkeyTest::lifetime).orElse(LatchkeyTest.Lifetime.CLASS);
    }

    private static Reconnects reconnects(ExtensionContext context) {
        return annotation(context).map(LatchkeyTest::reconnects).orElse(Reconnects.HONEST);
    }

    /** The annotation of the test class or of the nearest class around it. */
    private static Optional<LatchkeyTest> annotation(ExtensionContext context) {
        for (Class<?> type = context.getTestClass().orElse(null); type != null; type = type.getEnclosingClass()) {
            Optional<LatchkeyTest> found =
                    AnnotationSupport.findAnnotation((AnnotatedElement) type, LatchkeyTest.class);
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    private static void closeResourcesOf(ExtensionContext context) {
        TestResources resources = store(context).remove(ownKey(context), TestResources.class);
        if (resources != null) {
            context.getExecutionException().ifPresent(resources::attachWiresTo);
            resources.close();
        }
    }

    /** The resources of exactly this context: a store also shows what the contexts around it have, under other keys. */
    private static TestResources resources(ExtensionContext context) {
        TestResources there = store(context).get(ownKey(context), TestResources.class);
        if (there != null) {
            return there;
        }
        TestResources made = new TestResources();
        store(context).put(ownKey(context), made);
        return made;
    }

    private static String ownKey(ExtensionContext context) {
        return "resources of " + context.getUniqueId();
    }

    private static Store store(ExtensionContext context) {
        return context.getStore(NAMESPACE);
    }
}
