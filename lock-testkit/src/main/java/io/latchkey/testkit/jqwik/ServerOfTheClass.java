// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.jqwik;

import io.latchkey.testkit.Reconnects;
import io.latchkey.testkit.server.EmbeddedZooKeeper;
import io.latchkey.testkit.server.ZooKeeperFixture;
import io.latchkey.testkit.workload.Play;
import java.util.Optional;
import net.jqwik.api.lifecycle.AroundContainerHook;
import net.jqwik.api.lifecycle.ContainerLifecycleContext;
import net.jqwik.api.lifecycle.LifecycleContext;
import net.jqwik.api.lifecycle.Lifespan;
import net.jqwik.api.lifecycle.ParameterResolutionContext;
import net.jqwik.api.lifecycle.ResolveParameterHook;
import net.jqwik.api.lifecycle.Store;

/**
 * Starts the server before the class, stops it after it, and fills it in for parameters. Groups within the class have
 * their own.
 */
final class ServerOfTheClass implements AroundContainerHook, ResolveParameterHook {
    @Override
    public void beforeContainer(ContainerLifecycleContext context) {
        EmbeddedZooKeeper server = store(context).get();
        if (reconnects(context) == Reconnects.FAST) {
            server.holdExpiry();
        }
    }

    @Override
    public void afterContainer(ContainerLifecycleContext context) {
        store(context).get().close();
    }

    @Override
    public Optional<ParameterSupplier> resolve(ParameterResolutionContext parameter, LifecycleContext context) {
        Class<?> type = parameter.typeUsage().getRawType();
        if (type == EmbeddedZooKeeper.class || type == ZooKeeperFixture.class) {
            return Optional.of(tries -> store(context).get());
        } else if (type == Play.Settings.class) {
            return Optional.of(
                    tries -> reconnects(context) == Reconnects.FAST ? Play.Settings.fast() : Play.Settings.honest());
        }
        return Optional.empty();
    }

    private static Reconnects reconnects(LifecycleContext context) {
        return context.findAnnotation(LatchkeyProperties.class)
                .or(() -> context.findAnnotationsInContainer(LatchkeyProperties.class).stream()
                        .findFirst())
                .map(LatchkeyProperties::reconnects)
                .orElse(Reconnects.FAST);
    }

    private static Store<EmbeddedZooKeeper> store(LifecycleContext context) {
        String key = "server of "
                + context.optionalContainerClass().map(Class::getName).orElse("");
        return Store.getOrCreate(key, Lifespan.RUN, EmbeddedZooKeeper::start);
    }
}
