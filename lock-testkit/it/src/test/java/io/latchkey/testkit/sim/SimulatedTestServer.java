// SPDX-License-Identifier: Apache-2.0
package io.latchkey.testkit.sim;

import io.latchkey.zk.internal.store.ZnodeStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The simulation, with one server. */
final class SimulatedTestServer implements TestServer {
    private final Leader leader = new Leader(new SimulatedTime(), Sessions.Expiry.BY_FORCE);
    private final Server server = new Server(leader);
    private final List<SimulatedStore> stores = new ArrayList<>();

    @Override
    public ZnodeStore open(ZnodeStore.Listener listener) {
        SimulatedStore store = new SimulatedStore(leader, Duration.ofSeconds(30), listener, Runnable::run);
        stores.add(store);
        settle();
        return store;
    }

    @Override
    public void settle() {
        BoundedLoop.all(() -> {
            while (server.lags()) {
                server.applyNext();
            }
            boolean moved = false;
            for (SimulatedStore store : stores) {
                moved |= Delivery.next(store, server);
            }
            return moved;
        });
    }

    @Override
    public void expire(ZnodeStore session) {
        leader.closeSession(((SimulatedStore) session).session());
    }

    @Override
    public void cut(ZnodeStore session) {
        ((SimulatedStore) session).cut();
    }

    @Override
    public void close() {
        stores.forEach(store -> store.close(() -> {}));
    }
}
