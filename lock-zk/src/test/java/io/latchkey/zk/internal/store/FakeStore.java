// SPDX-License-Identifier: Apache-2.0
package io.latchkey.zk.internal.store;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Stores whose requests go to a test. */
public final class FakeStore {
    private FakeStore() {}

    /** Returns a store that passes on the names and arguments of its requests. */
    public static ZnodeStore of(BiConsumer<String, Object[]> requests) {
        return of(() -> SessionNodes.ofNewSession(0), requests);
    }

    /** Returns the same with the ledger of a session's nodes. */
    public static ZnodeStore of(Supplier<SessionNodes> nodes, BiConsumer<String, Object[]> requests) {
        return (ZnodeStore) Proxy.newProxyInstance(
                ZnodeStore.class.getClassLoader(), new Class<?>[] {ZnodeStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("nodes")) {
                        return nodes.get();
                    } else if (method.isDefault()) {
                        return InvocationHandler.invokeDefault(proxy, method, args);
                    }
                    requests.accept(method.getName(), args);
                    return null;
                });
    }

    /** Passes the response to the consumer that is the last argument of a request. */
    @SuppressWarnings("unchecked") // each request has a consumer of responses of its own kind
    public static void answer(Object then, Response<?> response) {
        ((Consumer<Response<?>>) then).accept(response);
    }
}
